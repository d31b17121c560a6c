package rewrite

import (
	"slices"

	"github.com/airlock-run/airlock/sandbox/internal/wasm"
)

// The engine records the positions of calls, operators and expression statements, and gives everything else the
// position of what came before: reading a property of null in a declaration, a condition or a return was reported at an
// earlier statement. So its parser is made to note more: where each statement begins, where each expression between
// commas begins, and, after an argument, the position of its call, so that an error of the call is not reported at its
// last argument. The position of a call is the name that is called and not, as in the engine, what follows the
// parenthesis. Notes are opcodes that the engine removes from the code when it has made its table of positions from
// them.
//
//	parse(s, flags):                  // stands before js_parse_assign_expr2
//		function, line, column, ofCall = last note
//		if s.token is not a number, a string, [ or { { note(s) } // those cannot fail by themselves
//		result = js_parse_assign_expr2(s, flags)
//		if the token before was an assignment {
//			note that token
//		} else if ofCall && function == s.function && last note != line, column { note line, column, ofCall }
//
// Compilers have inlined the note into some functions. There it is changed in place.

// Fields of JSParseState: of the current token, and the function that is being compiled. All builds have them here.
const (
	parseLastLine = 4 // of the token before
	parseLastCol  = 8
	parseToken    = 24
	parseLine     = 28
	parseColumn   = 32
	parseLastEnd  = 60 // where the token before ends in memory
	parseFunction = 84
)

// Values of parseToken.
const (
	tokenNumber = -128 // the next is a string
	tokenArray  = '['
	tokenObject = '{'
)

// positions makes the parser note positions.
type positions struct{ *rewriter }

// lastToken returns the field of the token before that belongs to a field of the current token.
func lastToken(field int64) int64 { return field - parseLine + parseLastLine }

// at returns what changes in a function of the parser.
func (p positions) at(function uint64) (e edits) {
	remember := p.assemble().get(0).call(p.added(addedRemember)).bytes()
	switch function {
	case p.parser.statement:
		e.begin = p.write(p.assemble()).bytes()
		e.note = remember
	case p.parser.note:
		e.begin = p.changed(p.assemble(), 0, 0, 0).op(wasm.I32Eqz).ifThen().op(wasm.Return, wasm.End).
			get(0).call(p.added(addedRemember)).bytes()
	case p.parser.binary:
		e.note = remember
	case p.parser.postfix:
		p.postfix(&e)
	}
	return e
}

// postfix makes js_parse_postfix_expr note calls. It notes a constructor's call before it calls itself for what is
// constructed, and a function's call, behind the name that is called, in the same way or in place.
func (p positions) postfix(e *edits) {
	ofCall := p.assemble().i32(1).setGlobal(globalNoteOfCall).bytes()
	construct := append(p.assemble().original(p.parser.note).bytes(), ofCall...)
	called := p.assemble().call(p.added(addedNoteCall)).bytes()
	e.note = append(p.remember(p.assemble(), parseLastLine, parseLastCol).bytes(), ofCall...)
	e.last = true
	e.callAt = map[int][]byte{}
	code, err := wasm.Instructions(p.module.Body(p.parser.postfix))
	if err != nil {
		return // copying the function fails with the same error
	}
	for i, c := range code {
		if c.Op != wasm.Call || uint64(c.Imm) != p.parser.note {
			continue
		}
		after := code[i+1:]
		next := slices.IndexFunc(after, func(n wasm.Instruction) bool { return n.Op == wasm.Call })
		if next >= 0 && uint64(after[next].Imm) == p.parser.postfix {
			e.callAt[c.Start] = construct
		} else {
			e.callAt[c.Start] = called
		}
	}
}

// changed pushes whether the last note differs from the three locals, or from s if they are 0.
func (p positions) changed(a *assembler, function, line, column uint64) *assembler {
	for i, note := range []struct {
		global int
		local  uint64
		field  int64
	}{
		{globalNoteFunction, function, parseFunction}, {globalNoteLine, line, parseLine},
		{globalNoteColumn, column, parseColumn},
	} {
		a.getGlobal(note.global).get(note.local)
		if note.local == 0 {
			a.load(note.field)
		}
		if a.op(wasm.I32Ne); i > 0 {
			a.op(wasm.I32Or)
		}
	}
	return a
}

