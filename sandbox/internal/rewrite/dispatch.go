package rewrite

import (
	"errors"

	"github.com/airlock-run/airlock/sandbox/internal/wasm"
)

// The module's function table never changes, but WebAssembly makes it again for every instance: some 550 entries that
// wazero evaluates and allocates one by one, a quarter of what a short run costs. So the rewriting removes the table. A
// call_indirect of a function type becomes a call of that type's dispatcher, an added function that branches on the
// index and calls the entry directly. It refuses the same calls: an index with no entry of that type traps.
//
//	dispatcher(parameters of the type …, index i32) results of the type
//
// Two entries follow those of the module: the interrupt handler, and the function through which JavaScript reaches the
// host. The host gives the engine their indices (Facts.InterruptEntry, Facts.HostCallEntry).

// dispatch holds the dispatchers of a module.
type dispatch struct {
	functions []dispatcher
	byType    map[string]int // where functions has the dispatcher of a type, by its encoding
}

// dispatcher calls the table's entries of one type.
type dispatcher struct {
	wasm.FuncType
	entries []entry // in the order of their indices
}

// entry is an entry of the table, or one that the rewriting adds.
type entry struct {
	index    uint64
	function uint64
	added    bool // function is one of the added functions
}

var (
	errTable = errors.New("the function table has an entry that is not a function of the module")
	errTypes = errors.New("a type is not a function type of the module")
)

// dispatch sorts the table's entries by their types.
func (x *Facts) dispatch() (*dispatch, error) {
	d := &dispatch{byType: map[string]int{}}
	for _, e := range x.module.Table {
		t, ok := x.module.TypeOf(e.Function)
		if !ok || e.Function < x.module.Imported() {
			return nil, errTable
		}
		d.add(t, entry{index: e.Index, function: e.Function})
	}
	for i, function := range []int{addedInterrupt, addedHostCall} {
		encoded := addedSignatures[function]
		d.add(wasm.FuncType{Params: int(encoded[0]), Encoded: encoded},
			entry{uint64(x.tableEnd() + uint32(i)), uint64(function), true})
	}
	return d, nil
}

func (d *dispatch) add(t wasm.FuncType, e entry) {
	at, ok := d.byType[t.Encoded]
	if !ok {
		at = len(d.functions)
		d.byType[t.Encoded] = at
		d.functions = append(d.functions, dispatcher{FuncType: t})
	}
	d.functions[at].entries = append(d.functions[at].entries, e)
}

// tableEnd returns the first index after the module's own entries.
func (x *Facts) tableEnd() uint32 {
	if n := len(x.module.Table); n > 0 {
		return uint32(x.module.Table[n-1].Index) + 1
	}
	return 0
}

// signature returns the type of a dispatcher: the index stands after the parameters.
func (f dispatcher) signature() string {
	params := f.Encoded[1 : 1+f.Params]
	return string([]byte{byte(f.Params + 1)}) + params + string([]byte{wasm.TypeI32}) + f.Encoded[1+f.Params:]
}

// body returns the code of a dispatcher: a branch on the index out of as many nested blocks as there are entries,
// each followed by the call of its entry. An index without an entry ends at the trap inside all of them.
func (f dispatcher) body(w *rewriter) []byte {
	lowest, highest := f.entries[0].index, f.entries[len(f.entries)-1].index
	a := w.assemble()
	for range len(f.entries) + 1 {
		a.op(wasm.Block, wasm.BlockEmpty)
	}
	a.get(uint64(f.Params)).i32(int64(lowest)).op(wasm.I32Sub).unsigned(wasm.BrTable, highest-lowest+1)
	next := 0
	for index := lowest; index <= highest; index++ {
		label := uint64(0) // the trap
		if f.entries[next].index == index {
			next++
			label = uint64(next)
		}
		a.code = wasm.AppendUint(a.code, label)
	}
	a.op(0, wasm.End, wasm.Unreachable, wasm.End)
	for _, e := range f.entries {
		for p := range f.Params {
			a.get(uint64(p))
		}
		if e.added {
			a.call(w.added(int(e.function)))
		} else {
			a.original(e.function)
		}
		a.op(wasm.Return, wasm.End)
	}
	return append([]byte{0}, a.code...) // no locals; the last End is the function's
}
