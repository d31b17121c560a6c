package quickjs

import (
	"errors"
	"fmt"
)

const (
	fuelGlobal    = 1
	scratchGlobal = 2
	bulkShift     = 6 // one unit of fuel for 64 bytes moved by memory.copy or memory.fill
)

// callPoll is a call of the poll that leaves the operand stack as it was.
func callPoll(kind byte) []byte {
	return []byte{opI32Const, 0, opI32Const, kind, opCall, importPoll, opDrop}
}

// instrument rewrites the code section: the interrupt handler becomes a poll, every stack overflow is announced, and
// (unless fuel is 0) every loop outside the interpreter counts fuel. Indirect calls become calls of dispatchers, and the
// parser notes more positions. The functions enter, the dispatchers and those for positions are added.
func instrument(body []byte, fuel int64, calls *dispatch, notes positions, enter []byte) (out []byte, loops int, err error) {
	r := &reader{b: body}
	n := r.uint()
	if n > uint64(len(body)) {
		return nil, 0, errTruncated
	}
	c := coder{charge: chargeSequence(), overflow: callPoll(pollStackOverflow), calls: calls, dispatchers: importedFunctions + n + 1}
	if notes.present {
		c.track = notes.callTrack()
	}
	out = appendUint(nil, n+1+uint64(len(calls.functions))+notes.count())
	var parse []byte
	for i := range n {
		f := r.bytes(r.uint())
		if r.err != nil {
			return nil, 0, r.err
		}
		index := i + importedFunctions
		switch index {
		case funcInterrupt:
			f = []byte{0, opI32Const, 0, opI32Const, pollInterrupt, opCall, importPoll, opEnd}
		case funcUsableSize:
			f = usableSize
		default:
			c.tick, c.begin, c.note, c.last = nil, nil, nil, index == funcParsePostfix
			if fuel > 0 && index != funcInterpreter {
				c.tick = tickSequence(fuel)
			}
			if notes.present {
				c.begin, c.note = notes.at(index)
				if c.trace = nil; index == funcBacktrace {
					c.trace = notes.callTrace()
				}
			}
			if f, err = c.function(f); err != nil {
				return nil, 0, fmt.Errorf("function %d: %w", index, err)
			}
			if notes.present && index == funcParseExpression {
				f, parse = notes.parseBody(), f
			}
		}
		out = append(appendUint(out, uint64(len(f))), f...)
	}
	added := [][]byte{enter}
	for _, f := range calls.functions {
		added = append(added, f.body())
	}
	if notes.present {
		added = append(added, rememberBody(parseLine, parseColumn, 0), rememberBody(parseLastLine, parseLastCol, 1), parse, traceBody(), trackBody())
	}
	for _, f := range added {
		out = append(appendUint(out, uint64(len(f))), f...)
	}
	return out, c.loops, r.err
}

// usableSize reads the size of an allocation from the head that dlmalloc keeps in front of it, and takes off what is
// dlmalloc's own (a word, and another that only some builds use). The engine decides by the bytes in use when to look for
// garbage; with the stub it counted eight for each allocation.
var usableSize = []byte{
	0, opLocalGet, 0, opIf, typeI32,
	opLocalGet, 0, opI32Const, 4, opI32Sub, 0x28, 2, 0, opI32Const, 0x78, 0x71, // i32.load, -8, i32.and: the low bits are flags
	opI32Const, 8, opI32Sub,
	opElse, opI32Const, 0, opEnd, opEnd,
}

// tickSequence counts one loop header: fuel -= 1; if fuel <= 0 { poll(); fuel = interval }.
func tickSequence(interval int64) []byte {
	s := []byte{
		opGlobalGet, fuelGlobal, opI32Const, 1, 0x6b, opGlobalSet, fuelGlobal, // i32.sub
		opGlobalGet, fuelGlobal, opI32Const, 0, 0x4c, 0x04, 0x40, // i32.le_s, if
	}
	s = append(s, callPoll(pollFuel)...)
	s = appendInt(append(s, opI32Const), interval)
	return append(s, opGlobalSet, fuelGlobal, opEnd)
}

// chargeSequence takes the length on top of the operand stack as fuel and leaves it there.
func chargeSequence() []byte {
	return []byte{
		opGlobalSet, scratchGlobal, opGlobalGet, fuelGlobal, opGlobalGet, scratchGlobal,
		opI32Const, bulkShift, 0x76, 0x6b, opGlobalSet, fuelGlobal, // i32.shr_u, i32.sub
		opGlobalGet, scratchGlobal,
	}
}

