package rewrite

import (
	"errors"
	"fmt"
	"slices"

	"github.com/airlock-run/airlock/sandbox/internal/wasm"
)

// finder looks for functions and offsets in a module. It collects what it does not find.
type finder struct {
	*wasm.Module
	decoded map[uint64][]wasm.Instruction
	errs    []error
}

// unknown stands for what was not found. No module has a function or a field there.
const unknown = 1<<32 - 1

func (f *finder) missing(what string, found int) uint64 {
	f.errs = append(f.errs, fmt.Errorf("%s: found %d times, want once", what, found))
	return unknown
}

// only returns the one element of found.
func (f *finder) only(what string, found []uint64) uint64 {
	slices.Sort(found)
	if found = slices.Compact(found); len(found) != 1 {
		return f.missing(what, len(found))
	}
	return found[0]
}

// function returns the function that an export or the name section calls name. In a module without names it is the only
// one that also accepts.
func (f *finder) function(name string, also func(function uint64, code []wasm.Instruction) bool) uint64 {
	if i, ok := f.Exports[name]; ok {
		return i
	}
	if i, ok := f.Names[name]; ok {
		return i
	}
	if len(f.Names) > 0 || also == nil {
		return f.missing(name, 0)
	}
	return f.only(name, f.where(also))
}

// where returns the functions for which accepts reports true.
func (f *finder) where(accepts func(function uint64, code []wasm.Instruction) bool) (found []uint64) {
	for i := range f.Bodies {
		function := uint64(i) + f.Imported()
		if accepts(function, f.of(function)) {
			found = append(found, function)
		}
	}
	return found
}

// of returns the instructions of a function. An imported or unreadable function has none.
func (f *finder) of(function uint64) []wasm.Instruction {
	code, ok := f.decoded[function]
	if body := f.Body(function); !ok && body != nil {
		var err error
		if code, err = wasm.Instructions(body); err != nil {
			f.errs = append(f.errs, fmt.Errorf("function %d: %w", function, err))
		}
		f.decoded[function] = code
	}
	return code
}

// hasType reports whether a function has a type: value types of parameters and results.
func (f *finder) hasType(function uint64, params, results string) bool {
	t, ok := f.TypeOf(function)
	return ok && t.Encoded == signature(params, results)
}

// signature encodes a function type from letters: i for i32, l for i64, d for f64.
func signature(params, results string) string {
	encode := func(letters string) string {
		out := []byte{byte(len(letters))}
		for _, c := range letters {
			out = append(out, map[rune]byte{'i': wasm.TypeI32, 'l': wasm.TypeI64, 'd': wasm.TypeF64}[c])
		}
		return string(out)
	}
	return encode(params) + encode(results)
}

// text returns the address of a string that the module's data has once.
func (f *finder) text(s string) int64 {
	found := f.Strings(s)
	if len(found) != 1 {
		f.missing(fmt.Sprintf("text %q", s), len(found))
		return -1
	}
	return int64(found[0])
}

// mentions reports whether code holds the constant value.
func mentions(code []wasm.Instruction, value int64) bool {
	return slices.ContainsFunc(code, func(i wasm.Instruction) bool { return i.Op == wasm.I32Const && i.Imm == value })
}

// calls reports whether code calls a function.
func calls(code []wasm.Instruction, function uint64) bool {
	return slices.ContainsFunc(code,
		func(i wasm.Instruction) bool { return i.Op == wasm.Call && uint64(i.Imm) == function })
}

// callsIndirectly reports whether code makes an indirect call of a type.
func (f *finder) callsIndirectly(code []wasm.Instruction, encoded string) bool {
	return slices.ContainsFunc(code, func(i wasm.Instruction) bool {
		return i.Op == wasm.Indirect && i.Imm >= 0 && i.Imm < int64(len(f.Types)) && f.Types[i.Imm].Encoded == encoded
	})
}

// says returns a condition for functions that mention a text.
func (f *finder) says(text string) func(uint64, []wasm.Instruction) bool {
	at := f.Strings(text)
	return func(_ uint64, code []wasm.Instruction) bool {
		return slices.ContainsFunc(at, func(a uint32) bool { return mentions(code, int64(a)) })
	}
}

// calledBy accepts functions of a type that caller calls and that are not exported.
func (f *finder) calledBy(caller, params, results string) func(uint64, []wasm.Instruction) bool {
	from, ok := f.Exports[caller]
	if !ok {
		return func(uint64, []wasm.Instruction) bool { return false }
	}
	code := f.of(from)
	return func(function uint64, _ []wasm.Instruction) bool {
		for _, exported := range f.Exports {
			if exported == function {
				return false
			}
		}
		return f.hasType(function, params, results) && calls(code, function)
	}
}

// fields returns the offsets at which code reads i32 fields of what a local points to.
func fields(code []wasm.Instruction, local int64) (offsets []int64) {
	sequence(code, []int{wasm.LocalGet, wasm.I32Load}, func(run []wasm.Instruction) {
		if run[0].Imm == local {
			offsets = append(offsets, run[1].Imm)
		}
	})
	sequence(code, []int{wasm.LocalGet, wasm.I32Const, wasm.I32Add, wasm.I32Load}, func(run []wasm.Instruction) {
		if run[0].Imm == local {
			offsets = append(offsets, run[1].Imm+run[3].Imm)
		}
	})
	return offsets
}

// sequence finds runs of consecutive instructions with these opcodes and hands each run to yield.
func sequence(code []wasm.Instruction, ops []int, yield func(run []wasm.Instruction)) {
	for i := 0; i+len(ops) <= len(code); i++ {
		run := code[i : i+len(ops)]
		if same(run, ops) {
			yield(run)
		}
	}
}

func same(run []wasm.Instruction, ops []int) bool {
	for i, op := range ops {
		if run[i].Op != op {
			return false
		}
	}
	return true
}

func (f *finder) err() error { return errors.Join(f.errs...) }
