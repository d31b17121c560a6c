package rewrite

import (
	"slices"

	"github.com/airlock-run/airlock/sandbox/internal/wasm"
)

const opStore8 = 0x3a // i32.store8

// parser finds the functions that note positions.
func (f *finder) parser() (p parserFacts) {
	p.statement = f.function("js_parse_statement_or_decl", f.says("line terminator not allowed after throw"))
	p.expression = f.function("js_parse_assign_expr2", f.says("unexpected 'yield' keyword"))
	p.postfix = f.function("js_parse_postfix_expr", f.says("super() is only valid in a derived class constructor"))
	p.note = f.function("emit_source_loc", f.notesFor(p.postfix))
	p.opcode = f.noteOpcode(p.note)
	p.lineStart = lineStart(f)
	p.binary = f.function("js_parse_expr_binary", func(function uint64, code []wasm.Instruction) bool {
		return f.hasType(function, "iii", "i") && calls(code, function) && (mentions(code, p.opcode) || calls(code, p.note))
	})
	return p
}

// notesFor accepts the function that writes a note with two neighbouring fields of its argument, and that caller calls.
func (f *finder) notesFor(caller uint64) func(uint64, []wasm.Instruction) bool {
	from := f.of(caller)
	return func(function uint64, code []wasm.Instruction) bool {
		if !f.hasType(function, "i", "") || !calls(from, function) {
			return false
		}
		read := fields(code, 0)
		return slices.Contains(read, parseLine) && slices.Contains(read, parseColumn)
	}
}

// noteOpcode returns the byte that a note starts with.
func (f *finder) noteOpcode(note uint64) int64 {
	var found []uint64
	sequence(f.of(note), []int{wasm.I32Const, opStore8}, func(run []wasm.Instruction) {
		if run[1].Imm == 0 { // into the buffer, and not into a field
			found = append(found, uint64(run[0].Imm))
		}
	})
	return int64(f.only("OP_source_loc", found))
}

// lineStart returns the field from which next_token counts the column of a token. In a build without names it is -1.
func lineStart(f *finder) int64 {
	_, code := f.named("next_token", "i", "i")
	// token.column = mark - eol, but at least 1
	at := find(code, wasm.I32Load, wasm.LocalGet, wasm.I32Load, wasm.I32Sub, wasm.LocalTee, wasm.I32Const, wasm.LocalGet,
		wasm.I32Const, wasm.I32GtS, wasm.Select, wasm.I32Store)
	if at < 0 {
		return -1
	}
	return code[at+2].Imm
}

// trace finds the functions that make the stack of an error.
func (f *finder) trace() (t traceFacts) {
	t.throw = f.function("JS_Throw", nil)
	t.getException = f.function("JS_GetException", nil)
	t.newString = f.function("JS_NewStringLen", f.calledBy("QJS_NewString", "iii", "l"))
	t.backtrace = f.function("build_backtrace", f.says("    at %s"))
	separator := f.says(": ")
	t.errorToString = f.function("js_error_toString", func(function uint64, code []wasm.Instruction) bool {
		return f.hasType(function, typeFunction, "l") && separator(function, code)
	})
	t.setProperty = f.function("JS_SetPropertyStr", nil)
	if at := f.Strings("message"); len(at) > 0 {
		t.message = int64(at[0])
	} else {
		f.missing(`text "message"`, 0)
	}
	from := f.of(t.errorToString)
	t.concat = f.function("JS_ConcatString", func(function uint64, _ []wasm.Instruction) bool {
		return f.hasType(function, "ill", "l") && calls(from, function)
	})
	return t
}
