package source

import (
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// moduleForm is the module syntax that was found in code.
type moduleForm struct {
	imports []span // import declarations outside brackets
	exports bool   // an export declaration, or an assignment to module.exports or exports.x
	dynamic bool   // import(…) somewhere
	meta    bool   // import.meta somewhere
	require bool   // require somewhere
	main    bool   // require.main, which CommonJS compares with module, or module.parent
	handler bool   // the export is, or has, a function that is to be called
	objects bool   // module or exports is read, as CommonJS has them
	astray  bool   // an import declaration may not be a statement of its own
	others  bool   // the code has a module or exports of its own, or asks whether they exist

	declared []token // all tokens of code that has an export declaration

	required []string // the names that calls of require spell out
}

// span is a stretch of code, in bytes.
type span struct{ from, to int }

// moduleSyntax finds imports and exports by tokens alone. import and export are reserved words, so outside brackets
// they start a declaration wherever they are not the name of a property.
func moduleSyntax(code string) moduleForm {
	if !strings.Contains(code, "import") && !strings.Contains(code, "export") && !strings.Contains(code, "require") &&
		!strings.Contains(code, "module") {
		return moduleForm{}
	}
	var found moduleForm
	tokens := significant(code)
	depth := 0
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		found.handler = found.handler || t.text == "handler"
		switch t.kind {
		case js.OpenParenToken, js.OpenBracketToken, js.OpenBraceToken, js.TemplateStartToken:
			depth++
		case js.CloseParenToken, js.CloseBracketToken, js.CloseBraceToken, js.TemplateEndToken:
			depth--
		}
		if i > 0 && (tokens[i-1].kind == js.DotToken || tokens[i-1].kind == js.OptChainToken) {
			continue
		}
		if t.text == "module" || t.text == "exports" {
			found.noteObject(tokens, i)
		}
		switch next := at(tokens, i+1); {
		case t.kind == js.ImportToken && next.kind == js.OpenParenToken:
			found.dynamic = true
		case t.kind == js.ImportToken && next.kind == js.DotToken:
			found.meta = true
		case t.kind == js.ImportToken && depth == 0 && next.kind != js.ColonToken:
			end := importEnd(tokens, i)
			found.imports = append(found.imports, span{t.from, tokens[end].to})
			found.astray = found.astray || !standsAlone(tokens, i, end)
			i = end
		case t.kind == js.ExportToken && depth == 0 && next.kind != js.ColonToken:
			found.exports, found.declared = true, tokens
		case t.text == "require":
			found.require = true
			if name := at(tokens, i+2); next.kind == js.OpenParenToken && name.kind == js.StringToken {
				found.required = append(found.required, name.text[1:len(name.text)-1])
			}
			found.main = found.main || next.kind == js.DotToken && at(tokens, i+2).text == "main"
		case t.text == "module" && next.kind == js.DotToken && at(tokens, i+2).text == "parent":
			found.main = true
		case t.text == "module" && next.kind == js.DotToken && at(tokens, i+2).text == "exports" && depth == 0,
			t.text == "exports" && next.kind == js.DotToken && at(tokens, i+3).kind == js.EqToken && depth == 0:
			found.exports = true
			switch at(tokens, i+4).kind { // of module.exports = …
			case js.FunctionToken, js.AsyncToken, js.OpenParenToken:
				found.handler = true
			}
		}
	}
	return found
}

// standsAlone reports whether a statement certainly begins at a token and ends at another.
func standsAlone(tokens []token, from, to int) bool {
	next := at(tokens, to+1)
	return beginsStatement(tokens, from) && (tokens[to].kind == js.SemicolonToken || next.fresh ||
		next.kind == js.ErrorToken)
}

// beginsStatement reports whether a token that can only begin a statement does not continue one.
func beginsStatement(tokens []token, i int) bool {
	if i == 0 {
		return true
	}
	switch before := tokens[i-1].kind; before {
	case js.SemicolonToken, js.CloseBraceToken:
		return true
	default:
		return tokens[i].fresh && endsOperand(before)
	}
}

