package scan

import "strings"

// manyEscapes is how many plainly writable characters a string may escape before it counts as hidden on purpose.
const manyEscapes = 8

// escaped records a word or string that hides plain ASCII letters or digits behind escapes.
func (o *outline) escaped(offset int, text string, ident bool) {
	if len(o.escapes) >= maxEscapeReports || strings.IndexByte(text, '\\') < 0 {
		return
	}
	plain, hidden := unescape(text)
	switch {
	case hidden == 0:
	case ident:
		o.escapes = append(o.escapes, escape{offset, true, plain})
	default:
		content := strings.Trim(plain, "\"'`")
		if hidden >= manyEscapes || isIdentifier(content) && len(content) > 1 || hidesPower(content) {
			o.escapes = append(o.escapes, escape{offset, false, content})
		}
	}
}

// hidesPower reports whether text names something worth hiding.
func hidesPower(s string) bool {
	for _, w := range [...]string{"eval", "Function", "constructor", "__proto__", "prototype", "process", "require", "import",
		"exec", "spawn", "fetch", "globalThis", "WebAssembly"} {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
