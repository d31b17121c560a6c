package quickjs

import "slices"

// The engine knows where calls, operators and expression statements stand, and gives everything else the place of whatever
// came before: reading a property of null in a declaration, a condition or a return was reported at an earlier statement.
// So its parser is made to note more: where each statement begins, where each expression (what may stand between commas)
// begins, and, behind an argument, the place of its call, so that a call is not taken for its last argument. The place of a call is the name that is called and not, as the engine has it, what follows the parenthesis. Notes are opcodes that the engine takes out of the code again when it has made its table of positions of them.
//
//	parse(s, flags):                  // stands before js_parse_assign_expr2
//		function, line, column, of call = last note
//		if s.token is not a number, a string, [ or { { note(s) } // those cannot fail by themselves
//		result = js_parse_assign_expr2(s, flags)
//		if of call && function == s.function && last note != line, column { note line, column, of call }

// What positions are made of.
const (
	funcParseStatement  = 785 // js_parse_statement_or_decl(s, flags) int
	funcParseExpression = 788 // js_parse_assign_expr2(s, flags) int
	funcNote            = 797 // emit_source_loc(s), which is inlined into the next two and the first
	funcParsePostfix    = 814 // js_parse_postfix_expr
	funcParseBinary     = 827 // js_parse_expr_binary
	opcodeNote          = 198 // OP_source_loc

	// Fields of JSParseState: of the token at hand, and the function that is being compiled.
	parseLastLine = 4 // of the token before
	parseLastCol  = 8
	parseToken    = 24
	parseLine     = 28
	parseColumn   = 32
	parseFunction = 84

	// Globals for the last note.
	noteFunction = 3
	noteLine     = 4
	noteColumn   = 5
	noteOfCall   = 6
)

// Values of parseToken.
const (
	tokenNumber = -128 // and the next is a string
	tokenArray  = '['
	tokenObject = '{'
)

const (
	opI32Eqz   = 0x45
	opI32LeS   = 0x4c
	opI32And   = 0x71
	opLocalSet = 0x21
	opLoad     = 0x28 // i32.load
	opStore    = 0x36 // i32.store
	opI32Ne    = 0x47
	opI32Or    = 0x72
	aligned    = 2
)

// positions are the functions that the rewriting adds to have positions noted and told.
type positions struct {
	kinds   [addedPositions]uint64 // their types
	first   uint64                 // the index of the first
	present bool
}

// Their order.
const (
	addedRemember     = iota // (s): keeps what is about to be noted
	addedRememberLast        // (s): the same where the token before is noted
	addedParse               // js_parse_assign_expr2 as it was
	addedTrace               // makes an error's stack (backtrace.go)
	addedTrack               // tells of rejections (rejections.go)
	addedPositions
)

// positionsOf finds what the functions that are added have in common with those that are there.
func positionsOf(d *dispatch) positions {
	p := positions{first: d.imported + uint64(len(d.kinds)) + 1 + uint64(len(d.functions))}
	if len(d.kinds) > funcErrorToString-importedFunctions {
		p.present = true
		p.kinds[addedRemember] = d.kinds[funcNote-importedFunctions]
		p.kinds[addedRememberLast] = p.kinds[addedRemember]
		p.kinds[addedParse] = d.kinds[funcParseExpression-importedFunctions]
		p.kinds[addedTrace] = d.kinds[funcErrorToString-importedFunctions]
		track := slices.IndexFunc(d.types, func(t funcType) bool { return string(t.encoded) == trackType })
		p.present = track >= 0
		p.kinds[addedTrack] = uint64(track)
	}
	return p
}

// addFunctions appends their types to a function section.
func (p positions) addFunctions(body []byte) (out []byte, err error) {
	if !p.present {
		return body, nil
	}
	for _, kind := range p.kinds {
		if _, body, err = addEntry(body, appendUint(nil, kind)); err != nil {
			return nil, err
		}
	}
	return body, nil
}

func (p positions) count() uint64 {
	if !p.present {
		return 0
	}
	return addedPositions
}

// remember is put where the engine writes a note; s is its first local there.
func (p positions) remember(added uint64) []byte {
	return appendUint([]byte{opLocalGet, 0, opCall}, p.first+added)
}

