package source

import (
	"strings"

	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/sandbox/internal/wording"
)

// joinLabels lets a continue statement that names the outer one of two labels on the same loop name the inner one. Both
// the engine and esbuild know only that one. The code stays as it is if the labels cannot be told apart.
func joinLabels(code string) string {
	if !adjacentLabels(code) {
		return code
	}
	tokens := significant(code)
	inner := map[string]string{}
	for i := range tokens {
		last := i
		for isLabel(tokens, last) && isLabel(tokens, last+2) {
			last += 2
		}
		if !isLabel(tokens, last) || !startsLoop(at(tokens, last+2).kind) {
			continue
		}
		if as, ok := inner[tokens[i].text]; ok && as != tokens[last].text {
			return code
		}
		inner[tokens[i].text] = tokens[last].text
	}
	var out strings.Builder
	from := 0
	for i, t := range tokens {
		if as, ok := inner[t.text]; ok && as != t.text && i > 0 && tokens[i-1].kind == js.ContinueToken && !t.fresh {
			out.WriteString(code[from:t.from] + as)
			from = t.to
		}
	}
	return out.String() + code[from:]
}

// adjacentLabels reports in linear time whether there may be a loop with two labels: a name between two colons, and a
// word that starts a loop.
func adjacentLabels(code string) bool {
	between := false // only a name and white space follow the last colon
	for i := 0; i < len(code); i++ {
		switch c := code[i]; {
		case c == ':':
			rest := strings.TrimLeft(code[i+1:min(i+1+around, len(code))], " \t\n\r")
			for _, word := range [...]string{"for", "while", "do"} {
				if between && strings.HasPrefix(rest, word) {
					return true
				}
			}
			between = true
		case !wording.IsName(c) && c != ' ' && c != '\t' && c != '\n' && c != '\r':
			between = false
		}
	}
	return false
}

// isLabel reports whether tokens[i] and what follows may be a label: a name and a colon.
func isLabel(tokens []token, i int) bool {
	return js.IsIdentifier(at(tokens, i).kind) && at(tokens, i+1).kind == js.ColonToken
}

func startsLoop(kind js.TokenType) bool {
	return kind == js.ForToken || kind == js.WhileToken || kind == js.DoToken
}
