package scan

import (
	"strings"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/go-sourcemap/sourcemap"

	"github.com/airlock-run/airlock/policy/scripttext"
	"github.com/airlock-run/airlock/policy/threat"
)

// wrapping makes code of one shape a program.
type wrapping struct{ prefix, suffix string }

// wrappings gives the shapes to try in turn: a module as it is; else the body of an async function, then an expression.
func wrappings(module bool) []wrapping {
	if module {
		return []wrapping{{}}
	}
	return []wrapping{{"(async function(){", "\n})"}, {"(", "\n)"}}
}

// transform has esbuild turn TypeScript, or JavaScript that the tree parser does not take, into plain JavaScript with a map
// back. The error is the caller's syntax error; of several shapes' errors it is the one that got furthest.
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
		options := api.TransformOptions{Loader: loader, Target: api.ES2022, LogLevel: api.LogLevelSilent, LogLimit: 1, SourcesContent: api.SourcesContentExclude,
			Charset: api.CharsetUTF8, Supported: map[string]bool{"import-attributes": false}}
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

// syntaxError places an error in the caller's code. What the wrapping itself is blamed for is that the code ends.
func syntaxError(m api.Message, code string, prefix int) *threat.SyntaxError {
	e := &threat.SyntaxError{Message: m.Text, Line: 1, Column: 1}
	if m.Location == nil {
		return e
	}
	src := source{text: code}
	if src.index(); m.Location.Line > len(src.lines) && (strings.HasPrefix(m.Text, "Unexpected ") || strings.HasPrefix(m.Text, "Expected ")) {
		e.Message = "Unexpected end of file"
	}
	column := m.Location.Column
	if m.Location.Line == 1 {
		column -= prefix
	}
	e.Line, e.Column = src.position(src.offset(m.Location.Line, column))
	return e
}

// generated is code that esbuild made, with the way back.
type generated struct {
	code   string
	rawMap []byte
	prefix int
	parsed *sourcemap.Consumer
	broken bool
}

// place returns the function from offsets in the generated code to offsets in the caller's. Columns of the map count UTF-16 units.
func (g *generated) place(caller string) func(int) int {
	original := &source{text: caller}
	made := &source{text: g.code}
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
