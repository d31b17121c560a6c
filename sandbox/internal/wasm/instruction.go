package wasm

import (
	"errors"
	"fmt"
)

// Opcodes of the binary format.
const (
	Unreachable = 0x00
	Block       = 0x02
	Loop        = 0x03
	If          = 0x04
	Else        = 0x05
	End         = 0x0b
	Br          = 0x0c
	BrIf        = 0x0d
	BrTable     = 0x0e
	Return      = 0x0f
	Call        = 0x10
	Indirect    = 0x11
	Drop        = 0x1a
	Select      = 0x1b
	LocalGet    = 0x20
	LocalSet    = 0x21
	LocalTee    = 0x22
	GlobalGet   = 0x23
	GlobalSet   = 0x24
	I32Load     = 0x28
	I64Load     = 0x29
	F64Load     = 0x2b
	I32Load8U   = 0x2d
	I64Load8U   = 0x31
	I32Load16U  = 0x2f
	I64Load32U  = 0x35
	I32Store    = 0x36
	I64Store    = 0x37
	F64Store    = 0x39
	I32Const    = 0x41
	I64Const    = 0x42
	I32Eqz      = 0x45
	I32Eq       = 0x46
	I32Ne       = 0x47
	I32LtS      = 0x48
	I32LtU      = 0x49
	I32GtS      = 0x4a
	I32LeS      = 0x4c
	I32LeU      = 0x4d
	I64Eq       = 0x51
	I64LtU      = 0x54
	I32Add      = 0x6a
	I32Sub      = 0x6b
	I32Mul      = 0x6c
	I32And      = 0x71
	I32Or       = 0x72
	I32Xor      = 0x73
	I32Shl      = 0x74
	I32ShrU     = 0x76
	I64Add      = 0x7c
	I64Or       = 0x84
	I64ShrU     = 0x88
	I32WrapI64  = 0xa7
	I64ExtendU  = 0xad
	// MemoryBulk stands for memory.copy and memory.fill, whose opcodes have two bytes.
	MemoryBulk = 0x1fc
	// MemoryBulkPrefix and MemoryCopy are those of memory.copy. The numbers of two memories follow.
	MemoryBulkPrefix = 0xfc
	MemoryCopy       = 0x0a
)

// Value types, and the block type of a block without parameters and results.
const (
	TypeI32    = 0x7f
	TypeI64    = 0x7e
	TypeF64    = 0x7c
	TypeFunc   = 0x60
	BlockEmpty = 0x40
)

var errOpcode = errors.New("unsupported opcode")

// Instruction is one instruction of a function body. Imm is its first immediate: a constant, an index, a label, or the
// offset of a load or store.
type Instruction struct {
	Op         int
	Imm        int64
	Start, End int // where its bytes stand in the body
}

// isLoad reports whether the instruction reads memory.
func (i Instruction) isLoad() bool { return i.Op >= I32Load && i.Op <= 0x35 }

// isStore reports whether the instruction writes memory.
func (i Instruction) isStore() bool { return i.Op >= I32Store && i.Op <= 0x3e }

// Next reads one instruction of the WebAssembly 1.0 set, sign extension, saturating conversion and bulk memory.
func Next(r *Reader) (Instruction, error) {
	i := Instruction{Start: r.Pos}
	i.Op = int(r.Byte())
	if err := i.immediates(r); err != nil {
		return i, err
	}
	i.End = r.Pos
	return i, r.Err
}

func (i *Instruction) immediates(r *Reader) error {
	switch op := i.Op; {
	case op == Block || op == Loop || op == If:
		r.Int()
	case op == I32Const || op == I64Const:
		i.Imm = r.Int()
	case op == Br || op == BrIf || op == Call, op >= LocalGet && op <= 0x26, op == 0xd2, op == 0x3f || op == 0x40:
		i.Imm = int64(r.Uint())
	case op == BrTable:
		for n := r.Uint(); n > 0 && r.Err == nil; n-- {
			r.Uint()
		}
		r.Uint()
	case op == Indirect:
		i.Imm = int64(r.Uint())
		r.Uint()
	case i.isLoad() || i.isStore():
		r.Uint() // alignment
		i.Imm = int64(r.Uint())
	case op == 0x1c: // select with types
		r.Block()
	case op == 0x43:
		r.Bytes(4)
	case op == 0x44:
		r.Bytes(8)
	case op == 0xd0:
		r.Byte()
	case op == 0xfc:
		return i.extended(r)
	case op <= 0x01, op == Else, op == End, op == Return, op == Drop, op == 0x1b, op >= I32Eqz && op <= 0xc4, op == 0xd1:
	default:
		return fmt.Errorf("%w %#x", errOpcode, op)
	}
	return nil
}

// extended reads the immediates of an instruction with the prefix 0xfc.
func (i *Instruction) extended(r *Reader) error {
	switch sub := r.Uint(); {
	case sub <= 7:
	case sub == 8, sub == 12, sub == 14:
		r.Uint()
		r.Uint()
	case sub == 10:
		r.Uint()
		r.Uint()
		i.Op = MemoryBulk
	case sub == 11:
		r.Uint()
		i.Op = MemoryBulk
	case sub <= 17:
		r.Uint()
	default:
		return errOpcode
	}
	return nil
}

// Locals skips the local declarations at the start of a body and returns where its instructions begin.
func Locals(body []byte) (start int, err error) {
	r := Reader{B: body}
	for n := r.Uint(); n > 0 && r.Err == nil; n-- {
		r.Uint()
		r.Byte()
	}
	return r.Pos, r.Err
}

// Instructions returns all instructions of a function body.
func Instructions(body []byte) ([]Instruction, error) {
	start, err := Locals(body)
	if err != nil {
		return nil, err
	}
	r := &Reader{B: body, Pos: start}
	var all []Instruction
	for r.More() {
		i, err := Next(r)
		if err != nil {
			return nil, err
		}
		all = append(all, i)
	}
	return all, r.Err
}
