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
	main    bool   // require.main, which CommonJS compares with module
	handler bool   // what is exported is, or has, a function that is to be called

	required []string // the names that calls of require spell out
}

// span is a stretch of code, in bytes.
type span struct{ from, to int }

// moduleSyntax finds imports and exports by tokens alone. import and export are reserved words, so outside brackets
// they start a declaration wherever they are not the name of a property.
func moduleSyntax(code string) moduleForm {
	if !strings.Contains(code, "import") && !strings.Contains(code, "export") && !strings.Contains(code, "require") {
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
		switch next := at(tokens, i+1); {
		case t.kind == js.ImportToken && next.kind == js.OpenParenToken:
			found.dynamic = true
		case t.kind == js.ImportToken && next.kind == js.DotToken:
			found.meta = true
		case t.kind == js.ImportToken && depth == 0 && next.kind != js.ColonToken:
			end := importEnd(tokens, i)
			found.imports = append(found.imports, span{t.from, tokens[end].to})
			i = end
		case t.kind == js.ExportToken && depth == 0 && next.kind != js.ColonToken:
			found.exports = true
		case t.text == "require":
			found.require = true
			if name := at(tokens, i+2); next.kind == js.OpenParenToken && name.kind == js.StringToken {
				found.required = append(found.required, name.text[1:len(name.text)-1])
			}
			found.main = found.main || next.kind == js.DotToken && at(tokens, i+2).text == "main"
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

// significant returns the tokens of code up to the first error. After a brace or a parenthesis it may take a division
// for a regular expression or the other way round; a real parser judges the outcome.
func significant(code string) []token {
	var out []token
	lexer := js.NewLexer(parse.NewInputString(code))
	pos, fresh, previous := 0, true, js.SemicolonToken
	for {
		tt, data := lexer.Next()
		if (tt == js.DivToken || tt == js.DivEqToken) && !endsOperand(previous) {
			tt, data = lexer.RegExp()
		}
		if tt == js.ErrorToken {
			return out
		}
		switch tt {
		case js.WhitespaceToken, js.CommentToken:
		case js.LineTerminatorToken, js.CommentLineTerminatorToken:
			fresh = true
		default:
			out = append(out, token{tt, string(data), pos, pos + len(data), fresh})
			fresh, previous = false, tt
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
// esbuild does not look on the disk for what they could mean. It inserts an empty string that esbuild does not
// evaluate.
func withoutGlobs(code string) string {
	if !strings.Contains(code, "import") && !strings.Contains(code, "require") {
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
