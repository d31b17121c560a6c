package wasm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Section IDs of the binary format.
const (
	SectionCustom    = 0
	SectionType      = 1
	SectionImport    = 2
	SectionFunction  = 3
	SectionTable     = 4
	SectionMemory    = 5
	SectionGlobal    = 6
	SectionExport    = 7
	SectionElement   = 9
	SectionCode      = 10
	SectionData      = 11
	SectionDataCount = 12
)

// Header is what every module starts with.
const Header = "\x00asm\x01\x00\x00\x00"

// maxTable bounds the function table of a module that Parse accepts.
const maxTable = 1 << 12

// Module is what a module declares. Its slices are parts of the bytes it was parsed from.
type Module struct {
	Types     []FuncType
	Imports   []Import
	Functions []uint64 // the type of every function that the module defines
	Bodies    [][]byte
	Table     []Element // in the order of their indices
	Pages     uint64    // the initial memory
	Globals   []Global
	Exports   map[string]uint64 // functions by name
	Names     map[string]uint64 // functions by the name section; without a section it is empty
	Data      []Segment
}

// FuncType is a function type: the counts and value types as the type section has them, without the leading 0x60.
type FuncType struct {
	Params  int
	Encoded string
}

// Import is an imported function.
type Import struct {
	Module, Name string
	Type         uint64
}

// Element is an entry of the function table.
type Element struct{ Index, Function uint64 }

// Global is a global variable whose initial value is a constant.
type Global struct {
	Type    byte
	Mutable bool
	Initial int64
}

// Segment is an active data segment: bytes that belong at Offset.
type Segment struct {
	Offset uint32
	Data   []byte
}

var (
	errHeader = errors.New("not a WebAssembly 1.0 module")
	errTable  = errors.New("the function table is not a single table that one active segment fills")
	errType   = errors.New("a type is not a function type of the module")
)

// Section is one section of a module.
type Section struct {
	ID   byte
	Body []byte
}

// Sections returns the sections of a module in their order.
func Sections(wasm []byte) ([]Section, error) {
	if !bytes.HasPrefix(wasm, []byte(Header)) {
		return nil, errHeader
	}
	r := &Reader{B: wasm, Pos: len(Header)}
	var all []Section
	for r.More() {
		id := r.Byte()
		body := r.Block()
		if r.Err == nil {
			all = append(all, Section{id, body})
		}
	}
	return all, r.Err
}

// AppendSection appends a section.
func AppendSection(out []byte, id byte, body []byte) []byte {
	return AppendBlock(append(out, id), body)
}

// Parse reads a module. Only function imports and constant offsets are supported.
func Parse(wasm []byte) (*Module, error) {
	sections, err := Sections(wasm)
	if err != nil {
		return nil, err
	}
	m := &Module{Exports: map[string]uint64{}, Names: map[string]uint64{}}
	for _, s := range sections {
		if err := m.section(s); err != nil {
			return nil, fmt.Errorf("section %d: %w", s.ID, err)
		}
	}
	if len(m.Bodies) != len(m.Functions) {
		return nil, fmt.Errorf("%d functions, %d bodies", len(m.Functions), len(m.Bodies))
	}
	return m, nil
}

func (m *Module) section(s Section) error {
	r := &Reader{B: s.Body}
	switch s.ID {
	case SectionType:
		return m.types(r)
	case SectionImport:
		return m.imports(r)
	case SectionFunction:
		return each(r, func() error { m.Functions = append(m.Functions, r.Uint()); return nil })
	case SectionElement:
		return m.elements(r)
	case SectionMemory:
		if n, _ := r.Uint(), r.Byte(); n != 1 {
			return errors.New("the module does not have exactly one memory")
		}
		m.Pages = r.Uint()
		return r.Err
	case SectionGlobal:
		return m.globals(r)
	case SectionExport:
		return each(r, func() error {
			name, kind, index := r.Block(), r.Byte(), r.Uint()
			if kind == 0 {
				m.Exports[string(name)] = index
			}
			return nil
		})
	case SectionCode:
		return each(r, func() error { m.Bodies = append(m.Bodies, r.Block()); return nil })
	case SectionData:
		return m.data(r)
	case SectionCustom:
		if string(r.Block()) == "name" {
			return m.names(r)
		}
	}
	return nil
}

// each calls read for every entry of a vector.
func each(r *Reader, read func() error) error {
	for n := r.Uint(); n > 0 && r.Err == nil; n-- {
		if err := read(); err != nil {
			return err
		}
	}
	return r.Err
}

