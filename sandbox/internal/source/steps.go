package source

import (
	"maps"
	"strconv"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/tdewolff/parse/v2/js"
)

// WithSteps returns the input with a report in front of each statement of its own code, or of its entry. Files that it
// imports stay as they are.
func (s Input) WithSteps() Input {
	entry, ok := s.Files[s.Entry]
	if s.Entry == "" || !ok {
		s.Code = withSteps(s.Code, s.TypeScript, 1)
		return s
	}
	s.Files = maps.Clone(s.Files)
	s.Files[s.Entry] = []byte(withSteps(string(entry), s.TypeScript || isTypeScript(s.Entry), 1))
	return s
}

// withSteps puts $airlock_step(line) in front of each statement that it recognizes from the tokens. Lines stay as
// they are. It returns code unchanged if the result, or code itself, does not parse.
func withSteps(code string, typescript bool, firstLine int) string {
	if tooDeep(code) {
		return code
	}
	loader := api.LoaderJS
	if typescript {
		loader = api.LoaderTS
	}
	for _, bold := range []bool{true, false} {
		out := insertSteps(code, bold, firstLine)
		for _, w := range wrappings {
			options := api.TransformOptions{Loader: loader, Target: api.ESNext, LogLevel: api.LogLevelSilent}
			if len(api.Transform(w.head+out+w.tail, options).Errors) == 0 {
				return out
			}
		}
	}
	return code
}

// insertSteps works on tokens. bold takes a line break for the end of a statement where no semicolon says so.
func insertSteps(code string, bold bool, firstLine int) string {
	tokens := significant(code)
	var out strings.Builder
	var open []bool // for each open bracket, whether statements stand in it
	done, line, counted := 0, firstLine, 0
	for i, t := range tokens {
		inside := len(open) == 0 || open[len(open)-1]
		if inside && startsStatement(tokens, i, len(open) == 0, bold) {
			line += strings.Count(code[counted:t.from], "\n")
			counted = t.from
			out.WriteString(code[done:t.from] + "$airlock_step(" + strconv.Itoa(line) + ");")
			done = t.from
		}
		switch t.kind {
		case js.OpenBraceToken:
			open = append(open, inside && opensBlock(tokens, i) || !inside && opensFunction(tokens, i))
		case js.OpenParenToken, js.OpenBracketToken, js.TemplateStartToken:
			open = append(open, false)
		case js.CloseBraceToken, js.CloseParenToken, js.CloseBracketToken, js.TemplateEndToken:
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		}
	}
	return out.String() + code[done:]
}

func opensBlock(tokens []token, i int) bool {
	if i == 0 {
		return true
	}
	switch tokens[i-1].kind {
	case js.CloseParenToken, js.ArrowToken, js.ElseToken, js.DoToken, js.TryToken, js.FinallyToken, js.SemicolonToken,
		js.OpenBraceToken, js.CloseBraceToken:
		return true
	case js.CatchToken:
		return true
	}
	return false
}

// opensFunction reports whether a brace opens the body of a function within an expression or a class.
func opensFunction(tokens []token, i int) bool {
	return i > 0 && (tokens[i-1].kind == js.CloseParenToken || tokens[i-1].kind == js.ArrowToken)
}

func startsStatement(tokens []token, i int, top, bold bool) bool {
	t := tokens[i]
	switch t.kind {
	case js.CloseBraceToken, js.ElseToken, js.CatchToken, js.FinallyToken, js.SemicolonToken, js.CaseToken,
		js.DefaultToken, js.StringToken, js.ImportToken, js.ExportToken,
		js.FunctionToken, js.ClassToken, js.OpenBraceToken, js.OpenParenToken, js.OpenBracketToken, js.DotToken,
		js.OptChainToken, js.CommaToken, js.ColonToken, js.QuestionToken:
		return false
	}
	if i == 0 {
		whole := t.kind == js.AsyncToken || at(tokens, 1).kind == js.ArrowToken // a function to be called, not a statement
		return top && !whole && (js.IsIdentifier(t.kind) || js.IsReservedWord(t.kind))
	}
	if !js.IsIdentifier(t.kind) && !js.IsReservedWord(t.kind) && t.kind != js.IncrToken && t.kind != js.DecrToken {
		return false
	}
	switch t.kind {
	case js.InToken, js.InstanceofToken, js.WhileToken:
		return false
	}
	switch before := tokens[i-1].kind; before {
	case js.SemicolonToken:
		return true
	case js.OpenBraceToken:
		return at(tokens, i+1).kind != js.ColonToken && at(tokens, i+1).kind != js.CommaToken
	case js.CloseBraceToken:
		return t.fresh
	case js.CloseParenToken:
		return bold && t.fresh && !headOfControl(tokens, i-1)
	default:
		return bold && t.fresh && endsOperand(before) && before != js.CloseBraceToken
	}
}

// headOfControl reports whether the parenthesis that closes at i belongs to if, for, while or with.
func headOfControl(tokens []token, i int) bool {
	depth := 0
	for ; i >= 0; i-- {
		switch tokens[i].kind {
		case js.CloseParenToken:
			depth++
		case js.OpenParenToken:
			if depth--; depth == 0 {
				if i == 0 {
					return false
				}
				switch tokens[i-1].kind {
				case js.IfToken, js.ForToken, js.WhileToken, js.WithToken, js.AwaitToken:
					return true
				}
				return false
			}
		}
	}
	return false
}