// lastToken gives what is loaded, where a note is written, in place of the position of the token at hand.
func lastToken(load []byte) (instead []byte, ok bool) {
	if len(load) != 3 || load[0] != opLoad || load[1] != aligned || load[2] != parseLine && load[2] != parseColumn {
		return nil, false
	}
	return []byte{opLoad, aligned, load[2] - parseLine + parseLastLine}, true
}

// at gives what stands at the beginning of a function, and before it writes a note.
func (p positions) at(index uint64) (begin, note []byte) {
	switch index {
	case funcParseStatement:
		return callNote, p.remember(addedRemember)
	case funcNote:
		return append(changed(0, 0, 0), opI32Eqz, opIf, blockEmpty, opReturn, opEnd), p.remember(addedRemember)
	case funcParseBinary:
		return nil, p.remember(addedRemember)
	case funcParsePostfix:
		return nil, p.remember(addedRememberLast)
	}
	return nil, nil
}

// changed tells whether the last note is another than the three locals have, or than s where there are none.
func changed(function, line, column byte) []byte {
	var code []byte
	for i, note := range []struct{ global, local, field byte }{
		{noteFunction, function, parseFunction}, {noteLine, line, parseLine}, {noteColumn, column, parseColumn},
	} {
		code = append(code, opGlobalGet, note.global, opLocalGet, note.local)
		if note.local == 0 {
			code = append(code, opLoad, aligned, note.field)
		}
		if code = append(code, opI32Ne); i > 0 {
			code = append(code, opI32Or)
		}
	}
	return code
}

// noteCall follows the note of a constructor's call, which the engine writes as any other.
var noteCall = []byte{opI32Const, 1, opGlobalSet, noteOfCall}

var callNote = appendUint([]byte{opLocalGet, 0, opCall}, funcNote)

// rememberBody is the code of addedRemember and addedRememberLast.
func rememberBody(line, column, ofCall byte) []byte {
	return []byte{
		0,
		opLocalGet, 0, opLoad, aligned, parseFunction, opGlobalSet, noteFunction,
		opLocalGet, 0, opLoad, aligned, line, opGlobalSet, noteLine,
		opLocalGet, 0, opLoad, aligned, column, opGlobalSet, noteColumn,
		opI32Const, ofCall, opGlobalSet, noteOfCall,
		opEnd,
	}
}

// parseBody is the code that stands before addedParse.
func (p positions) parseBody() []byte {
	const function, line, column, ofCall, result, tokenLine, tokenColumn = 2, 3, 4, 5, 6, 7, 8
	code := []byte{1, 7, typeI32}
	add := func(b ...byte) { code = append(code, b...) }
	parse := appendUint([]byte{opLocalGet, 0, opLocalGet, 1, opCall}, p.first+addedParse)
	token := []byte{opLocalGet, 0, opLoad, aligned, parseToken, opI32Const}
	add(opGlobalGet, noteFunction, opLocalSet, function, opGlobalGet, noteLine, opLocalSet, line, opGlobalGet, noteColumn, opLocalSet, column)
	add(opGlobalGet, noteOfCall, opLocalSet, ofCall)
	for i, is := range []struct {
		value int64
		op    byte
	}{{tokenNumber + 1, opI32LeS}, {tokenArray, opI32Eq}, {tokenObject, opI32Eq}} {
		add(appendInt(token, is.value)...)
		if add(is.op); i > 0 {
			add(opI32Or)
		}
	}
	add(opI32Eqz, opIf, blockEmpty)
	add(callNote...)
	add(opEnd)
	add(parse...)
	add(opLocalSet, result)
	add(opLocalGet, ofCall, opLocalGet, function, opLocalGet, 0, opLoad, aligned, parseFunction, opI32Eq, opI32And)
	add(changed(function, line, column)...)
	add(opI32And, opIf, blockEmpty)
	add(opLocalGet, 0, opLoad, aligned, parseLine, opLocalSet, tokenLine, opLocalGet, 0, opLoad, aligned, parseColumn, opLocalSet, tokenColumn)
	add(opLocalGet, 0, opLocalGet, line, opStore, aligned, parseLine, opLocalGet, 0, opLocalGet, column, opStore, aligned, parseColumn)
	add(callNote...)
	add(noteCall...)
	add(opLocalGet, 0, opLocalGet, tokenLine, opStore, aligned, parseLine, opLocalGet, 0, opLocalGet, tokenColumn, opStore, aligned, parseColumn)
	add(opEnd, opLocalGet, result, opEnd)
	return code
}
