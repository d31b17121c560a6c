package syntax

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/airlock-run/airlock/policy/threat"
)

// A Source is one text as the caller wrote it. Offsets are in bytes.
type Source struct {
	text string
	// lines holds the offset of the first byte of each line. It is built for the first position.
	lines []int
	gauge gauge
}

// NewSource returns a source of the text.
func NewSource(text string) *Source { return &Source{text: text} }

// line returns the line of an offset, counting from 1.
func (s *Source) line(offset int) int {
	s.index()
	return sort.SearchInts(s.lines, max(0, min(offset, len(s.text)))+1)
}

// Position returns line and column (in characters) of an offset, counting from 1.
func (s *Source) Position(offset int) (line, column int) {
	offset = max(0, min(offset, len(s.text)))
	line = s.line(offset)
	before, _ := s.gauge.measure(s.text, s.lines[line-1])
	chars, _ := s.gauge.measure(s.text, offset)
	return line, 1 + chars - before
}

// offset returns the offset of a line, and of a column counted in bytes from 0. Outside the text it returns the
// nearest.
func (s *Source) offset(line, column int) int {
	s.index()
	if line < 1 {
		return 0
	}
	if line > len(s.lines) {
		return len(s.text)
	}
	return min(s.lines[line-1]+max(column, 0), len(s.text))
}

// unitsTo returns the UTF-16 units between the start of a line and an offset in it.
func (s *Source) unitsTo(start, offset int) int {
	_, before := s.gauge.measure(s.text, start)
	_, units := s.gauge.measure(s.text, offset)
	return units - before
}

// unitsIn returns the offset that is so many UTF-16 units behind the start of a line, or the end of the line.
func (s *Source) unitsIn(start, units int) int {
	end := len(s.text)
	if n := s.line(start); n < len(s.lines) {
		end = s.lines[n]
	}
	_, before := s.gauge.measure(s.text, start)
	return min(max(s.gauge.find(s.text, before+units), start), end)
}

// At returns the offset of a syntax error's position.
func (s *Source) At(e *threat.SyntaxError) int {
	start := s.offset(e.Line, 0)
	for range e.Column - 1 {
		_, n := utf8.DecodeRuneInString(s.text[start:])
		start += n
	}
	return start
}

// index finds the lines. They end as in JavaScript: LF, CR LF, CR, LINE SEPARATOR and PARAGRAPH SEPARATOR.
func (s *Source) index() {
	if s.lines != nil {
		return
	}
	s.lines = append(make([]int, 0, 1+strings.Count(s.text, "\n")), 0)
	for i := 0; i < len(s.text); i++ {
		switch s.text[i] {
		case '\r':
			if i+1 < len(s.text) && s.text[i+1] == '\n' {
				i++
			}
			fallthrough
		case '\n':
			s.lines = append(s.lines, i+1)
		case separator[0]:
			if rest := s.text[i+1:]; strings.HasPrefix(rest, separator[1:]) && len(rest) > 1 && rest[1]&^1 == 0xa8 {
				i += 2
				s.lines = append(s.lines, i+1)
			}
		}
	}
}

// separator is the common prefix of U+2028 and U+2029. Their last byte is 0xa8 or 0xa9.
const separator = "\xe2\x80"

// gauge measures a text in characters and in UTF-16 units. It counts the text once. After that an answer takes at most
// gaugeStep bytes, however long the lines are.
type gauge struct{ marks []gaugeMark }

// gaugeMark counts the characters and UTF-16 units before an offset.
type gaugeMark struct{ chars, units int }

const gaugeStep = 256

func (m *gaugeMark) add(c byte) {
	if utf8.RuneStart(c) {
		m.chars++
		if m.units++; c >= 0xf0 {
			m.units++
		}
	}
}

func (g *gauge) fill(text string) {
	if g.marks != nil {
		return
	}
	g.marks = make([]gaugeMark, 0, 1+len(text)/gaugeStep)
	var m gaugeMark
	for i := range len(text) {
		if i%gaugeStep == 0 {
			g.marks = append(g.marks, m)
		}
		m.add(text[i])
	}
	if len(text)%gaugeStep == 0 {
		g.marks = append(g.marks, m)
	}
}

// measure returns the characters and the UTF-16 units before an offset.
func (g *gauge) measure(text string, offset int) (chars, units int) {
	g.fill(text)
	m := g.marks[offset/gaugeStep]
	for i := offset / gaugeStep * gaugeStep; i < offset; i++ {
		m.add(text[i])
	}
	return m.chars, m.units
}

// find returns the offset of the character before which there are so many units.
func (g *gauge) find(text string, units int) int {
	g.fill(text)
	n := max(sort.Search(len(g.marks), func(i int) bool { return g.marks[i].units > units })-1, 0)
	m, i := g.marks[n], n*gaugeStep
	for i < len(text) && (m.units < units || !utf8.RuneStart(text[i])) {
		m.add(text[i])
		i++
	}
	return i
}

const excerptChars = 80

// Excerpt returns the line around an offset, trimmed and cut to about 80 characters, with an ellipsis at each cut.
func (s *Source) Excerpt(offset int) string {
	s.index()
	offset = max(0, min(offset, len(s.text)))
	n := sort.SearchInts(s.lines, offset+1)
	start, end := s.lines[n-1], len(s.text)
	if n < len(s.lines) {
		end = s.lines[n]
	}
	head, tail := "", ""
	if offset-start > excerptChars/2 && end-start > excerptChars {
		start, head = runeStart(s.text, offset-excerptChars/4), "…"
	}
	if end-start > excerptChars {
		end, tail = runeStart(s.text, start+excerptChars), "…"
	}
	return head + strings.TrimSpace(strings.ToValidUTF8(s.text[start:end], "\ufffd")) + tail
}

func runeStart(s string, i int) int {
	for j := i; j > i-utf8.UTFMax && j > 0; j-- {
		if utf8.RuneStart(s[j]) {
			return j
		}
	}
	return i
}
