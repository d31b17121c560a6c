package wasm_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/sandbox/internal/wasm"
)

func TestNumbersSurvive(t *testing.T) {
	for _, v := range []int64{0, 1, -1, 63, 64, -64, -65, 127, 128, math.MaxInt32, math.MinInt32, math.MaxInt64,
		math.MinInt64} {
		signed := &wasm.Reader{B: wasm.AppendInt(nil, v)}
		if got := signed.Int(); got != v || signed.Err != nil || signed.More() {
			t.Errorf("%d is read as %d (%v)", v, got, signed.Err)
		}
		unsigned := &wasm.Reader{B: wasm.AppendUint(nil, uint64(v))}
		if got := unsigned.Uint(); got != uint64(v) || unsigned.Err != nil || unsigned.More() {
			t.Errorf("%d is read as %d (%v)", uint64(v), got, unsigned.Err)
		}
	}
}

// module has one function of each origin, a table, a global, data, and names.
func module() []byte {
	out := []byte(wasm.Header)
	for _, s := range []wasm.Section{
		{ID: wasm.SectionType, Body: []byte{1, wasm.TypeFunc, 1, wasm.TypeI32, 1, wasm.TypeI64}},
		{ID: wasm.SectionImport, Body: []byte{1, 1, 'm', 1, 'f', 0, 0}},
		{ID: wasm.SectionFunction, Body: []byte{1, 0}},
		{ID: wasm.SectionTable, Body: []byte{1, 0x70, 1, 3, 3}},
		{ID: wasm.SectionMemory, Body: []byte{1, 0, 2}},
		{ID: wasm.SectionGlobal, Body: []byte{1, wasm.TypeI32, 1, wasm.I32Const, 8, wasm.End}},
		{ID: wasm.SectionExport, Body: []byte{2, 1, 'x', 0, 1, 1, 'y', 2, 0}},
		{ID: wasm.SectionElement, Body: []byte{1, 0, wasm.I32Const, 2, wasm.End, 1, 1}},
		{ID: wasm.SectionCode, Body: []byte{1, 6, 1, 1, wasm.TypeI64, wasm.I64Const, 5, wasm.End}},
		{ID: wasm.SectionData, Body: []byte{1, 0, wasm.I32Const, 16, wasm.End, 8, 'a', 'b', 0, 'b', 0, 1, 0, 0}},
		{ID: wasm.SectionCustom, Body: []byte{4, 'n', 'a', 'm', 'e', 1, 7, 2, 0, 1, 'f', 1, 1, 'g'}},
	} {
		out = wasm.AppendSection(out, s.ID, s.Body)
	}
	return out
}

func TestParse(t *testing.T) {
	m, err := wasm.Parse(module())
	if err != nil {
		t.Fatal(err)
	}
	encoded := string([]byte{1, wasm.TypeI32, 1, wasm.TypeI64})
	want := &wasm.Module{
		Types:     []wasm.FuncType{{Params: 1, Encoded: encoded}},
		Imports:   []wasm.Import{{Module: "m", Name: "f"}},
		Functions: []uint64{0},
		Bodies:    [][]byte{{1, 1, wasm.TypeI64, wasm.I64Const, 5, wasm.End}},
		Table:     []wasm.Element{{Index: 2, Function: 1}},
		Pages:     2,
		Globals:   []wasm.Global{{Type: wasm.TypeI32, Mutable: true, Initial: 8}},
		Exports:   map[string]uint64{"x": 1},
		Names:     map[string]uint64{"f": 0, "g": 1},
		Data:      []wasm.Segment{{Offset: 16, Data: []byte{'a', 'b', 0, 'b', 0, 1, 0, 0}}},
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]uint32{17, 19}, m.Strings("b")); diff != "" {
		t.Errorf("addresses of \"b\" (-want +got)\n%s", diff)
	}
	if word, ok := m.Word(20); !ok || word != 0x100 {
		t.Errorf("the word at 20 is %#x, %v", word, ok)
	}
	if _, ok := m.Word(21); ok {
		t.Error("a word past the data was read")
	}
	for _, f := range []uint64{0, 1} {
		if got, ok := m.TypeOf(f); !ok || got.Encoded != encoded {
			t.Errorf("function %d has type %q, %v", f, got.Encoded, ok)
		}
	}
	code, err := wasm.Instructions(m.Body(1))
	if err != nil || len(code) != 2 {
		t.Fatalf("%d instructions, %v", len(code), err)
	}
	if got, want := code[0], (wasm.Instruction{Op: wasm.I64Const, Imm: 5, Start: 3, End: 5}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestParseTruncated checks that every prefix of a module is a smaller module or an error.
func TestParseTruncated(t *testing.T) {
	whole := module()
	for n := range whole {
		if m, err := wasm.Parse(whole[:n]); err == nil && len(m.Bodies) != len(m.Functions) {
			t.Errorf("%d bytes: %d functions without bodies", n, len(m.Functions))
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(module())
	f.Add([]byte(wasm.Header))
	f.Add(append([]byte(wasm.Header), wasm.SectionCode, 5, 0xff, 0xff, 0xff, 0xff, 0x0f))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := wasm.Parse(b)
		if err != nil {
			return
		}
		for i := range m.Bodies {
			_, _ = wasm.Instructions(m.Bodies[i])
			if _, ok := m.TypeOf(uint64(i) + m.Imported()); !ok && int(m.Functions[i]) < len(m.Types) {
				t.Fatal("a function has no type")
			}
		}
	})
}
