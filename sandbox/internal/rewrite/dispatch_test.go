package rewrite_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/airlock-run/airlock/sandbox/internal/rewrite"
	"github.com/airlock-run/airlock/sandbox/internal/wasm"
)

// indirect is a module whose table has entries of two types, each spelled twice, with a gap before them. It exports
// one function for each type, which makes an indirect call of that type with a given index.
func indirect() []byte {
	vector := func(entries ...[]byte) []byte {
		body := wasm.AppendUint(nil, uint64(len(entries)))
		for _, e := range entries {
			body = append(body, e...)
		}
		return body
	}
	code := func(body ...byte) []byte { return append([]byte{byte(len(body) + 2), 0}, append(body, wasm.End)...) }
	const i32 = wasm.TypeI32
	none, pair, lone := []byte{wasm.TypeFunc, 0, 1, i32}, []byte{wasm.TypeFunc, 2, i32, i32, 1,
		i32}, []byte{wasm.TypeFunc, 1, i32, 1, i32}
	const first = 1 // after the import
	export := func(name byte, f byte) []byte { return []byte{1, name, 0, f} }
	out := []byte(wasm.Header)
	for _, s := range []wasm.Section{
		{ID: wasm.SectionType, Body: vector(none, pair, lone, pair)}, // types 1 and 3 are the same
		{ID: wasm.SectionImport, Body: vector([]byte{1, 'm', 1, 'f', 0, 0})},
		{ID: wasm.SectionFunction,
			Body: vector([]byte{0}, []byte{1}, []byte{3}, []byte{0}, []byte{2}, []byte{2}, []byte{2}, []byte{2})},
		{ID: wasm.SectionTable, Body: vector([]byte{0x70, 1, 7, 7})},
		{ID: wasm.SectionMemory, Body: []byte{1, 0, 1}},
		{ID: wasm.SectionExport,
			Body: vector(export('a', first+4), export('b', first+5), export('c', first+6), export('d', first+7))},
		{ID: wasm.SectionElement,
			Body: vector([]byte{0, wasm.I32Const, 2, wasm.End, 4, first, first + 1, first + 2, first + 3})},
		{ID: wasm.SectionCode, Body: vector(
			code(wasm.I32Const, 11), code(wasm.LocalGet, 0, wasm.LocalGet, 1, wasm.I32Sub), code(wasm.LocalGet, 1),
			code(wasm.I32Const, 14),
			code(wasm.LocalGet, 0, wasm.Indirect, 0, 0),
			code(wasm.I32Const, 40, wasm.I32Const, 9, wasm.LocalGet, 0, wasm.Indirect, 1, 0),
			code(wasm.I32Const, 40, wasm.I32Const, 9, wasm.LocalGet, 0, wasm.Indirect, 3, 0),
			code(wasm.I32Const, 40, wasm.LocalGet, 0, wasm.Indirect, 2, 0))}, // a type that the table has no entry of
	} {
		out = wasm.AppendSection(out, s.ID, s.Body)
	}
	return out
}

// TestDispatchersStandForTheTable checks that a module without its table calls the same functions and traps at the
// same indices.
func TestDispatchersStandForTheTable(t *testing.T) {
	ctx := context.Background()
	rt := wazero.NewRuntime(ctx)
	defer func() { _ = rt.Close(ctx) }()
	host := rt.NewHostModuleBuilder(rewrite.HostModule).
		NewFunctionBuilder().WithFunc(func(uint32) {}).Export(rewrite.HostPoll).
		NewFunctionBuilder().WithFunc(func(uint32, uint64, uint32, uint32) uint64 { return 0 }).Export(rewrite.HostCall)
	if _, err := host.Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := rt.NewHostModuleBuilder("m").NewFunctionBuilder().WithFunc(func() uint32 { return 0 }).Export(
		"f").Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	instantiate := func(wasm []byte) api.Module {
		m, err := rt.InstantiateWithConfig(ctx, wasm, wazero.NewModuleConfig().WithName(""))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	out, err := rewrite.Dispatch(indirect())
	if err != nil {
		t.Fatal(err)
	}
	before, after := instantiate(indirect()), instantiate(out)
	returned := 0
	for _, name := range []string{"a", "b", "c", "d"} {
		for _, index := range []uint64{0, 1, 2, 3, 4, 5, 8, 9, 1 << 31, 1<<32 - 1} { // 6 and 7 are added
			call := func(m api.Module) string {
				v, err := m.ExportedFunction(name).Call(ctx, index)
				if err != nil {
					return "trap"
				}
				returned++
				return fmt.Sprint(v)
			}
			if want, got := call(before), call(after); got != want {
				t.Errorf("%s(%d) returns %s, want %s", name, index, got, want)
			}
		}
	}
	if returned != 2*6 {
		t.Errorf("%d calls returned", returned)
	}
}
