package rewrite

import "github.com/airlock-run/airlock/sandbox/internal/wasm"

// A repetition of a regular expression forgets in each round what its groups captured in the round before, but the
// engine's does not: /(?:(a)|(b))+/ finds both a and b in "ab". An added function takes the place of the calls with
// which re_parse_term parses what is in parentheses. If a repetition follows, it puts an instruction in front of the
// code of that which forgets the captures of its groups:
//
//	group(state, backward):
//		before, start = state.capture_count, state.byte_code.size
//		if re_parse_disjunction(state, backward) fails { return what it returns }
//		if state.capture_count > before and ")*", ")+" or "){" comes next {
//			dbuf_insert(state, start, 3)
//			byte_code[start:] = save_reset, before, state.capture_count - 1
//		}

// captureFacts are the functions of the compiler of regular expressions, and fields of its state. Its code is what the
// state begins with: an address and a size.
type captureFacts struct {
	term        uint64 // re_parse_term(state, backward) int
	disjunction uint64 // re_parse_disjunction(state, backward) int
	insert      uint64 // dbuf_insert(code, at, length) int
	calls       []int  // where term calls disjunction
	next, count int64  // the offsets of the address of what comes next, and of the number of captures
	reset       int64  // the instruction that forgets captures
}

const (
	codeSize   = 4
	resetBytes = 3
)

func (f *finder) captures() captureFacts {
	none := captureFacts{term: unknown}
	c := captureFacts{reset: -1}
	var code []wasm.Instruction
	c.term, code = f.named("re_parse_term", "ii", "i")
	c.disjunction, _ = f.named("re_parse_disjunction", "ii", "i")
	c.insert, _ = f.named("dbuf_insert", "iii", "i")
	if c.term == unknown || c.disjunction == unknown || c.insert == unknown {
		return none
	}
	for i := range code {
		if ops(code, i, wasm.Call) && uint64(code[i].Imm) == c.disjunction {
			c.calls = append(c.calls, code[i].Start)
			if at := find(code[i:], wasm.LocalGet, wasm.I32Load); at > 0 {
				c.next = code[i+at+1].Imm
			}
		}
		// if capture_count is not what it was: dbuf_insert(code, start, 3): br_if; code[start] = save_reset
		if !ops(code, i, wasm.I32Load, wasm.I32Eq, wasm.BrIf, wasm.LocalGet, wasm.LocalGet, wasm.I32Const, wasm.Call,
			wasm.BrIf, wasm.LocalGet, wasm.I32Load, wasm.LocalGet, wasm.I32Add, wasm.I32Const, opStore8) {
			continue
		}
		if code[i+5].Imm != resetBytes || uint64(code[i+6].Imm) != c.insert || c.reset >= 0 {
			return none
		}
		c.count, c.reset = code[i].Imm, code[i+12].Imm
	}
	if len(c.calls) == 0 || c.next == 0 || c.reset < 0 {
		return none
	}
	return c
}

// edit makes re_parse_term call the added function.
func (c captureFacts) edit(w *rewriter, function uint64, e *edits) {
	if function != c.term {
		return
	}
	e.callAt = make(map[int][]byte)
	for _, at := range c.calls {
		e.callAt[at] = w.assemble().call(w.added(addedGroup)).bytes()
	}
}

// body returns the code of group.
func (c captureFacts) body(w *rewriter) []byte {
	const state, backward, before, start, result = 0, 1, 2, 3, 4
	if c.term == unknown {
		return w.assemble().op(wasm.Unreachable).end()
	}
	a := w.assemble().declare(3, wasm.TypeI32)
	a.get(state).load(c.count).set(before)
	a.get(state).load(codeSize).set(start)
	a.get(state).get(backward).original(c.disjunction).set(result)
	a.get(result).get(state).load(c.count).get(before).op(wasm.I32LeS, wasm.I32Or)
	a.ifThen().get(result).op(wasm.Return, wasm.End)
	next := func(at int64, char byte) { a.get(state).load(c.next).load8(at).i32(int64(char)).op(wasm.I32Eq) }
	next(1, '*')
	next(1, '+')
	a.op(wasm.I32Or)
	next(1, '{')
	a.op(wasm.I32Or)
	next(0, ')')
	a.op(wasm.I32And, wasm.I32Eqz).ifThen().i32(0).op(wasm.Return, wasm.End)
	a.get(state).get(start).i32(resetBytes).original(c.insert)
	a.ifThen().i32(0).op(wasm.Return, wasm.End) // it ran out of memory, which the compiler finds out
	put := func(at int64, value func()) {
		a.get(state).load(0).get(start).op(wasm.I32Add)
		value()
		a.op(opStore8, 0).offset(at)
	}
	put(0, func() { a.i32(c.reset) })
	put(1, func() { a.get(before) })
	put(2, func() { a.get(state).load(c.count).i32(1).op(wasm.I32Sub) })
	return a.i32(0).end()
}