// coder copies function bodies and inserts sequences. tick nil means: do not count loops.
type coder struct {
	tick, charge, overflow []byte
	loops                  int
	begin, note            []byte // what stands at the beginning of the function, and before it writes a note
	last                   bool   // its notes are of calls, and of the token before
	trace                  []byte // what makes the stack of an error, in the function that does
	track                  []byte // what tells of rejections
	calls                  *dispatch
	dispatchers            uint64 // the function index of the first
}

func (c *coder) function(f []byte) ([]byte, error) {
	r := &reader{b: f}
	for n := r.uint(); n > 0 && r.err == nil; n-- {
		r.uint()
		r.byte()
	}
	if r.err != nil {
		return nil, r.err
	}
	out := append(make([]byte, 0, len(f)+len(f)/8), f[:r.pos]...)
	out = append(out, c.begin...)
	copied := r.pos
	// put has b stand at a place in f, instead of what is there up to another.
	put := func(at, to int, b []byte) {
		out = append(append(out, f[copied:at]...), b...)
		copied = to
	}
	loads := 0           // of a note's position, which are to be replaced
	overflowing := false // between the overflow message and the call that throws it
	strings := 0         // that were made
	for r.pos < len(f) && r.err == nil {
		start := r.pos
		op, imm, err := instruction(r)
		if err != nil {
			return nil, err
		}
		switch op {
		case opBulk:
			if c.tick != nil {
				put(start, start, c.charge)
			}
		case opIndirect:
			call, err := c.calls.call(imm, c.dispatchers)
			if err != nil {
				return nil, err
			}
			if c.track != nil && string(c.calls.types[imm].encoded) == trackType {
				call = c.track
			}
			put(start, r.pos, call)
		case opLoop:
			if c.tick != nil {
				put(r.pos, r.pos, c.tick)
				c.loops++
			}
		case opI32Const:
			switch imm {
			case opcodeNote:
				if put(start, start, c.note); c.last && c.note != nil {
					loads = 2
				}
			case stackOverflowMessage:
				overflowing = true
			}
		case opLoad:
			if instead, ok := lastToken(f[start:r.pos]); ok && loads > 0 {
				put(start, r.pos, instead)
				loads--
			}
		case opCall:
			if overflowing {
				overflowing = false
				if imm == funcThrowRangeError {
					put(r.pos, r.pos, c.overflow)
				}
			}
			if imm == funcNewStringLen && c.trace != nil {
				if strings++; strings == backtraceString {
					put(start, r.pos, c.trace)
				}
			}
			if imm == funcNote && c.last && c.note != nil {
				put(r.pos, r.pos, noteCall)
			}
		}
	}
	return append(out, f[copied:]...), r.err
}

const (
	opLoop = 0x03
	opBulk = 0x1fc // stands for memory.copy and memory.fill
)

var errOpcode = errors.New("unsupported opcode")

// instruction skips one instruction (the WebAssembly 1.0 set, sign extension, saturating conversion, bulk memory) and
// gives its opcode and first immediate.
func instruction(r *reader) (op int, imm int64, err error) {
	op = int(r.byte())
	switch {
	case op >= 0x02 && op <= 0x04: // block, loop, if
		r.int()
	case op == opI32Const || op == 0x42:
		imm = r.int()
	case op == 0x0c || op == 0x0d || op == opCall, op >= 0x20 && op <= 0x26, op == 0xd2, op == 0x3f || op == 0x40:
		imm = int64(r.uint())
	case op == opBrTable:
		for n := r.uint() + 1; n > 0 && r.err == nil; n-- {
			r.uint()
		}
	case op == opIndirect, op >= 0x28 && op <= 0x3e: // and loads and stores
		imm = int64(r.uint())
		r.uint()
	case op == 0x1c: // select with types
		r.bytes(r.uint())
	case op == 0x43:
		r.bytes(4)
	case op == 0x44:
		r.bytes(8)
	case op == 0xd0:
		r.byte()
	case op == 0xfc:
		switch sub := r.uint(); {
		case sub <= 7:
		case sub == 8, sub == 12, sub == 14:
			r.uint()
			r.uint()
		case sub == 10:
			r.uint()
			r.uint()
			op = opBulk
		case sub == 11:
			r.uint()
			op = opBulk
		case sub <= 17:
			r.uint()
		default:
			return 0, 0, errOpcode
		}
	case op <= 0x01, op == 0x05, op == opEnd, op == 0x0f, op == opDrop, op == 0x1b, op >= 0x45 && op <= 0xc4, op == 0xd1:
	default:
		return 0, 0, fmt.Errorf("%w %#x", errOpcode, op)
	}
	return op, imm, r.err
}
