package source

import (
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

// exporting makes a script of a module's text: it removes the word export from declarations, and keeps the default
// export in the parameter of the function.
type exporting struct {
	code   string
	tokens []token
	ends   []int // for each opening bracket, the index of the token that closes it
	depths []int // for each token, how many brackets are open before it

	cuts   []cut
	names  map[string]bool // what is exported
	tail   string          // what follows the code
	called bool            // the default export is a function or a class
}

// cut is a stretch of code with what takes its place. The text is longer than the stretch by n bytes, or as long.
type cut struct {
	span
	text string
}

const exportDefault = "export default"

// fill sets the text of s to that of a module with export declarations, and reports whether it could.
func (x *exporting) fill(s *Source) bool {
	code := x.code
	if strings.Contains(code, "<!--") || strings.Contains(code, "-->") || !x.pair() || !x.declarations() {
		return false
	}
	for i, t := range x.tokens {
		if t.kind == js.ExportToken && x.depths[i] == 0 && !x.isMember(i) && !x.export(i) {
			return false
		}
	}
	if _, certain := boundaries(code); !certain {
		return false
	}
	if x.mentions("handler") {
		if !x.names["handler"] && !x.called {
			return false // it may be exported in another way
		}
	}
	if x.names["handler"] {
		x.tail += "if (typeof $airlock !== 'function' && typeof handler === 'function') $airlock = handler; "
	}
	s.Called, s.code = true, code
	text, from := strings.Builder{}, 0
	text.WriteString(s.head)
	s.edits = []edit{{1, 1, len(s.head)}}
	for _, c := range x.cuts {
		text.WriteString(code[from:c.from] + c.text)
		from = c.to
		if n := len(c.text) - (c.to - c.from); n > 0 {
			line, col := lineColumn(text.String(), text.Len())
			s.edits = append(s.edits, edit{line, col - n, n})
		}
	}
	s.Text = text.String() + code[from:] + "\n;" + x.tail + strings.TrimPrefix(functionTail, "\n;")
	return true
}

// commonJSTail leaves what a CommonJS module exports: a default export that it was compiled from, a handler, or all.
const commonJSTail = "{ const all = module.exports, made = all?.__esModule && 'default' in all ? all.default : all; " +
	"$airlock = typeof made !== 'function' && typeof all?.handler === 'function' ? all.handler : made; } "

// fillCommonJS sets the text of s to that of a CommonJS module, and reports whether it could.
func (x *exporting) fillCommonJS(s *Source) bool {
	if _, certain := boundaries(x.code); !certain || !x.pair() {
		return false
	}
	for i, t := range x.tokens {
		if t.kind == js.AwaitToken && x.depths[i] == 0 {
			return false // of a module that esbuild takes for an ES module
		}
	}
	s.Called, s.code = true, x.code
	s.Text = s.head + x.code + "\n;" + commonJSTail + strings.TrimPrefix(functionTail, "\n;")
	s.edits = []edit{{1, 1, len(s.head)}}
	return true
}

// pair finds which brackets belong together, and what is in functions. It reports false for brackets that do not
// match, and for a return outside functions, which no module may have.
func (x *exporting) pair() bool {
	x.ends, x.depths = make([]int, len(x.tokens)), make([]int, len(x.tokens))
	type bracket struct {
		at                int
		closing           js.TokenType
		control, function bool // a parenthesis is the head of a statement; a brace is in a function
	}
	var open []bracket
	closed := false // whether the parenthesis closed last is the head of a statement
	for i, t := range x.tokens {
		switch t.kind {
		case js.CloseParenToken, js.CloseBracketToken, js.CloseBraceToken, js.TemplateEndToken:
			last := len(open) - 1
			if last < 0 || open[last].closing != t.kind {
				return false
			}
			closed = open[last].control
			x.ends[open[last].at] = i
			open = open[:last]
		}
		x.depths[i] = len(open)
		if closing := closingOf(t.kind); closing != 0 {
			b := bracket{at: i, closing: closing, function: len(open) > 0 && open[len(open)-1].function}
			if i > 0 {
				switch before := x.tokens[i-1].kind; before {
				case js.IfToken, js.ForToken, js.WhileToken, js.WithToken, js.SwitchToken, js.CatchToken, js.AwaitToken:
					b.control = t.kind == js.OpenParenToken
				case js.CloseParenToken:
					b.function = b.function || t.kind == js.OpenBraceToken && !closed
				case js.ArrowToken:
					b.function = b.function || t.kind == js.OpenBraceToken
				}
			}
			open = append(open, b)
		}
		if t.kind == js.ReturnToken && (len(open) == 0 || !open[len(open)-1].function) && !x.isMember(i) {
			return false
		}
	}
	return len(open) == 0
}

// isMember reports whether the token at i is the name of a property.
func (x *exporting) isMember(i int) bool {
	if at(x.tokens, i+1).kind == js.ColonToken {
		return true
	}
	return i > 0 && (x.tokens[i-1].kind == js.DotToken || x.tokens[i-1].kind == js.OptChainToken)
}

// declarations reports whether no function has the name of another, or of a variable: the body of a function may
// declare a name twice where a module may not.
func (x *exporting) declarations() bool {
	functions, variables := map[string]bool{}, map[string]bool{}
	for i, t := range x.tokens {
		if x.depths[i] > 0 || x.isMember(i) {
			continue
		}
		next := at(x.tokens, i+1)
		switch t.kind {
		case js.FunctionToken:
			if next.kind == js.MulToken {
				next = at(x.tokens, i+2)
			}
			if functions[next.text] && next.kind != js.OpenParenToken {
				return false
			}
			functions[next.text] = true
		case js.VarToken:
			variables[next.text] = true
		}
	}
	for name := range variables {
		if functions[name] {
			return false
		}
	}
	return true
}

func (x *exporting) mentions(name string) bool {
	for _, t := range x.tokens {
		if t.text == name {
			return true
		}
	}
	return false
}

// export cuts the export declaration at i, and reports whether it is one that it knows.
func (x *exporting) export(i int) bool {
	t, next := x.tokens[i], at(x.tokens, i+1)
	if !beginsStatement(x.tokens, i) {
		return false
	}
	switch next.kind {
	case js.DefaultToken:
		return x.code[t.from:next.to] == exportDefault && x.exported("default") && x.exportDefault(i)
	case js.ConstToken, js.VarToken, js.LetToken:
		name := at(x.tokens, i+2)
		return js.IsIdentifier(name.kind) && x.exported(name.text) && x.blank(t)
	case js.AsyncToken, js.FunctionToken, js.ClassToken:
		_, name := x.named(i + 1)
		return name != "" && x.exported(name) && x.blank(t)
	}
	return false
}

// exported notes an exported name, and reports whether it is the only one of that name.
func (x *exporting) exported(name string) bool {
	if x.names[name] {
		return false
	}
	x.names[name] = true
	return true
}

// blank replaces a token by spaces.
func (x *exporting) blank(t token) bool {
	x.cuts = append(x.cuts, cut{span{t.from, t.to}, strings.Repeat(" ", t.to-t.from)})
	return true
}

// named returns the index behind the words of a function or class declaration at i and, if it has a name, the name.
// The index is 0 if there is no such declaration.
func (x *exporting) named(i int) (behind int, name string) {
	switch x.tokens[i].kind {
	case js.AsyncToken:
		if next := at(x.tokens, i+1); next.kind != js.FunctionToken || next.fresh {
			return 0, ""
		}
		return x.named(i + 1)
	case js.FunctionToken:
		if at(x.tokens, i+1).kind == js.MulToken {
			i++
		}
	case js.ClassToken:
	default:
		return 0, ""
	}
	if t := at(x.tokens, i+1); js.IsIdentifier(t.kind) {
		return i + 2, t.text
	}
	return i + 1, ""
}

// What an exported expression is put between, so that a function without a name is called "default".
const (
	beforeDefault = "$airlock = {default:"
	behindDefault = "}.default;"
)

// exportDefault cuts the default export at i.
func (x *exporting) exportDefault(i int) bool {
	from := i + 2
	if from >= len(x.tokens) {
		return false
	}
	behind, name := x.named(from)
	x.called = behind > 0
	if name != "" {
		x.tail = "$airlock = " + name + "; " + x.tail
		return x.blank(x.tokens[i]) && x.blank(x.tokens[i+1])
	}
	end, ok := 0, false
	if behind > 0 {
		end, ok = x.bodyEnd(behind)
	} else {
		end, ok = x.expressionEnd(from)
	}
	if !ok {
		return false
	}
	x.cuts = append(x.cuts, cut{span{x.tokens[i].from, x.tokens[i+1].to}, beforeDefault},
		cut{span{end, end}, behindDefault})
	return true
}

// bodyEnd returns where the declaration ends whose parameters, or whose body, open at i.
func (x *exporting) bodyEnd(i int) (end int, ok bool) {
	if at(x.tokens, i).kind == js.OpenParenToken {
		i = x.ends[i] + 1
	}
	if at(x.tokens, i).kind != js.OpenBraceToken {
		return 0, false // a class that extends another
	}
	return x.tokens[x.ends[i]].to, true
}

// expressionEnd returns where the expression ends that begins at i: at a semicolon, or at the end of the code.
func (x *exporting) expressionEnd(i int) (end int, ok bool) {
	for j := i; j < len(x.tokens); j++ {
		switch t := x.tokens[j]; {
		case x.depths[j] > 0:
		case t.kind == js.SemicolonToken:
			return x.tokens[j-1].to, j > i
		case t.kind == js.CommaToken, t.fresh && j > i && startsExpression(t.kind):
			return 0, false // another statement may have begun
		}
	}
	return x.tokens[len(x.tokens)-1].to, true
}
