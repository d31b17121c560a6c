package execution

import (
	"unicode"

	"github.com/airlock-run/airlock/policy/toolname"
)

// checkGlobal returns an error if a context entry may not become a global of that name.
func checkGlobal(name string) *Error {
	field := "context." + clip(name, 80)
	switch {
	case name == "" || len(name) > 256 || !identifier(name):
		return invalid(field, "is not a JavaScript identifier; context keys become globals")
	case toolname.Reserved(name):
		return invalid(field, "would shadow a name of the language or of the sandbox; choose another key")
	}
	return nil
}

// identifier reports whether s is an ECMAScript IdentifierName written without escapes.
func identifier(s string) bool {
	for i, r := range s {
		start := r == '$' || r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) ||
			unicode.Is(unicode.Other_ID_Start, r)
		if start {
			continue
		}
		part := unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Mc, r) || unicode.IsDigit(r) || unicode.Is(unicode.Pc, r) ||
			unicode.Is(unicode.Other_ID_Continue, r) || r == '\u200c' || r == '\u200d'
		if i == 0 || !part {
			return false
		}
	}
	return s != ""
}

// FreeGlobal reports whether a name may be a namespace of tools: an identifier that neither the language nor the
// sandbox uses.
func FreeGlobal(name string) bool {
	return checkGlobal(name) == nil && toolname.Check(name+":method") == nil
}
