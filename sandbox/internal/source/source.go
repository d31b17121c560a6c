package source

import (
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/scripttext"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// Source is code in the form that the engine compiles, an async function in parentheses, and the way back to the
// caller's code.
type Source struct {
	Text   string // what is compiled
	code   string // the same before the edits
	given  string // the caller's text; "" if it is not kept
	Called bool   // the value is a function to be called
	// doubtful reports that only the engine can parse the code, which might close the wrapping and open another.
	doubtful bool
	name     string // the caller's file name in stacks
	head     string // the text before the code: functionHead, mainHead or sessionHead and what follows it
	// imports are the import declarations of a step of a session.
	imports []string

	// edits are the insertions made in what was compiled, in their order. Positions before them are unchanged.
	edits []edit
	// sourceMap leads from the code before the edits to the caller's; nil when they are the same.
	sourceMap *sourceMap
	// bundle is how several files became the text; nil for a single file.
	bundle *bundle
	// from are the packages that the code may import. packages is set if the text evaluates some of them.
	from     Packages
	packages bool
	uses     uses        // of packages that are evaluated before the code
	single   *singleFile // nil for scripts and bundles
	// compiled is the compiled form of text; nil until it was compiled (cache.go).
	compiled atomic.Pointer[quickjs.Compiled]
	// skipped is how many lines of the caller's text were left out in front: a Markdown fence.
	skipped int
	// lines are the lines of code, and compiledLines those of Text.
	lines, compiledLines lineStarts
	mentions             mentions
}

// edit is an insertion of n bytes at column col (from 1) of line, which count in the text after all edits.
type edit struct{ line, col, n int }

// The value of a trailing expression is kept in a parameter and returned at the end: a statement, unlike the operand of
// a return, has a position in stack traces.
const (
	functionHead = arrowStart + "$airlock" + arrowEnd // on the line of the code: its stack traces are what guests see
	functionTail = "\n;return $airlock})"
	mainHead     = arrowStart + "$airlock, module, exports" + arrowEnd // of code that reads them
	arrowStart   = "(async ("
	arrowEnd     = ") => {"
	thisStart    = "(async function ("
	thisEnd      = ") {"
	keep         = "$airlock = "

	// Code that closes and reopens one wrapping does not fit the other.
	otherHead = "[async function ($airlock) {\n"
	otherTail = "\n}]"
)

// normalize returns the form in which a script runs, or what is wrong with it.
func normalize(code string, typescript bool, head string) (*Source, *Exception) {
	s := &Source{name: "script.js", head: head}
	if ex := checkText(code); ex != nil {
		return nil, ex
	}
	code, s.skipped = unwrap(code)
	if typescript {
		s.name = "script.ts"
		var ex *Exception
		if code, ex = s.transpile(code, api.LoaderTS); ex != nil {
			return nil, ex
		}
	}
	s.code = code
	s.shape(code)
	if !typescript && (s.doubtful && needsLowering(code) || hasForAwait(code) || hasSetsLiteral(code)) {
		lowered := &Source{name: s.name, head: head, skipped: s.skipped}
		if text, ex := lowered.transpile(code, api.LoaderJS); ex == nil {
			lowered.code = text
			lowered.shape(text)
			return lowered, nil
		}
	}
	return s, nil
}

// checkText refuses text that the engine cannot take.
func checkText(code string) *Exception {
	bad := ""
	i := strings.IndexByte(code, 0)
	if i >= 0 {
		bad = "a NUL byte is not allowed in code"
	} else if !utf8.ValidString(code) {
		bad = "code is not valid UTF-8"
		for i = 0; ; {
			r, n := utf8.DecodeRuneInString(code[i:])
			if r == utf8.RuneError && n <= 1 {
				break
			}
			i += n
		}
	}
	if bad == "" {
		return nil
	}
	line, col := lineColumn(code, i)
	return &Exception{Name: "SyntaxError", Message: bad, Line: line, Column: utf8.RuneCountInString(code[i-col+1:i]) + 1}
}

// unwrap takes code out of a Markdown fence and comments out its shebang. It returns how many lines precede the code.
func unwrap(text string) (code string, skipped int) {
	start, end := scripttext.Body(text)
	return scripttext.CommentShebang(text[start:end]), strings.Count(text[:start], "\n")
}

// shape wraps code in an async function. The engine is the judge of syntax: code that the parser here does not accept
// becomes the body of a function as it stands.
func (s *Source) shape(code string) {
	if tooDeep(code) {
		s.wrap("", "", code)
		s.doubtful = true
		return
	}
	if !s.isStep() && !needsLowering(code) {
		if at, e, ok := startByTokens(code); ok && !meansNothing(e) {
			s.wrap(code[:at], keep, code[at:]+behind(e))
			return
		}
	}
	s.shapeByTree(code)
}

// shapeByTree wraps code by its syntax tree, which takes five times as long as reading its tokens.
func (s *Source) shapeByTree(code string) {
	list, scope, ok := body(code)
	if ok && s.isStep() {
		s.keepNames(list, scope)
	}
	if ok {
		switch last, n := lastStatement(list); {
		case n == 1 && isDeclaredFunction(last) && !s.isStep():
			s.asExpression(code, true)
			return
		case n == 1 && isBlock(last):
			if e, ok := parenthesized(code); ok {
				s.asExpression(code, isFunction(e))
				return
			}
		case n >= 1:
			if e := expressionOf(last); e != nil && !meansNothing(e) {
				if at, ok := start(code, n); ok {
					s.Called = n == 1 && isFunction(e)
					s.wrap(code[:at], keep, code[at:]+behind(e))
					return
				}
			}
		}
	} else if e, ok := parenthesized(code); ok {
		s.asExpression(code, isFunction(e))
		return
	}
	s.wrap("", "", code)
	s.doubtful = !ok
}

func (s *Source) asExpression(code string, called bool) {
	s.Called = called
	s.Text = s.head + "return (" + code + "\n)" + functionTail
	s.edits = []edit{{1, 1, len(s.head + "return (")}}
}

// wrap sets the text to a function with the body before + inserted + after.
func (s *Source) wrap(before, inserted, after string) {
	s.Text = s.head + before + inserted + after + functionTail
	s.edits = []edit{{1, 1, len(s.head)}}
	if inserted != "" {
		line, col := lineColumn(s.head+before, len(s.head)+len(before))
		s.edits = append(s.edits, edit{line, col, len(inserted)})
	}
}

// position leads a position in the text (the engine counts columns in bytes) back to the caller's source, where
// columns count characters. A position in an import is at its beginning, and one elsewhere in the wrapping at the
// nearest end of the caller's code.
func (s *Source) position(line, col int) (int, int) {
	if line == 1 && col <= len(s.head) {
		if l, c, ok := s.single.positionOf(col); ok {
			return s.asGiven(l, c)
		}
	}
	for i := len(s.edits) - 1; i >= 0; i-- {
		if e := s.edits[i]; line == e.line && col >= e.col {
			col = max(col-e.n, e.col)
		}
	}
	return s.asGiven(s.inside(line, col))
}

// asGiven leads a position in the code before the edits back to the caller's text.
func (s *Source) asGiven(line, col int) (int, int) {
	if s.sourceMap != nil {
		if _, l, c, ok := s.sourceMap.source(line+s.sourceMap.above, col-1); ok {
			line, col = l, c+1
		}
	}
	return line + s.skipped, col
}

// inside clamps a position to the code and counts its column in characters.
func (s *Source) inside(line, col int) (int, int) {
	if line < 1 {
		return 1, 1
	}
	lines := s.lines.of(s.code)
	n := min(line, len(lines))
	text := s.code[lines[n-1]:]
	if n < len(lines) {
		text = s.code[lines[n-1] : lines[n]-1]
	}
	if line > n {
		col = len(text) + 1
	}
	return n, utf8.RuneCountInString(text[:min(max(col-1, 0), len(text))]) + 1
}

// lineStarts are the offsets at which the lines of a text begin. They are found when they are first asked for.
type lineStarts struct {
	once    sync.Once
	offsets []int
}

// of returns the offsets in text, which is the same at every call.
func (l *lineStarts) of(text string) []int {
	l.once.Do(func() {
		l.offsets = append(l.offsets, 0)
		for i := range len(text) {
			if text[i] == '\n' {
				l.offsets = append(l.offsets, i+1)
			}
		}
	})
	return l.offsets
}

// lineColumn returns the line and the column, in bytes, of an offset.
func lineColumn(text string, at int) (line, col int) {
	head := text[:at]
	return strings.Count(head, "\n") + 1, at - strings.LastIndexByte(head, '\n')
}

// statements parses code as the body of an async function.
func statements(code string) ([]js.IStmt, bool) {
	list, _, ok := body(code)
	return list, ok
}

// body parses code as the body of an async function. It returns the statements and what they declare.
func body(code string) ([]js.IStmt, *js.Scope, bool) {
	ast, err := parseJS("async()=>{" + code + "\n}")
	if err != nil || len(ast.List) != 1 {
		return nil, nil, false
	}
	e, ok := ast.List[0].(*js.ExprStmt)
	if !ok {
		return nil, nil, false
	}
	f, ok := e.Value.(*js.ArrowFunc)
	if !ok {
		return nil, nil, false
	}
	return f.Body.List, &f.Body.Scope, true
}

// parenthesized parses code as an expression in parentheses, and nothing else.
func parenthesized(code string) (js.IExpr, bool) {
	ast, err := parseJS("(" + code + "\n)")
	if err != nil || len(ast.List) != 1 {
		return nil, false
	}
	e, ok := ast.List[0].(*js.ExprStmt)
	if !ok {
		return nil, false
	}
	g, ok := e.Value.(*js.GroupExpr)
	if !ok {
		return nil, false
	}
	return g.X, true
}

func parseJS(code string) (*js.AST, error) {
	return js.Parse(parse.NewInputString(code), js.Options{})
}
