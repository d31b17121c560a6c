package quickjs

import "errors"

// The module's function table never changes, but WebAssembly makes it anew for every instance: 541 entries that wazero
// evaluates and allocates one by one, a quarter of what a short run costs. So the rewriting takes the table away. A
// call_indirect of a function type becomes a call of that type's dispatcher, an added function that branches on the index
// and calls the entry directly. What it refuses is the same: an index with no entry of that type traps.
//
//	dispatcher(parameters of the type …, index i32) results of the type

// dispatch is what a module's types, functions and table say about its indirect calls.
type dispatch struct {
	types     []funcType
	kinds     []uint64     // the type of every function the module defines
	imported  uint64       // functions before those
	table     []tableEntry // in the order of their indices
	functions []dispatcher
	byType    map[string]int // where functions has the dispatcher of a type, by its encoding
}

// funcType is a function type as the type section has it.
type funcType struct {
	params  int
	encoded []byte // the counts and the value types, without the leading 0x60
}

type tableEntry struct{ index, function uint64 }

// dispatcher calls the table's entries of one type.
type dispatcher struct {
	funcType
	entries []tableEntry
}

const (
	sectionTable   = 4
	sectionElement = 9

	opUnreachable = 0x00
	opBlock       = 0x02
	opBrTable     = 0x0e
	opIndirect    = 0x11
	opI32Sub      = 0x6b

	// maxTable bounds the table that is taken away, so that branch tables stay small whatever module is given.
	maxTable = 1 << 12
)

var (
	errTable = errors.New("the function table is not a single table that one active segment fills")
	errTypes = errors.New("a type is not a function type of the module")
)

// readDispatch collects what the dispatchers are made of. A module without a table has none.
func readDispatch(wasm []byte) (*dispatch, error) {
	d := &dispatch{imported: importedFunctions, byType: map[string]int{}}
	r := &reader{b: wasm, pos: len(wasmHeader)}
	for r.pos < len(r.b) && r.err == nil {
		id := r.byte()
		body := &reader{b: r.bytes(r.uint())}
		var err error
		switch id {
		case sectionType:
			err = d.readTypes(body)
		case sectionFunction:
			for n := body.uint(); n > 0 && body.err == nil; n-- {
				d.kinds = append(d.kinds, body.uint())
			}
			err = body.err
		case sectionElement:
			err = d.readTable(body)
		}
		if err != nil {
			return nil, err
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	return d, d.sort()
}

func (d *dispatch) readTypes(r *reader) error {
	for n := r.uint(); n > 0 && r.err == nil; n-- {
		if r.byte() != typeFunc {
			return errors.Join(r.err, errTypes)
		}
		start := r.pos
		params := r.uint()
		r.bytes(params)
		r.bytes(r.uint())
		if r.err == nil {
			d.types = append(d.types, funcType{int(params), r.b[start:r.pos]})
		}
	}
	return r.err
}

func (d *dispatch) readTable(r *reader) error {
	segments, flags, op, first, end := r.uint(), r.uint(), r.byte(), r.int(), r.byte()
	n := r.uint()
	if r.err != nil || segments != 1 || flags != 0 || op != opI32Const || end != opEnd || first < 0 || first > maxTable || n > maxTable {
		return errors.Join(r.err, errTable)
	}
	for i := range n {
		d.table = append(d.table, tableEntry{uint64(first) + i, r.uint()})
	}
	return r.err
}

// sort puts the table's entries to their types.
func (d *dispatch) sort() error {
	for _, e := range d.table {
		i := e.function - d.imported // past the end for an import
		if i >= uint64(len(d.kinds)) || d.kinds[i] >= uint64(len(d.types)) {
			return errTable
		}
		t := d.types[d.kinds[i]]
		at, ok := d.byType[string(t.encoded)]
		if !ok {
			at = len(d.functions)
			d.byType[string(t.encoded)] = at
			d.functions = append(d.functions, dispatcher{funcType: t})
		}
		d.functions[at].entries = append(d.functions[at].entries, e)
	}
	return nil
}

// addTypes appends the dispatchers' types to a type section: those of the table's functions, with the index after the
// parameters. The first has the index that the section's length was.
func (d *dispatch) addTypes(body []byte) (out []byte, err error) {
	for _, f := range d.functions {
		r := &reader{b: f.encoded}
		entry := appendUint([]byte{typeFunc}, r.uint()+1)
		entry = append(append(entry, r.bytes(uint64(f.params))...), typeI32)
		entry = append(entry, f.encoded[r.pos:]...)
		if _, body, err = addEntry(body, entry); err != nil {
			return nil, err
		}
	}
	return body, nil
}

// addFunctions appends the dispatchers to a function section; first is the type of the first.
func (d *dispatch) addFunctions(body []byte, first uint64) (out []byte, err error) {
	for i := range d.functions {
		if _, body, err = addEntry(body, appendUint(nil, first+uint64(i))); err != nil {
			return nil, err
		}
	}
	return body, nil
}

// call is what replaces a call_indirect of a type; first is the function index of the first dispatcher.
func (d *dispatch) call(kind int64, first uint64) ([]byte, error) {
	if kind < 0 || kind >= int64(len(d.types)) {
		return nil, errTypes
	}
	i, ok := d.byType[string(d.types[kind].encoded)]
	if !ok {
		return []byte{opUnreachable}, nil
	}
	return appendUint([]byte{opCall}, first+uint64(i)), nil
}

// body is the code of a dispatcher: a branch on the index out of as many nested blocks as there are entries, each
// followed by the call of its entry; whatever has no entry ends at the trap inside all of them.
func (f dispatcher) body() []byte {
	lowest, highest := f.entries[0].index, f.entries[len(f.entries)-1].index
	code := []byte{0} // no locals
	for range len(f.entries) + 1 {
		code = append(code, opBlock, blockEmpty)
	}
	code = appendUint(append(code, opLocalGet), uint64(f.params))
	code = append(appendInt(append(code, opI32Const), int64(lowest)), opI32Sub, opBrTable)
	code = appendUint(code, highest-lowest+1)
	next := 0
	for index := lowest; index <= highest; index++ {
		label := uint64(0) // the trap
		if f.entries[next].index == index {
			next++
			label = uint64(next)
		}
		code = appendUint(code, label)
	}
	code = append(code, 0, opEnd, opUnreachable, opEnd)
	for _, e := range f.entries {
		for p := range f.params {
			code = appendUint(append(code, opLocalGet), uint64(p))
		}
		code = append(appendUint(append(code, opCall), e.function), opReturn, opEnd)
	}
	return code
}
