package source

import (
	"io"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// lastStatement returns the last statement that is not empty, and how many statements there are up to it.
func lastStatement(list []js.IStmt) (js.IStmt, int) {
	for n := len(list); n > 0; n-- {
		if _, empty := list[n-1].(*js.EmptyStmt); !empty {
			return list[n-1], n
		}
	}
	return nil, 0
}

func isBlock(s js.IStmt) bool {
	_, ok := s.(*js.BlockStmt)
	return ok
}

func isDeclaredFunction(s js.IStmt) bool {
	f, ok := s.(*js.FuncDecl)
	return ok && !f.Generator
}

// expressionOf returns the expression that a statement is, or nil. The parser treats a lone string as a directive.
func expressionOf(s js.IStmt) js.IExpr {
	switch s := s.(type) {
	case *js.ExprStmt:
		return s.Value
	case *js.DirectivePrologueStmt:
		return &js.LiteralExpr{TokenType: js.StringToken, Data: s.Value}
	}
	return nil
}

func isFunction(e js.IExpr) bool {
	switch e := e.(type) {
	case *js.GroupExpr:
		return isFunction(e.X)
	case *js.ArrowFunc:
		return true
	case *js.FuncDecl:
		return !e.Generator
	}
	return false
}

// meansNothing reports whether the value of an expression is not meant as a result: that of a call such as
// setTimeout(…) or process.stdout.write(…), or what is assigned to module.exports beside code that runs.
func meansNothing(e js.IExpr) bool {
	switch e := e.(type) {
	case *js.BinaryExpr:
		return e.Op == js.EqToken && nameOf(e.X) == "module.exports"
	case *js.CallExpr:
		switch nameOf(e.X) {
		case "setTimeout", "setInterval", "clearTimeout", "clearInterval", "queueMicrotask", "stdout.write", "stderr.write":
			return true
		}
		return writesOutput(e.X)
	}
	return false
}

// telling are methods that return whether an event had listeners, or whether a stream has room.
var telling = map[string]bool{"emit": true, "dispatchEvent": true, "write": true, "push": true}

// behind returns what follows an expression whose value is kept: code that ends with a call of a method that tells such
// a thing has no result, and so goes on until nothing is pending. What has a name must be an emitter or a target of
// events, too: a tool may have a method of that name.
func behind(e js.IExpr) string {
	call, ok := e.(*js.CallExpr)
	if !ok {
		return ""
	}
	d, ok := call.X.(*js.DotExpr)
	if !ok {
		return ""
	}
	if member, ok := d.Y.(js.LiteralExpr); !ok || !telling[string(member.Data)] {
		return ""
	}
	is := "typeof $airlock === 'boolean'"
	if name := nameOf(d.X); name != "" {
		is += " && (typeof " + name + "?.on === 'function' || typeof " + name +
			"?.dispatchEvent === 'function')"
	}
	return "\n;if (" + is + ") $airlock = void 0"
}

// writesOutput reports whether e is process.stdout.write or process.stderr.write.
func writesOutput(e js.IExpr) bool {
	d, ok := e.(*js.DotExpr)
	if !ok {
		return false
	}
	member, ok := d.Y.(js.LiteralExpr)
	stream := nameOf(d.X)
	return ok && string(member.Data) == "write" && (stream == "process.stdout" || stream == "process.stderr")
}

// nameOf returns the name that e is, or the two names of a member a.b. It returns "" for anything else.
func nameOf(e js.IExpr) string {
	switch e := e.(type) {
	case *js.Var:
		return string(e.Data)
	case *js.DotExpr:
		of, ok1 := e.X.(*js.Var)
		member, ok2 := e.Y.(js.LiteralExpr)
		if ok1 && ok2 {
			return string(of.Data) + "." + string(member.Data)
		}
	}
	return ""
}

// start finds where the n'th statement of code, an expression and the last, starts. The parser keeps no positions, so
// start collects the places where a statement can begin from the tokens and tries them, the last first: the right one
// has n-1 statements before it and one expression from it on.
func start(code string, n int) (int, bool) {
	places, certain := boundaries(code)
	if k := len(places) - 1; certain && k >= 0 && places[k].semicolon {
		return places[k].offset, true // after a semicolon outside brackets only a new statement can start
	}
	for i := range min(len(places), maxTries) {
		at := places[len(places)-1-i]
		after, ok := statements(code[at.offset:])
		if !ok {
			continue
		}
		if last, m := lastStatement(after); m != 1 || expressionOf(last) == nil {
			continue
		}
		if before, ok := statements(code[:at.offset]); ok && len(before) == n-1 {
			return at.offset, true
		}
	}
	return 0, false
}

// startByTokens finds the last statement of code if the tokens alone tell where it starts: after a semicolon outside
// brackets, with nothing behind it that could start another. It returns the expression that the statement is.
func startByTokens(code string) (at int, e js.IExpr, ok bool) {
	places, certain := boundaries(code)
	k := len(places) - 1
	if !certain || k < 0 || !places[k].semicolon {
		return 0, nil, false
	}
	at = places[k].offset
	list, ok := statements(code[at:])
	if !ok {
		return 0, nil, false
	}
	if last, n := lastStatement(list); n == 1 {
		e = expressionOf(last)
	}
	return at, e, e != nil
}

// place is an offset at which a statement can start, and whether a semicolon precedes it.
type place struct {
	offset    int
	semicolon bool
}

// maxTries bounds the work on code in which a statement could start anywhere.
const maxTries = 16

// boundaries returns the places outside brackets at which a statement can start: the first token, and each that
// follows a semicolon, a closing brace or parenthesis, or a line break. certain reports that all of the code was read
// as tokens without a guess, and that each bracket closes the one that it should.
func boundaries(code string) (at []place, certain bool) {
	certain = true
	lexer := js.NewLexer(parse.NewInputString(code))
	var open []js.TokenType
	pos, fresh, previous := 0, true, js.SemicolonToken
	for {
		tt, data := lexer.Next()
		if tt == js.ErrorToken {
			return at, certain && len(data) == 0 && lexer.Err() == io.EOF && len(open) == 0
		}
		if tt == js.DivToken || tt == js.DivEqToken {
			certain = certain && !guesses(previous)
			if !endsOperand(previous) {
				if tt, data = lexer.RegExp(); tt == js.ErrorToken {
					return at, false
				}
			}
		}
		switch tt {
		case js.CommentToken, js.CommentLineTerminatorToken:
			certain = certain && data[0] == '/' // not an HTML comment
		}
		switch tt {
		case js.WhitespaceToken, js.CommentToken:
			pos += len(data)
			continue
		case js.LineTerminatorToken, js.CommentLineTerminatorToken:
			fresh = true
			pos += len(data)
			continue
		case js.CloseParenToken, js.CloseBracketToken, js.CloseBraceToken, js.TemplateEndToken:
			if n := len(open); n > 0 && open[n-1] == tt {
				open = open[:n-1]
			} else {
				return at, false
			}
		}
		if len(open) == 0 && fresh && startsExpression(tt) {
			at = append(at, place{pos, previous == js.SemicolonToken && len(at) > 0})
		}
		if closing := closingOf(tt); closing != 0 {
			open = append(open, closing)
		}
		fresh = tt == js.SemicolonToken || tt == js.CloseBraceToken || tt == js.CloseParenToken
		previous = tt
		pos += len(data)
	}
}

// closingOf returns the token that closes the bracket that tt opens, or 0 if it opens none.
func closingOf(tt js.TokenType) js.TokenType {
	switch tt {
	case js.OpenParenToken:
		return js.CloseParenToken
	case js.OpenBracketToken:
		return js.CloseBracketToken
	case js.OpenBraceToken:
		return js.CloseBraceToken
	case js.TemplateStartToken:
		return js.TemplateEndToken
	}
	return 0
}

// guesses reports whether endsOperand guesses after tt.
func guesses(tt js.TokenType) bool {
	switch tt {
	case js.CloseParenToken, js.CloseBraceToken, js.AwaitToken, js.YieldToken, js.OfToken:
		return true
	}
	return false
}

// startsExpression reports whether an expression can begin with tt.
func startsExpression(tt js.TokenType) bool {
	switch tt {
	case js.OpenParenToken, js.OpenBracketToken, js.OpenBraceToken, js.AddToken, js.SubToken, js.NotToken,
		js.BitNotToken, js.IncrToken, js.DecrToken:
		return true
	}
	return !js.IsPunctuator(tt) && !js.IsOperator(tt)
}

// endsOperand reports whether a slash after tt divides; otherwise it starts a regular expression. After a brace or a
// parenthesis it may be either, and endsOperand guesses. start checks the outcome.
func endsOperand(tt js.TokenType) bool {
	switch tt {
	case js.CloseParenToken, js.CloseBracketToken, js.CloseBraceToken, js.StringToken, js.TemplateToken,
		js.TemplateEndToken, js.RegExpToken,
		js.IncrToken, js.DecrToken, js.PrivateIdentifierToken, js.ThisToken, js.NullToken, js.TrueToken,
		js.FalseToken, js.SuperToken:
		return true
	}
	return js.IsNumeric(tt) || js.IsIdentifier(tt)
}
