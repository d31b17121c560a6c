package rewrite

import (
	"errors"

	"github.com/airlock-run/airlock/sandbox/internal/wasm"
)

// The interpreter is compiled from C with computed gotos: for each instruction of a guest it loads an opcode, loads the
// label of its code from a table in memory, and branches on that label. The table never changes, so the rewriting
// branches on the opcode itself, and the second load and its bounds check go:
//
//	local.tee opcode; i32.const 2; i32.shl; i32.load table; i32.const 2; i32.sub; br_table labels
//	local.tee opcode; br_table labels in the order of opcodes

// opcodes is the number of values that an opcode, a byte, can have.
const opcodes = 256

var errJumpTable = errors.New("the interpreter branches by a table that is not in the module's data")

// jump is a branch whose label is looked up in a table of the module's data. start and end are where the instructions
// of the look-up and the branch stand in the body.
type jump struct {
	start, end int
	table      uint32 // address of the table
	bias       int64  // what is added to an entry
}

// jumps returns the jumps of a function body by where they end.
func jumps(body []byte) (map[int]jump, error) {
	code, err := wasm.Instructions(body)
	if err != nil {
		return nil, err
	}
	found := map[int]jump{}
	for i := range code {
		if code[i].Op != wasm.BrTable {
			continue
		}
		if j, ok := jumpAt(code[:i]); ok {
			j.end = code[i].End
			found[j.end] = j
		}
	}
	return found, nil
}

// jumpAt reads backwards the look-up that ends with the last instruction of code.
func jumpAt(code []wasm.Instruction) (j jump, ok bool) {
	last := func(op int) (wasm.Instruction, bool) {
		if len(code) == 0 || code[len(code)-1].Op != op {
			return wasm.Instruction{}, false
		}
		i := code[len(code)-1]
		code = code[:len(code)-1]
		return i, true
	}
	added := func() (int64, bool) {
		sign := int64(1)
		if _, ok := last(wasm.I32Sub); ok {
			sign = -1
		} else if _, ok := last(wasm.I32Add); !ok {
			return 0, true
		}
		c, ok := last(wasm.I32Const)
		return sign * c.Imm, ok
	}
	if j.bias, ok = added(); !ok {
		return j, false
	}
	load, ok := last(wasm.I32Load)
	if !ok {
		return j, false
	}
	base, ok := added()
	if !ok {
		return j, false
	}
	j.table = uint32(base + load.Imm)
	if _, ok = last(wasm.I32Shl); !ok {
		return j, false
	}
	two, ok := last(wasm.I32Const)
	if !ok || two.Imm != 2 {
		return j, false
	}
	j.start = two.Start
	if _, ok = last(wasm.LocalTee); !ok {
		return j, false
	}
	_, ok = last(wasm.I32Load8U)
	return j, ok
}

// direct returns the branch on the opcode that replaces the look-up and the branch. branch holds the latter's bytes.
func (j jump) direct(m *wasm.Module, branch []byte) ([]byte, error) {
	r := &wasm.Reader{B: branch, Pos: 1} // after the opcode
	labels := make([]uint64, r.Uint())
	for i := range labels {
		labels[i] = r.Uint()
	}
	otherwise := r.Uint()
	if r.Err != nil {
		return nil, r.Err
	}
	out := wasm.AppendUint([]byte{wasm.BrTable}, opcodes)
	for opcode := range uint32(opcodes) {
		word, ok := m.Word(j.table + 4*opcode)
		if !ok {
			return nil, errJumpTable
		}
		label := otherwise
		if i := uint32(int64(word) + j.bias); uint64(i) < uint64(len(labels)) {
			label = labels[i]
		}
		out = wasm.AppendUint(out, label)
	}
	return wasm.AppendUint(out, otherwise), nil
}
