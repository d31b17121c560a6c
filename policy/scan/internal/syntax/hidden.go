package syntax

import (
	"strings"

	"github.com/airlock-run/airlock/policy/scan/internal/lexer"
)

// manyEscapes is the number of needlessly escaped characters from which a string counts as hidden.
const manyEscapes = 8

// escaped records a word or string that hides plain ASCII letters or digits behind escapes.
func (o *Outline) escaped(offset int, text string, ident bool) {
	if len(o.Escapes) >= maxEscapeReports || strings.IndexByte(text, '\\') < 0 {
		return
	}
	plain, hidden := lexer.Unescape(text)
	switch {
	case hidden == 0:
	case ident:
		o.Escapes = append(o.Escapes, Escape{offset, true, plain})
	default:
		content := strings.Trim(plain, "\"'`")
		if hidden >= manyEscapes || lexer.IsIdentifier(content) && len(content) > 1 || hidesPower(content) {
			o.Escapes = append(o.Escapes, Escape{offset, false, content})
		}
	}
}

// hidesPower reports whether text contains the name of a power.
func hidesPower(s string) bool {
	for _, w := range [...]string{"eval", "Function", "constructor", "__proto__", "prototype", "process", "require",
		"import",
		"exec", "spawn", "fetch", "globalThis", "WebAssembly"} {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
