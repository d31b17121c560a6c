package rewrite

import (
	"maps"
	"slices"

	"github.com/airlock-run/airlock/sandbox/internal/wasm"
)

// assembler writes instructions. Its methods return it, so that a function reads as its instructions do.
type assembler struct {
	w      *rewriter
	code   []byte
	locals []byte // declarations; nil is none
}

func (w *rewriter) assemble() *assembler { return &assembler{w: w} }

// declare adds n locals of a type.
func (a *assembler) declare(n byte, kind byte) *assembler {
	a.locals = []byte{1, n, kind}
	return a
}

// bytes returns what was written, for use inside a function.
func (a *assembler) bytes() []byte { return a.code }

// end returns what was written as the body of a function.
func (a *assembler) end() []byte {
	locals := a.locals
	if locals == nil {
		locals = []byte{0}
	}
	return append(append(slices.Clone(locals), a.code...), wasm.End)
}

func (a *assembler) op(ops ...byte) *assembler {
	a.code = append(a.code, ops...)
	return a
}

func (a *assembler) unsigned(op byte, v uint64) *assembler {
	a.code = wasm.AppendUint(append(a.code, op), v)
	return a
}

func (a *assembler) get(local uint64) *assembler   { return a.unsigned(wasm.LocalGet, local) }
func (a *assembler) set(local uint64) *assembler   { return a.unsigned(wasm.LocalSet, local) }
func (a *assembler) call(f uint64) *assembler      { return a.unsigned(wasm.Call, f) }
func (a *assembler) getGlobal(g int) *assembler    { return a.op(wasm.GlobalGet, a.w.global(g)) }
func (a *assembler) setGlobal(g int) *assembler    { return a.op(wasm.GlobalSet, a.w.global(g)) }
func (a *assembler) ifThen() *assembler            { return a.op(wasm.If, wasm.BlockEmpty) }
func (a *assembler) ifResult(kind byte) *assembler { return a.op(wasm.If, kind) }
func (a *assembler) original(f uint64) *assembler  { return a.call(a.w.moved(f)) }
func (a *assembler) poll(kind int64) *assembler    { return a.i32(kind).call(a.w.poll()) }

func (a *assembler) i32(v int64) *assembler {
	a.code = wasm.AppendInt(append(a.code, wasm.I32Const), int64(int32(v)))
	return a
}

func (a *assembler) i64(v int64) *assembler {
	a.code = wasm.AppendInt(append(a.code, wasm.I64Const), v)
	return a
}

// hasTag compares the tag of a local's value.
func (a *assembler) hasTag(local uint64, tag int64) *assembler {
	return a.get(local).i64(32).op(wasm.I64ShrU, wasm.I32WrapI64).i32(tag).op(wasm.I32Eq)
}

const aligned = 2 // the alignment of a word, as a power of two

// load reads the word at an offset from the address on the stack, and store writes it.
func (a *assembler) load(offset int64) *assembler { return a.op(wasm.I32Load, aligned).offset(offset) }
func (a *assembler) store(offset int64) *assembler {
	return a.op(wasm.I32Store, aligned).offset(offset)
}

func (a *assembler) load8(offset int64) *assembler  { return a.op(wasm.I32Load8U, 0).offset(offset) }
func (a *assembler) load16(offset int64) *assembler { return a.op(wasm.I32Load16U, 1).offset(offset) }
func (a *assembler) load64(offset int64) *assembler { return a.op(wasm.I64Load, 3).offset(offset) }
func (a *assembler) store64(offset int64) *assembler {
	return a.op(wasm.I64Store, 3).offset(offset)
}

func (a *assembler) offset(v int64) *assembler {
	a.code = wasm.AppendUint(a.code, uint64(v))
	return a
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
