package rewrite_test

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/airlock-run/airlock/sandbox/internal/rewrite"
	"github.com/airlock-run/airlock/sandbox/internal/wasm"
)

// labels is how many labels the branch of interpreter has, and bias what its table's entries are too large by.
const (
	labels = 5
	bias   = 2
	table  = 1024
)

// interpreter is a module that exports f(address), which reads an opcode and returns the number of the label that the
// table has for it, or labels if it has none.
func interpreter(entries int, entry func(opcode int) uint32) []byte {
	const i32 = wasm.TypeI32
	var code []byte
	for range labels + 1 {
		code = append(code, wasm.Block, wasm.BlockEmpty)
	}
	code = append(code, wasm.LocalGet, 0, wasm.I32Load8U, 0, 0, wasm.LocalTee, 0,
		wasm.I32Const, 2, wasm.I32Shl, wasm.I32Load, 2)
	code = wasm.AppendUint(code, table)
	code = append(code, wasm.I32Const, bias, wasm.I32Sub, wasm.BrTable, labels)
	for i := range labels + 1 {
		code = append(code, byte(i))
	}
	code = append(code, wasm.End)
	for i := range labels + 1 {
		code = append(code, wasm.I32Const, byte(i), wasm.Return)
		if i < labels {
			code = append(code, wasm.End)
		}
	}
	code = append(code, wasm.End)
	data := []byte{1, 0, wasm.I32Const}
	data = append(wasm.AppendInt(data, table), wasm.End)
	var words []byte
	for opcode := range entries {
		words = binary.LittleEndian.AppendUint32(words, entry(opcode))
	}
	data = wasm.AppendBlock(data, words)
	out := []byte(wasm.Header)
	for _, s := range []wasm.Section{
		{ID: wasm.SectionType, Body: []byte{1, wasm.TypeFunc, 1, i32, 1, i32}},
		{ID: wasm.SectionImport, Body: []byte{1, 1, 'm', 1, 'f', 0, 0}},
		{ID: wasm.SectionFunction, Body: []byte{1, 0}},
		{ID: wasm.SectionMemory, Body: []byte{1, 0, 1}},
		{ID: wasm.SectionExport, Body: []byte{2, 1, 'f', 0, 1, 6, 'm', 'e', 'm', 'o', 'r', 'y', 2, 0}},
		{ID: wasm.SectionCode, Body: wasm.AppendBlock([]byte{1}, append([]byte{0}, code...))},
		{ID: wasm.SectionData, Body: data},
	} {
		out = wasm.AppendSection(out, s.ID, s.Body)
	}
	return out
}

// TestBranchOnOpcode checks that every opcode still reaches its label after the table is gone.
func TestBranchOnOpcode(t *testing.T) {
	ctx := context.Background()
	rt := wazero.NewRuntime(ctx)
	defer func() { _ = rt.Close(ctx) }()
	if _, err := rt.NewHostModuleBuilder(rewrite.HostModule).
		NewFunctionBuilder().WithFunc(func(uint32) {}).Export(rewrite.HostPoll).
		NewFunctionBuilder().WithFunc(func(uint32, uint64, uint32, uint32) uint64 { return 0 }).
		Export(rewrite.HostCall).Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := rt.NewHostModuleBuilder("m").NewFunctionBuilder().
		WithFunc(func(i uint32) uint32 { return i }).Export("f").Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	// Some entries are below the first label and above the last.
	original := interpreter(256, func(opcode int) uint32 { return uint32(opcode*7%11) + bias - 1 })
	rewritten, err := rewrite.Interpreter(original, 1)
	if err != nil {
		t.Fatal(err)
	}
	run := func(module []byte) (out [256]uint64) {
		m, err := rt.InstantiateWithConfig(ctx, module, wazero.NewModuleConfig().WithName(""))
		if err != nil {
			t.Fatal(err)
		}
		for opcode := range out {
			if !m.Memory().WriteByte(uint32(opcode), byte(opcode)) {
				t.Fatal("no memory")
			}
			result, err := m.ExportedFunction("f").Call(ctx, uint64(opcode))
			if err != nil {
				t.Fatal(err)
			}
			out[opcode] = result[0]
		}
		return out
	}
	if want, got := run(original), run(rewritten); got != want {
		t.Errorf("labels are %v, want %v", got, want)
	}
}

// TestBranchWithoutTable checks that a branch by a table outside the module's data is refused.
func TestBranchWithoutTable(t *testing.T) {
	module := interpreter(128, func(int) uint32 { return 0 })
	if _, err := rewrite.Interpreter(module, 1); err == nil ||
		!strings.Contains(err.Error(), "table that is not in the module's data") {
		t.Errorf("%v", err)
	}
}

// TestOpcodesOfBuilds checks that the interpreter of each build branches by a table in one place.
func TestOpcodesOfBuilds(t *testing.T) {
	for name, module := range builds() {
		if n, err := rewrite.Jumps(module); n != 1 || err != nil {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
}
