package syntax

import (
	"errors"
	"fmt"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/scan/internal/lexer"
	"github.com/airlock-run/airlock/policy/scripttext"
)

// A Tree is a parsed program and the text that its names are slices of.
type Tree struct {
	List []js.IStmt
	Buf  []byte
	Text string
	// Place maps an offset in Text to one in the caller's code. Nil means that they are the same.
	Place func(int) int
	// Transformed reports that esbuild accepted the caller's code and that the tree is of what it generated.
	Transformed bool
}

// ParseTree parses code of any shape that executions accept: statements as in the body of an async function, a module,
// or one expression that is only valid in parentheses. The error is the parser's, or says that it gave up.
func ParseTree(o *Outline, b *cost.Budget) (*Tree, error) {
	text := scripttext.CommentShebang(o.Src)
	if !o.parseable() || !o.worthParsing(b) {
		return nil, errTooMuch
	}
	t, err := parseText(text, "", "", o.module)
	switch {
	case err == nil:
		return t, nil
	case !o.module && !mayBeExpression(text):
		return nil, err
	case !o.worthParsing(b):
		return nil, errTooMuch
	case o.module:
		return parseText(text, "", "", false)
	}
	if t, err := parseText(text, "(", "\n)", false); err == nil {
		return t, nil
	}
	return nil, err
}

var errTooMuch = errors.New("a scan may not take more work")

// mayBeExpression reports whether code may be valid in parentheses though it is not as statements: an object literal,
// or a function or class without a name.
func mayBeExpression(text string) bool {
	l := lexer.New(text)
	switch l.Text(l.Next()) {
	case "{", "function", "async", "class":
		return true
	}
	return false
}

// parseText parses prefix+text+suffix. The input is hostile and the parser a library, so a panic becomes an error.
func parseText(text, prefix, suffix string, module bool) (t *Tree, err error) {
	defer func() {
		if r := recover(); r != nil {
			t, err = nil, fmt.Errorf("the parser failed: %v", r)
		}
	}()
	n := len(prefix) + len(text) + len(suffix)
	if n == 0 {
		return &Tree{}, nil
	}
	buf := make([]byte, 0, n+1)
	buf = append(append(append(buf, prefix...), text...), suffix...)
	ast, err := js.Parse(parse.NewInputBytes(buf), js.Options{Inline: !module})
	if err != nil {
		return nil, err
	}
	if ast == nil {
		return nil, errors.New("the parser returned nothing")
	}
	t = &Tree{List: ast.List, Buf: buf, Text: text}
	if prefix != "" {
		t.Text = string(buf)
		t.Place = func(offset int) int { return max(0, offset-len(prefix)) }
	}
	return t, nil
}
