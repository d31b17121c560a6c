package quickjs

import (
	"bytes"
	"errors"
	"fmt"
)

// Section ids of the binary format.
const (
	sectionCustom    = 0
	sectionType      = 1
	sectionFunction  = 3
	sectionMemory    = 5
	sectionGlobal    = 6
	sectionExport    = 7
	sectionCode      = 10
	sectionData      = 11
	sectionDataCount = 12
)

// Opcodes used here.
const (
	opEnd       = 0x0b
	opCall      = 0x10
	opElse      = 0x05
	opDrop      = 0x1a
	opGlobalGet = 0x23
	opGlobalSet = 0x24
	opI32Const  = 0x41
)

var wasmHeader = []byte("\x00asm\x01\x00\x00\x00")

// segment is an active data segment: bytes that belong at offset when the image is built.
type segment struct {
	offset uint32
	data   []byte
}

// rewritten is the module that is compiled.
type rewritten struct {
	wasm  []byte
	loops int // loop headers that count fuel
}

// rewrite prepares the engine's module for hostile guests; doc.go says how. It validates what it walks and fails on a
// module that does not have the expected shape, so it is safe on arbitrary bytes. fuel is the number of loop headers
// between two polls; 0 leaves fuel out (benchmarks compare against it).
func rewrite(wasm []byte, fuel int64) (*rewritten, error) {
	return rewriteWith(wasm, fuel, enterBody(fuel))
}

// rewriteWith is rewrite with another body for the function enter.
func rewriteWith(wasm []byte, fuel int64, enterCode []byte) (*rewritten, error) {
	if !bytes.HasPrefix(wasm, wasmHeader) {
		return nil, errors.New("not a WebAssembly 1.0 module")
	}
	r := &reader{b: wasm, pos: len(wasmHeader)}
	out := &rewritten{wasm: bytes.Clone(wasmHeader)}
	calls, err := readDispatch(wasm)
	if err != nil {
		return nil, err
	}
	notes := positionsOf(calls)
	var enter struct{ kind, index uint64 }
	for r.pos < len(r.b) && r.err == nil {
		id := r.byte()
		body := r.bytes(r.uint())
		if r.err != nil {
			break
		}
		var err error
		switch id {
		case sectionCustom, sectionDataCount, sectionTable, sectionElement, sectionData:
			continue // debug information slows every load; the code has no memory.init; dispatchers replace the table; images have the data
		case sectionType:
			if enter.kind, body, err = addEntry(body, enterType[:]); err == nil {
				body, err = calls.addTypes(body)
			}
		case sectionFunction:
			if enter.index, body, err = addEntry(body, appendUint(nil, enter.kind)); err == nil {
				enter.index += importedFunctions
				if body, err = calls.addFunctions(body, enter.kind+1); err == nil {
					body, err = notes.addFunctions(body)
				}
			}
		case sectionMemory:
			// No maximum: the allocator refuses growth (and ends the run) past each execution's own cap.
			body = appendUint([]byte{1, 0}, originalPages+stackPages)
		case sectionGlobal:
			body = globals(fuel)
		case sectionExport:
			export := append(appendUint(nil, uint64(len(enterName))), enterName...)
			_, body, err = addEntry(body, appendUint(append(export, 0), enter.index))
		case sectionCode:
			body, out.loops, err = instrument(body, fuel, calls, notes, enterCode)
		}
		if err != nil {
			return nil, fmt.Errorf("section %d: %w", id, err)
		}
		out.wasm = append(out.wasm, id)
		out.wasm = appendUint(out.wasm, uint64(len(body)))
		out.wasm = append(out.wasm, body...)
	}
	return out, r.err
}

// globals is the new global section: __stack_pointer at the top of its own pages, the fuel counter, a scratch cell, the last
// note of a position.
func globals(fuel int64) []byte {
	initials := []int64{stackTop, fuel, 0, 0, 0, 0, 0}
	body := []byte{byte(len(initials))}
	for _, initial := range initials {
		body = append(body, 0x7f, 1, opI32Const) // mutable i32
		body = append(appendInt(body, initial), opEnd)
	}
	return body
}

// addEntry appends an entry to a section that is a vector, and gives its index.
func addEntry(body, entry []byte) (index uint64, out []byte, err error) {
	r := &reader{b: body}
	n := r.uint()
	if r.err != nil {
		return 0, nil, r.err
	}
	out = append(appendUint(nil, n+1), body[r.pos:]...)
	return n, append(out, entry...), nil
}

// dataSegments gives the data that module puts into memory when it is instantiated.
func dataSegments(module []byte) ([]segment, error) {
	r := &reader{b: module, pos: len(wasmHeader)}
	for r.pos < len(r.b) && r.err == nil {
		id := r.byte()
		if body := r.bytes(r.uint()); r.err == nil && id == sectionData {
			segments, err := readSegments(body)
			if err != nil {
				return nil, fmt.Errorf("data section: %w", err)
			}
			return segments, nil
		}
	}
	return nil, r.err
}

func readSegments(body []byte) ([]segment, error) {
	r := &reader{b: body}
	var segments []segment
	for n := r.uint(); n > 0 && r.err == nil; n-- {
		if kind, op := r.uint(), r.byte(); kind != 0 || op != opI32Const {
			return nil, errors.New("a data segment is not active at a constant offset")
		}
		offset := r.int()
		if r.byte() != opEnd {
			return nil, errors.New("a data segment's offset is not a constant")
		}
		segments = append(segments, segment{uint32(offset), r.bytes(r.uint())})
	}
	return segments, r.err
}
