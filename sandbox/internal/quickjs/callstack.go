package quickjs

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/tetratelabs/wazero/api"
)

// callStacks lends wazero's call engines a stack that an earlier run has grown. wazero starts every exported function
// with 10 KiB and doubles it by copying: a script a dozen calls deep costs 300 KB of garbage and the page faults that
// go with it, a third of a short run. Native stacks hold nothing that a guest can read: compiled code writes every
// slot before it reads it.
//
// wazero has no option for this, so the fields are found by their names. If wazero has other fields, fits is false
// and every run pays for its own stack.
type callStacks struct {
	layout callLayout
	fits   bool
	pool   sync.Pool // of *[]byte
}

// callLayout is where a call engine keeps its stack.
type callLayout struct {
	typ                reflect.Type
	stack, top, bottom uintptr
}

// keptStack bounds the stacks that are kept. Those of deep recursion are given back.
const keptStack = 1 << 20

func newCallStacks(f api.Function) *callStacks {
	s := &callStacks{}
	v := reflect.ValueOf(f)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return s
	}
	t := v.Elem().Type()
	stack, ok1 := t.FieldByName("stack")
	top, ok2 := t.FieldByName("stackTop")
	ctx, ok3 := t.FieldByName("execCtx")
	if !ok1 || !ok2 || !ok3 || stack.Type != reflect.TypeFor[[]byte]() || top.Type.Kind() != reflect.Uintptr ||
		ctx.Type.Kind() != reflect.Struct {
		return s
	}
	bottom, ok := ctx.Type.FieldByName("stackBottomPtr")
	if !ok || bottom.Type != reflect.TypeFor[*byte]() {
		return s
	}
	s.layout = callLayout{t, stack.Offset, top.Offset, ctx.Offset + bottom.Offset}
	s.fits = s.consistent(unsafe.Pointer(v.Pointer()))
	return s
}

// consistent checks on a fresh call engine that the fields mean what their names say.
func (s *callStacks) consistent(engine unsafe.Pointer) bool {
	stack, top, bottom := s.layout.at(engine)
	return len(*stack) > 0 && *bottom == &(*stack)[0] && *top == topOf(*stack)
}

func (l callLayout) at(engine unsafe.Pointer) (stack *[]byte, top *uintptr, bottom **byte) {
	stack = (*[]byte)(unsafe.Add(engine, l.stack))
	return stack, (*uintptr)(unsafe.Add(engine, l.top)), (**byte)(unsafe.Add(engine, l.bottom))
}

// topOf returns the highest address of a stack that is aligned to 16 bytes.
func topOf(stack []byte) uintptr {
	return uintptr(unsafe.Pointer(&stack[len(stack)-1])) &^ 15
}

// lend lends f a grown stack if there is one. f must not have been called yet.
func (s *callStacks) lend(f api.Function) {
	if !s.fits || reflect.TypeOf(f).Elem() != s.layout.typ {
		return
	}
	kept, ok := s.pool.Get().(*[]byte)
	if !ok {
		return
	}
	stack, top, bottom := s.layout.at(reflect.ValueOf(f).UnsafePointer())
	*stack, *top, *bottom = *kept, topOf(*kept), &(*kept)[0]
}

// takeBack keeps the stack of f, which must not be called again.
func (s *callStacks) takeBack(f api.Function) {
	if !s.fits || reflect.TypeOf(f).Elem() != s.layout.typ {
		return
	}
	stack, _, _ := s.layout.at(reflect.ValueOf(f).UnsafePointer())
	kept := *stack
	if len(kept) > keptStack {
		return
	}
	s.pool.Put(&kept)
}