func (m *Module) types(r *Reader) error {
	return each(r, func() error {
		if r.Byte() != TypeFunc {
			return errors.Join(r.Err, errType)
		}
		start := r.Pos
		params := r.Uint()
		r.Bytes(params)
		r.Block()
		if r.Err == nil {
			m.Types = append(m.Types, FuncType{int(params), string(r.B[start:r.Pos])})
		}
		return nil
	})
}

func (m *Module) imports(r *Reader) error {
	return each(r, func() error {
		module, name, kind := r.Block(), r.Block(), r.Byte()
		if kind != 0 {
			return errors.New("an import is not a function")
		}
		m.Imports = append(m.Imports, Import{string(module), string(name), r.Uint()})
		return nil
	})
}

func (m *Module) elements(r *Reader) error {
	segments, flags, op, first, end := r.Uint(), r.Uint(), r.Byte(), r.Int(), r.Byte()
	n := r.Uint()
	if r.Err != nil || segments != 1 || flags != 0 || op != I32Const || end != End || first < 0 || first > maxTable ||
		n > maxTable {
		return errors.Join(r.Err, errTable)
	}
	for i := range n {
		m.Table = append(m.Table, Element{uint64(first) + i, r.Uint()})
	}
	return r.Err
}

func (m *Module) globals(r *Reader) error {
	return each(r, func() error {
		g := Global{Type: r.Byte(), Mutable: r.Byte() == 1}
		if op := r.Byte(); op != I32Const && op != I64Const {
			return errors.New("a global's initial value is not an integer constant")
		}
		g.Initial = r.Int()
		if r.Byte() != End {
			return errors.New("a global's initial value is not an integer constant")
		}
		m.Globals = append(m.Globals, g)
		return nil
	})
}

func (m *Module) data(r *Reader) error {
	return each(r, func() error {
		if kind, op := r.Uint(), r.Byte(); kind != 0 || op != I32Const {
			return errors.New("a data segment is not active at a constant offset")
		}
		offset := r.Int()
		if r.Byte() != End {
			return errors.New("a data segment's offset is not a constant")
		}
		m.Data = append(m.Data, Segment{uint32(offset), r.Block()})
		return nil
	})
}

// names reads the function names of the name section. A name that two functions share is left out.
func (m *Module) names(r *Reader) error {
	const functionNames = 1
	twice := map[string]bool{}
	for r.More() {
		id := r.Byte()
		sub := &Reader{B: r.Block()}
		if id != functionNames {
			continue
		}
		err := each(sub, func() error {
			index, name := sub.Uint(), string(sub.Block())
			if _, ok := m.Names[name]; ok {
				twice[name] = true
			}
			m.Names[name] = index
			return nil
		})
		if err != nil {
			return err
		}
	}
	for name := range twice {
		delete(m.Names, name)
	}
	return r.Err
}

// Imported returns the number of imported functions: the index of the first that the module defines.
func (m *Module) Imported() uint64 { return uint64(len(m.Imports)) }

// TypeOf returns the type of a function. ok is false for an invalid index.
func (m *Module) TypeOf(function uint64) (t FuncType, ok bool) {
	kind := uint64(len(m.Types))
	switch n := m.Imported(); {
	case function < n:
		kind = m.Imports[function].Type
	case function-n < uint64(len(m.Functions)):
		kind = m.Functions[function-n]
	}
	if kind >= uint64(len(m.Types)) {
		return FuncType{}, false
	}
	return m.Types[kind], true
}

// Body returns the body of a function that the module defines, or nil.
func (m *Module) Body(function uint64) []byte {
	if i := function - m.Imported(); i < uint64(len(m.Bodies)) {
		return m.Bodies[i]
	}
	return nil
}

// Word returns the little-endian word that the data has at an address.
func (m *Module) Word(address uint32) (word uint32, ok bool) {
	for _, s := range m.Data {
		if address >= s.Offset && uint64(address)+4 <= uint64(s.Offset)+uint64(len(s.Data)) {
			return binary.LittleEndian.Uint32(s.Data[address-s.Offset:]), true
		}
	}
	return 0, false
}

// Strings returns the addresses at which the data has s before a NUL: as a C string, or as the end of a longer one.
func (m *Module) Strings(s string) (addresses []uint32) {
	text := []byte(s + "\x00")
	for _, seg := range m.Data {
		for at := 0; ; at++ {
			k := bytes.Index(seg.Data[at:], text)
			if k < 0 {
				break
			}
			at += k
			addresses = append(addresses, seg.Offset+uint32(at))
		}
	}
	return addresses
}