// noteObject notes what the name module or exports at a token is for.
func (m *moduleForm) noteObject(tokens []token, i int) {
	var before token
	if i > 0 {
		before = tokens[i-1]
	}
	next, after := at(tokens, i+1), at(tokens, i+2)
	switch before.kind {
	case js.TypeofToken, js.ConstToken, js.VarToken, js.FunctionToken, js.ClassToken:
		m.others = true
	case js.OpenBraceToken, js.OpenBracketToken, js.CommaToken, js.ColonToken, js.EllipsisToken:
		// It may be in a pattern or a list of declarations.
		ends := next.fresh || next.kind == js.ErrorToken
		switch next.kind {
		case js.CommaToken, js.CloseBraceToken, js.CloseBracketToken, js.EqToken, js.SemicolonToken:
			ends = true
		}
		m.others = m.others || ends
	case js.OpenParenToken:
		m.objects = m.objects || next.kind == js.CloseParenToken && after.kind != js.ArrowToken &&
			after.kind != js.OpenBraceToken
	}
	m.others = m.others || before.text == "let"
	m.objects = m.objects || next.kind == js.DotToken || next.kind == js.OpenBracketToken
}

// importEnd returns the last token of the import declaration that starts at i.
func importEnd(tokens []token, i int) int {
	end, braces := i, 0
	for j := i + 1; j < len(tokens); j++ {
		t := tokens[j]
		switch t.kind {
		case js.OpenBraceToken:
			braces++
		case js.CloseBraceToken:
			braces--
		}
		if t.kind == js.SemicolonToken {
			return j
		}
		end = j
		if t.kind == js.EqToken { // TypeScript's import x = …
			for end+1 < len(tokens) && !tokens[end+1].fresh && tokens[end].kind != js.SemicolonToken {
				end++
			}
			return end
		}
		if t.kind == js.StringToken && braces <= 0 { // in braces it is the name of an export
			break
		}
	}
	if next := at(tokens, end+1); next.kind == js.WithToken || next.text == "assert" && !next.fresh {
		for j := end + 2; j < len(tokens); j++ {
			if tokens[j].kind == js.CloseBraceToken {
				end = j
				break
			}
		}
	}
	if at(tokens, end+1).kind == js.SemicolonToken {
		end++
	}
	return end
}

// token is a token that is neither white space nor a comment. A fresh one is the first of its line.
type token struct {
	kind     js.TokenType
	text     string
	from, to int
	fresh    bool
}

func at(tokens []token, i int) token {
	if i < len(tokens) {
		return tokens[i]
	}
	return token{kind: js.ErrorToken}
}

// slashes tells regular expressions from divisions by the tokens before them. A division after the body of a function
// expression is taken for a regular expression, and a regular expression after that of a class for a division.
type slashes struct {
	previous, before js.TokenType
	// open says of each open parenthesis and brace whether an operand follows it, and closed of the one closed last.
	open   []bool
	closed bool
}

// divides reports whether a slash after the last token divides.
func (s *slashes) divides() bool {
	if s.previous == js.CloseParenToken || s.previous == js.CloseBraceToken {
		return !s.closed
	}
	return endsOperand(s.previous)
}

func (s *slashes) next(tt js.TokenType) {
	switch tt {
	case js.OpenParenToken:
		s.open = append(s.open, s.control())
	case js.OpenBraceToken:
		s.open = append(s.open, s.block())
	case js.CloseParenToken, js.CloseBraceToken:
		s.closed = false
		if last := len(s.open) - 1; last >= 0 {
			s.closed, s.open = s.open[last], s.open[:last]
		}
	}
	s.before, s.previous = s.previous, tt
}

// control reports whether a parenthesis after the last token is the head of a statement.
func (s *slashes) control() bool {
	switch s.previous {
	case js.IfToken, js.ForToken, js.WhileToken, js.WithToken:
		return s.before != js.DotToken && s.before != js.OptChainToken
	case js.AwaitToken:
		return s.before == js.ForToken
	}
	return false
}

