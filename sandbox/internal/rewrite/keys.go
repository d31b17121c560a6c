package rewrite

import "github.com/airlock-run/airlock/sandbox/internal/wasm"

// Some of the engine's messages do not name the property that cannot be added, deleted or defined again, as V8's do.
// JS_ThrowTypeErrorReadOnly(ctx, flags, property) makes a message of a format and the name of a property. It is called
// where the others were thrown, and gets another format for each of them from globalFormat. The formats are such as the
// engine has, and none of them is a TypeError otherwise, or not one of a property: the host tells them apart and words
// them as V8 does. A build without these names keeps its messages.

// Keyed are the formats of messages that name a property, by the message that they replace.
var Keyed = map[string]string{
	"object is not extensible":     "cannot define variable '%s'",
	"could not delete property":    "%s is not initialized",
	"property is not configurable": "redeclaration of '%s'",
}

// keyFacts say where errors are thrown that are to name a property.
type keyFacts struct {
	readOnly uint64                       // JS_ThrowTypeErrorReadOnly(ctx, flags, property) int
	format   int64                        // the address of its format
	throws   map[uint64]map[int]keyedCall // by function, and by where the call starts
	constant int64                        // the address of the format of an assignment to a constant
}

// keyedCall is the call of a function that throws a message without a property.
type keyedCall struct {
	property uint64 // the local that holds the property, or the parameter that did in the beginning
	kept     bool   // the function uses the parameter for something else, so that it has to be kept
	format   int64  // the address of the other format
	flags    bool   // the function takes flags that say whether it throws
}

// Constant is the format of the message of an assignment to a constant, which the engine words like one to a read-only
// property.
const Constant = "'%s' is a reserved identifier"

const propThrow = 1 << 14 // JS_PROP_THROW

func (f *finder) keys() keyFacts {
	none := keyFacts{readOnly: unknown}
	readOnly, code := f.named("JS_ThrowTypeErrorReadOnly", "iii", "i")
	orFalse, _ := f.named("JS_ThrowTypeErrorOrFalse", "iiii", "i")
	always, _ := f.named("JS_ThrowTypeError", "iii", "l")
	deletes, _ := f.named("delete_property", "iii", "i")
	at := f.Strings("'%s' is read-only")
	if readOnly == unknown || orFalse == unknown || always == unknown || deletes == unknown || len(at) != 1 ||
		!mentions(code, int64(at[0])) {
		return none
	}
	k := keyFacts{readOnly: readOnly, format: int64(at[0]), throws: make(map[uint64]map[int]keyedCall)}
	if at := f.Strings(Constant); len(at) == 1 {
		k.constant = int64(at[0])
	}
	// In these, a parameter is the property.
	const param = 2
	for _, name := range []string{"JS_SetPropertyInternal2", "JS_SetPropertyInternal", "JS_CreateProperty",
		"JS_DefineProperty"} {
		if function, ok := f.Names[name]; ok {
			for message := range Keyed {
				k.find(f, function, orFalse, message, func(int) (uint64, bool) { return param, true })
			}
			for at, c := range k.throws[function] {
				c.kept = sets(f.of(function), param)
				k.throws[function][at] = c
			}
		}
	}
	for _, name := range []string{"JS_CallInternal", "JS_DeleteProperty", "JS_DeletePropertyInt64"} {
		if function, ok := f.Names[name]; ok {
			// The last argument of the call of delete_property that failed.
			k.find(f, function, always, "could not delete property", func(i int) (uint64, bool) {
				code := f.of(function)
				for ; i > 0; i-- {
					if code[i].Op == wasm.Call && uint64(code[i].Imm) == deletes {
						return uint64(code[i-1].Imm), code[i-1].Op == wasm.LocalGet
					}
				}
				return 0, false
			})
		}
	}
	return k
}

// find adds the calls in a function that throw a message. property returns the local that holds the property where an
// instruction stands.
func (k *keyFacts) find(f *finder, function, thrower uint64, message string, property func(int) (uint64, bool)) {
	from, to := f.Strings(message), f.Strings(Keyed[message])
	if len(from) != 1 || len(to) != 1 {
		return
	}
	code, flags := f.of(function), f.hasType(thrower, "iiii", "i")
	for i, c := range code {
		// format, no arguments, call
		if c.Op != wasm.I32Const || c.Imm != int64(from[0]) || !ops(code, i, wasm.I32Const, wasm.I32Const, wasm.Call) ||
			uint64(code[i+2].Imm) != thrower {
			continue
		}
		if local, ok := property(i); ok {
			if k.throws[function] == nil {
				k.throws[function] = make(map[int]keyedCall)
			}
			k.throws[function][code[i+2].Start] = keyedCall{property: local, format: int64(to[0]), flags: flags}
		}
	}
}

// sets reports whether code changes a local.
func sets(code []wasm.Instruction, local uint64) bool {
	for _, c := range code {
		if (c.Op == wasm.LocalSet || c.Op == wasm.LocalTee) && uint64(c.Imm) == local {
			return true
		}
	}
	return false
}

// keyed adds to the edits of a function what makes its errors name properties, and returns the declarations of its
// locals if they change.
func (w *rewriter) keyed(function uint64, body []byte, e *edits) (locals []byte, err error) {
	k := w.keys
	var kept uint64
	if function == w.interpreter && k.constant != 0 {
		e.constants = map[int64][]byte{k.format: w.assemble().i32(k.constant).bytes()}
	}
	if function == k.readOnly {
		e.constants = map[int64][]byte{k.format: w.assemble().i32(k.format).getGlobal(globalFormat).op(wasm.I32Add).bytes()}
	}
	for at, c := range k.throws[function] {
		if e.callAt == nil {
			e.callAt = make(map[int][]byte)
		}
		if c.kept && locals == nil {
			start, err := wasm.Locals(body)
			if err != nil {
				return nil, err
			}
			t, _ := w.module.TypeOf(function)
			if locals, kept, err = moreLocals(body[:start], uint64(t.Params)); err != nil {
				return nil, err
			}
			kept++ // the first is of another type
			e.begin = append(e.begin, w.assemble().get(c.property).set(kept).bytes()...)
		}
		if c.kept {
			c.property = kept
		}
		// The arguments of the other call are on the stack: its format and no more.
		a := w.assemble().op(wasm.Drop, wasm.Drop)
		if !c.flags {
			a.i32(propThrow)
		}
		a.i32(c.format - k.format).setGlobal(globalFormat)
		a.get(c.property).original(k.readOnly).i32(0).setGlobal(globalFormat)
		if !c.flags { // the other returns a value
			a.op(wasm.Drop).i64(tagException << 32)
		}
		e.callAt[at] = a.bytes()
	}
	return locals, nil
}
