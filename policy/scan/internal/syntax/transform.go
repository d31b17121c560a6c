package syntax

import (
	"strings"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/go-sourcemap/sourcemap"
	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/scripttext"
	"github.com/airlock-run/airlock/policy/threat"
)

// Parse parses one source. Unless direct is set, TypeScript and what the tree parser does not accept go through
// esbuild. The tree is nil if nothing accepts the code. costly then reports that esbuild would take too much work.
func Parse(o *Outline, language string, direct bool, b *cost.Budget) (t *Tree, err *threat.SyntaxError, costly bool) {
	if language != scripttext.TypeScript && language != scripttext.TSX {
		// The reason of the tree parser does not matter: esbuild accepts the code, or its error is the one to show.
		t, _ = ParseTree(o, b)
	}
	if t != nil || direct {
		return t, nil, false
	}
	if !o.transformable() || !b.Take(o.transformWork()) {
		return nil, nil, true
	}
	t, err = transformTree(o, language, b)
	return t, err, false
}

// transformTree parses code with esbuild.
func transformTree(o *Outline, language string, b *cost.Budget) (*Tree, *threat.SyntaxError) {
	g, syntax := transform(o.Src, language, o.module, true)
	if g == nil {
		return nil, syntax
	}
	made := OutlineOf(g.code)
	made.module = o.module
	if !b.Take(made.tokens * cost.OutlineWork) {
		return nil, nil
	}
	t, err := ParseTree(&made, b)
	if err != nil {
		return nil, nil
	}
	t.Transformed = true
	inner := t.Place
	outer := g.place(o.Src)
	t.Place = func(offset int) int {
		if inner != nil {
			offset = inner(offset)
		}
		return outer(offset)
	}
	if g.prefix > 1 {
		t.List = unwrapped(t.List)
	}
	return t, nil
}

// unwrapped returns the statements inside the function that wrapping put around the program.
func unwrapped(list []js.IStmt) []js.IStmt {
	if len(list) != 1 {
		return list
	}
	s, ok := list[0].(*js.ExprStmt)
	if !ok {
		return list
	}
	g, ok := s.Value.(*js.GroupExpr)
	if !ok {
		return list
	}
	if f, ok := g.X.(*js.FuncDecl); ok {
		return f.Body.List
	}
	return list
}

// ErrorIn returns the syntax error of one source, unless the search takes more work than is left.
func ErrorIn(code, language string, b *cost.Budget) *threat.SyntaxError {
	start, end := scripttext.Body(code)
	text := code[start:end]
	o := OutlineOf(text)
	if !o.transformable() || !b.Take(o.transformWork()) {
		return nil
	}
	_, syntax := transform(text, language, o.module, false)
	if syntax == nil {
		return nil
	}
	src := NewSource(code)
	return Moved(syntax, src, text, start)
}

// Moved returns a syntax error of the code inside fences with its place in the source around them.
func Moved(e *threat.SyntaxError, src *Source, text string, start int) *threat.SyntaxError {
	inner := Source{text: text}
	at := inner.offset(e.Line, 0)
	line, _ := src.Position(start + at)
	return &threat.SyntaxError{Message: e.Message, Line: line, Column: e.Column}
}

// wrapping turns code of one shape into a program.
type wrapping struct{ prefix, suffix string }

// wrappings returns the shapes to try in turn: a module as it is; otherwise the body of an async function, then an
// expression.
func wrappings(module bool) []wrapping {
	if module {
		return []wrapping{{}}
	}
	return []wrapping{{"(async function(){", "\n})"}, {"(", "\n)"}}
}

// transform returns TypeScript, or JavaScript that the tree parser does not accept, as plain JavaScript with a map
// back. The error is the caller's syntax error: of several shapes, that of the one that got furthest.
func transform(code, language string, module, mapped bool) (*generated, *threat.SyntaxError) {
	loader := api.LoaderJS
	switch language {
	case scripttext.TypeScript:
		loader = api.LoaderTS
	case scripttext.TSX:
		loader = api.LoaderTSX
	case scripttext.JSX:
		loader = api.LoaderJSX
	}
	code = scripttext.CommentShebang(code) // a shebang behind the wrapping would be an error
	var worst *threat.SyntaxError
	for _, wrap := range wrappings(module) {
		options := api.TransformOptions{Loader: loader, Target: api.ES2022, LogLevel: api.LogLevelSilent, LogLimit: 1,
			SourcesContent: api.SourcesContentExclude,
			Charset:        api.CharsetUTF8, Supported: map[string]bool{"import-attributes": false}}
		if mapped {
			options.Sourcemap = api.SourceMapExternal
		}
		r := api.Transform(wrap.prefix+code+wrap.suffix, options)
		if len(r.Errors) == 0 {
			return &generated{code: string(r.Code), rawMap: r.Map, prefix: len(wrap.prefix)}, nil
		}
		if e := syntaxError(r.Errors[0], code, len(wrap.prefix)); worst == nil || e.Line > worst.Line ||
			e.Line == worst.Line && e.Column > worst.Column {
			worst = e
		}
	}
	return nil, worst
}

// syntaxError returns an error with its place in the caller's code. An error in the wrapping means that the code ended.
func syntaxError(m api.Message, code string, prefix int) *threat.SyntaxError {
	e := &threat.SyntaxError{Message: m.Text, Line: 1, Column: 1}
	if m.Location == nil {
		return e
	}
	src := Source{text: code}
	if src.index(); m.Location.Line > len(src.lines) &&
		(strings.HasPrefix(m.Text, "Unexpected ") || strings.HasPrefix(m.Text, "Expected ")) {
		e.Message = "Unexpected end of file"
	}
	column := m.Location.Column
	if m.Location.Line == 1 {
		column -= prefix
	}
	e.Line, e.Column = src.Position(src.offset(m.Location.Line, column))
	return e
}

// generated is code that esbuild generated, with the map back.
type generated struct {
	code   string
	rawMap []byte
	prefix int
	parsed *sourcemap.Consumer
	broken bool
}

// place returns the function from offsets in the generated code to those in the caller's. Columns of the map count
// UTF-16 units.
func (g *generated) place(caller string) func(int) int {
	original := &Source{text: caller}
	made := &Source{text: g.code}
	return func(offset int) int {
		if g.parsed == nil && !g.broken {
			consumer, err := sourcemap.Parse("", g.rawMap)
			g.parsed, g.broken = consumer, err != nil
		}
		if g.broken {
			return 0
		}
		line := made.line(offset)
		start := made.lines[line-1]
		_, _, ol, oc, ok := g.parsed.Source(line, made.unitsTo(start, min(max(offset, start), len(g.code))))
		if !ok {
			return 0
		}
		if ol == 1 {
			oc = max(0, oc-g.prefix)
		}
		return original.unitsIn(original.offset(ol, 0), oc)
	}
}