// block reports whether a brace after the last token opens a block.
func (s *slashes) block() bool {
	switch s.previous {
	case js.CloseParenToken, js.SemicolonToken, js.OpenBraceToken, js.CloseBraceToken, js.ArrowToken,
		js.ElseToken, js.DoToken, js.TryToken, js.FinallyToken:
		return true
	}
	return false
}

// significant returns the tokens of code up to the first error. A real parser judges what it took for a regular
// expression.
func significant(code string) []token {
	var out []token
	lexer := js.NewLexer(parse.NewInputString(code))
	pos, fresh, before := 0, true, slashes{previous: js.SemicolonToken}
	for {
		tt, data := lexer.Next()
		if (tt == js.DivToken || tt == js.DivEqToken) && !before.divides() {
			tt, data = lexer.RegExp()
		}
		if tt == js.ErrorToken && string(data) == "@" { // of a decorator
			pos++
			continue
		}
		if tt == js.ErrorToken {
			return out
		}
		switch tt {
		case js.WhitespaceToken, js.CommentToken:
		case js.LineTerminatorToken, js.CommentLineTerminatorToken:
			fresh = true
		default:
			out = append(out, token{tt, code[pos : pos+len(data)], pos, pos + len(data), fresh})
			if postfix := tt == js.NotToken && !fresh && before.divides(); !postfix { // TypeScript's x! is an operand, as x
				before.next(tt)
			}
			fresh = false
		}
		pos += len(data)
	}
}

// blank replaces spans of code by white space, so that all other positions stay as they are.
func blank(code string, spans []span) (rest string, cut []string) {
	out := []byte(code)
	for _, s := range spans {
		cut = append(cut, code[s.from:s.to])
		for i := s.from; i < s.to; i++ {
			if out[i] != '\n' && out[i] != '\r' {
				out[i] = ' '
			}
		}
	}
	return string(out), cut
}

// withoutGlobs changes imports whose names begin with a written-out path and continue with an expression, so that
// esbuild does not search the disk for matching files. It inserts an empty string that esbuild does not evaluate.
func withoutGlobs(code string) string {
	if !mayHaveGlobs(code) {
		return code
	}
	var out strings.Builder
	tokens, done := significant(code), 0
	for i, t := range tokens {
		if t.kind != js.ImportToken && t.text != "require" || at(tokens, i+1).kind != js.OpenParenToken {
			continue
		}
		j := i + 2
		for at(tokens, j).kind == js.OpenParenToken {
			j++
		}
		first, next := at(tokens, j), at(tokens, j+1).kind
		whole := first.kind != js.TemplateStartToken && (next == js.CloseParenToken || next == js.CommaToken)
		switch first.kind {
		case js.StringToken, js.TemplateToken, js.TemplateStartToken:
			if !whole && first.from >= done {
				out.WriteString(code[done:first.from])
				out.WriteString("[].concat()+")
				done = first.from
			}
		}
	}
	return out.String() + code[done:]
}

// mayHaveGlobs reports whether withoutGlobs might change code. It reads characters, not tokens: the tokens of a library
// take ten times the memory of its text. Where it is in doubt, it reports true.
func mayHaveGlobs(code string) bool {
	for _, word := range [...]string{"import", "require"} {
		for rest := code; ; {
			_, after, found := strings.Cut(rest, word)
			if !found {
				break
			}
			if rest = after; mayBeGlob(after) {
				return true
			}
		}
	}
	return false
}

// mayBeGlob reports whether the text after import or require may be an argument that begins with a written-out path and
// continues with an expression.
func mayBeGlob(text string) bool {
	const space = " \t\n\r\v\f"
	text = strings.TrimLeft(text, space)
	argument := strings.TrimLeft(text, space+"(")
	if argument == "" {
		return false
	}
	first := argument[0]
	doubtful := first == '/' || first == '-' || first == '<' || first >= 0x80 // a comment, or other white space
	if text[0] != '(' || first != '"' && first != '\'' && first != '`' {
		return doubtful
	}
	name, after, closed := strings.Cut(argument[1:], argument[:1])
	if !closed || strings.ContainsAny(name, "\\$\n") {
		return true
	}
	after = strings.TrimLeft(after, space)
	return after == "" || after[0] != ')' && after[0] != ','
}
