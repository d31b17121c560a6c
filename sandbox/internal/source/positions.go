package source

import (
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/go-sourcemap/sourcemap"
)

// sourceMap is a source map of esbuild's. It is parsed when the first position is asked for, which most runs never do.
type sourceMap struct {
	text   []byte
	above  int // the lines that were printed above the code
	once   sync.Once
	parsed *sourcemap.Consumer
}

// source returns what a line (from 1) and a column (from 0) of the printed text come from.
func (m *sourceMap) source(line, col int) (name string, l, c int, ok bool) {
	m.once.Do(func() {
		m.parsed, _ = sourcemap.Parse("", m.text) // esbuild's maps can be parsed; without one, no position is known
		m.text = nil
	})
	if m.parsed == nil {
		return "", 0, 0, false
	}
	name, _, l, c, ok = m.parsed.Source(line, col)
	return name, l, c, ok
}

// origin leads a position in the text back to the caller's files. ok is false for positions that are not the
// caller's.
func (s *Source) origin(line, col int) (file string, l, c int, ok bool) {
	b := s.bundle
	if b == nil {
		if line == 1 {
			col++ // the engine counts columns of the first line from 0
		}
		l, c = s.position(line, col)
		return s.name, l, c, true
	}
	if b.sourceMap == nil { // of packages
		return "", 0, 0, false
	}
	name, l, c, ok := b.sourceMap.source(line-1, max(col-1, 0))
	if !ok {
		return "", 0, 0, false
	}
	namespace, p, _ := strings.Cut(name, ":")
	switch namespace {
	case ofScript:
		if b.shaped { // the map counts UTF-16 units, and the edits bytes
			c = bytesBefore(lineOf(b.code, l), c)
		}
		l, c, ok = b.inScript(l, c+1, b.lines)
		return s.name, l, c, ok
	case ofFile:
		return p, l, c + 1, true
	}
	return "", 0, 0, false
}

// position is a line and a column, in bytes, of a text. Both count from 1.
type position struct{ line, col int }

// positionsOf returns where spans of a text begin, which are in the order of the text. It reads the text once.
func positionsOf(text string, spans []span) []position {
	out := make([]position, len(spans))
	at, line, start := 0, 1, 0
	for i, s := range spans {
		line += strings.Count(text[at:s.from], "\n")
		if last := strings.LastIndexByte(text[at:s.from], '\n'); last >= 0 {
			start = at + last + 1
		}
		at = s.from
		out[i] = position{line, s.from - start + 1}
	}
	return out
}

// lineOf returns text from the beginning of its line n, and "" if it has fewer lines.
func lineOf(text string, n int) string {
	for ; n > 1; n-- {
		at := strings.IndexByte(text, '\n')
		if at < 0 {
			return ""
		}
		text = text[at+1:]
	}
	return text
}

// inScript leads a position in the bundled code, below so many lines of imports, back to the script's own.
func (b *bundle) inScript(line, col, lines int) (int, int, bool) {
	s := b.source
	switch {
	case !b.shaped:
		return line + s.skipped, col, true
	case line > lines:
		line, col = s.position(line-lines, col)
		return line, col, true
	}
	skipped := s.skipped
	if s.sourceMap != nil {
		if _, l, c, ok := s.sourceMap.source(line, col-1); ok {
			line, col = l, c+1
		}
		for _, h := range b.head {
			skipped += strings.Count(h.text, "\n") + 1
		}
		skipped++ // the line that opens the function
	}
	return b.inHead(line, col, skipped)
}

// inHead leads a position in the imports, which were put below one another, back to where they stood.
func (b *bundle) inHead(line, col, skipped int) (int, int, bool) {
	for _, h := range b.head {
		n := strings.Count(h.text, "\n") + 1
		if line > n {
			line -= n
			continue
		}
		if line == 1 {
			col += h.col - 1
		}
		return h.line + line - 1 + skipped, col, true
	}
	return 0, 0, false
}

// exception converts an error of esbuild. lines is how many lines precede the script's own code.
func (b *bundle) exception(m api.Message, lines int) *Exception {
	ex := &Exception{Name: "SyntaxError", Message: plainMessage(m.Text)}
	if _, ok := m.Detail.(notFound); ok {
		ex.Name = "Error"
	}
	if m.Location == nil {
		return ex
	}
	ex.Message = plainMessage(b.notExported(m.Text, m.Location.File))
	ex.Line, ex.Column = m.Location.Line, m.Location.Column+1
	namespace, p, ok := strings.Cut(m.Location.File, ":")
	switch {
	case ok && namespace == ofFile:
		ex.File = p
		return ex
	case ok && namespace != ofScript:
		ex.Line, ex.Column = 0, 0
		return ex
	}
	ex.File = b.source.name
	ex.Line, ex.Column = b.errorAt(ex.Line, ex.Column, lines)
	return ex
}

func (b *bundle) errorAt(line, col, lines int) (int, int) {
	s := b.source
	if !b.shaped && b.code != "" {
		return line + s.skipped, col
	}
	if b.code == "" { // the types are being removed: imports, an added line, and the code as it is
		if line > lines {
			return line - lines + s.skipped, col
		}
		line, col, _ = b.inHead(line, col, s.skipped)
		return line, col
	}
	line, col, _ = b.inScript(line, col, lines)
	return line, col
}

// plainMessage removes the namespaces of the bundle from esbuild's wording.
func plainMessage(text string) string {
	for _, namespace := range []string{ofScript, ofFile, ofNode, ofMissing, ofStart} {
		text = strings.ReplaceAll(text, namespace+":", "")
	}
	return text
}
