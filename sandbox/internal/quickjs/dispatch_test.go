package quickjs

import (
	"context"
	"fmt"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// indirect is a module whose table has entries of two types, twice spelled, with a gap before them. It exports one
// function for each type: it makes an indirect call of that type with the index it is given.
func indirect() []byte {
	section := func(id byte, entries ...[]byte) []byte {
		body := appendUint(nil, uint64(len(entries)))
		for _, e := range entries {
			body = append(body, e...)
		}
		return append(appendUint([]byte{id}, uint64(len(body))), body...)
	}
	code := func(body ...byte) []byte { return append([]byte{byte(len(body) + 2), 0}, append(body, opEnd)...) }
	none, pair, lone := []byte{typeFunc, 0, 1, typeI32}, []byte{typeFunc, 2, typeI32, typeI32, 1, typeI32}, []byte{typeFunc, 1, typeI32, 1, typeI32}
	imports := make([][]byte, importedFunctions)
	for i := range imports {
		imports[i] = []byte{1, 'm', 1, 'f', 0, 0}
	}
	const first = importedFunctions
	export := func(name byte, f byte) []byte { return []byte{1, name, 0, f} }
	out := append([]byte(nil), wasmHeader...)
	for _, s := range [][]byte{
		section(sectionType, none, pair, lone, pair), // types 1 and 3 are the same
		section(2, imports...),
		section(sectionFunction, []byte{0}, []byte{1}, []byte{3}, []byte{0}, []byte{2}, []byte{2}, []byte{2}, []byte{2}),
		section(sectionTable, []byte{0x70, 1, 7, 7}),
		section(sectionExport, export('a', first+4), export('b', first+5), export('c', first+6), export('d', first+7)),
		section(sectionElement, []byte{0, opI32Const, 2, opEnd, 4, first, first + 1, first + 2, first + 3}),
		section(sectionCode,
			code(opI32Const, 11), code(opLocalGet, 0, opLocalGet, 1, opI32Sub), code(opLocalGet, 1), code(opI32Const, 14),
			code(opLocalGet, 0, opIndirect, 0, 0),
			code(opI32Const, 40, opI32Const, 9, opLocalGet, 0, opIndirect, 1, 0),
			code(opI32Const, 40, opI32Const, 9, opLocalGet, 0, opIndirect, 3, 0),
			code(opI32Const, 40, opLocalGet, 0, opIndirect, 2, 0)), // a type that the table has no entry of
	} {
		out = append(out, s...)
	}
	return out
}

// Without its table a module calls the same functions, and traps at the same indices.
func TestDispatchersStandForTheTable(t *testing.T) {
	ctx := context.Background()
	rt := wazero.NewRuntime(ctx)
	defer func() { _ = rt.Close(ctx) }()
	if _, err := rt.NewHostModuleBuilder("m").NewFunctionBuilder().WithFunc(func() uint32 { return 0 }).Export("f").Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	instantiate := func(wasm []byte) api.Module {
		m, err := rt.InstantiateWithConfig(ctx, wasm, wazero.NewModuleConfig().WithName(""))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	out, err := rewriteWith(indirect(), 0, []byte{0, opI64Const, 0, opEnd})
	if err != nil {
		t.Fatal(err)
	}
	before, after := instantiate(indirect()), instantiate(out.wasm)
	returned := 0
	for _, name := range []string{"a", "b", "c", "d"} {
		for _, index := range []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 1 << 31, 1<<32 - 1} {
			call := func(m api.Module) string {
				v, err := m.ExportedFunction(name).Call(ctx, index)
				if err != nil {
					return "trap"
				}
				returned++
				return fmt.Sprint(v)
			}
			if want, got := call(before), call(after); got != want {
				t.Errorf("%s(%d) gives %s, want %s", name, index, got, want)
			}
		}
	}
	if returned != 2*6 {
		t.Errorf("%d calls returned", returned)
	}
}