// write notes the position of the current token; s is the first local.
func (p positions) write(a *assembler) *assembler { return a.get(0).original(p.parser.note) }

// rememberBody returns the code of addedRemember(s): what is about to be noted becomes the last note.
func (p positions) rememberBody() []byte {
	return p.remember(p.assemble(), parseLine, parseColumn).i32(0).setGlobal(globalNoteOfCall).end()
}

func (p positions) remember(a *assembler, line, column int64) *assembler {
	a.get(0).load(parseFunction).setGlobal(globalNoteFunction)
	a.get(0).load(line).setGlobal(globalNoteLine)
	return a.get(0).load(column).setGlobal(globalNoteColumn)
}

// noteCallBody returns the code of addedNoteCall(s): it notes a call at the position of the token before, which is the
// parenthesis. Its column is that of the name or the space in front of it, which the call of what another call returns
// would share with that: if another parenthesis is in front, the column is its own.
func (p positions) noteCallBody() []byte {
	const line, column, end = 1, 2, 3
	a := p.assemble().declare(3, wasm.TypeI32)
	a.get(0).load(parseLine).set(line).get(0).load(parseColumn).set(column)
	a.get(0).get(0).load(parseLastLine).store(parseLine).get(0).get(0).load(parseLastCol).store(parseColumn)
	if eol := p.parser.lineStart; eol >= 0 {
		a.get(0).load(parseLastEnd).i32(2).op(wasm.I32Sub).set(end)
		a.get(end).load8(0).i32(')').op(wasm.I32Eq).get(end).load8(1).i32('(').op(wasm.I32Eq, wasm.I32And)
		a.get(0).load(eol).get(end).op(wasm.I32LtU, wasm.I32And).ifThen()
		a.get(0).get(end).i32(1).op(wasm.I32Add).get(0).load(eol).op(wasm.I32Sub).store(parseColumn).op(wasm.End)
	}
	p.write(a).i32(1).setGlobal(globalNoteOfCall)
	return a.get(0).get(line).store(parseLine).get(0).get(column).store(parseColumn).end()
}

// parseBody returns the code of addedParse, which stands before js_parse_assign_expr2.
func (p positions) parseBody() []byte {
	const flags, function, line, column, ofCall, result, tokenLine, tokenColumn, assigns = 1, 2, 3, 4, 5, 6, 7, 8, 9
	a := p.assemble().declare(8, wasm.TypeI32)
	a.get(0).load(parseLastEnd).i32(1).op(wasm.I32Sub).load8(0).i32('=').op(wasm.I32Eq).set(assigns)
	a.get(assigns).ifThen()
	a.get(0).load(parseLastLine).set(line).get(0).load(parseLastCol).set(column).op(wasm.Else)
	a.getGlobal(globalNoteFunction).set(function).getGlobal(globalNoteLine).set(line).
		getGlobal(globalNoteColumn).set(column)
	a.getGlobal(globalNoteOfCall).set(ofCall).op(wasm.End)
	for i, is := range []struct {
		value int64
		op    byte
	}{{tokenNumber + 1, wasm.I32LeS}, {tokenArray, wasm.I32Eq}, {tokenObject, wasm.I32Eq}} {
		a.get(0).load(parseToken).i32(is.value)
		if a.op(is.op); i > 0 {
			a.op(wasm.I32Or)
		}
	}
	a.op(wasm.I32Eqz).ifThen()
	p.write(a).op(wasm.End)
	a.get(0).get(flags).call(p.added(addedParse)).set(result)
	a.get(ofCall).get(function).get(0).load(parseFunction).op(wasm.I32Eq, wasm.I32And)
	p.changed(a, function, line, column).op(wasm.I32And).get(assigns).op(wasm.I32Or).ifThen()
	a.get(0).load(parseLine).set(tokenLine).get(0).load(parseColumn).set(tokenColumn)
	a.get(0).get(line).store(parseLine).get(0).get(column).store(parseColumn)
	p.write(a).get(ofCall).setGlobal(globalNoteOfCall)
	a.get(0).get(tokenLine).store(parseLine).get(0).get(tokenColumn).store(parseColumn)
	return a.op(wasm.End).get(result).end()
}
