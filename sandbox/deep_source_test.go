package sandbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// TestDeepSource checks that source nested beyond any stack ends in an error of the guest, whichever parser meets it.
func TestDeepSource(t *testing.T) {
	e := newEngine(t)
	grants := sandbox.Grants{Limits: sandbox.Limits{Wall: 5 * time.Second}}
	for name, code := range map[string]string{
		"parentheses": strings.Repeat("(", 250_000),
		"balanced":    strings.Repeat("(", 100_000) + strings.Repeat(")", 100_000),
		"arrays":      strings.Repeat("[", 250_000),
		"blocks":      strings.Repeat("{", 250_000),
		"negations":   strings.Repeat("!", 250_000) + "1",
		"arrows":      strings.Repeat("a=>", 80_000) + "1",
		"ternaries":   strings.Repeat("a?b:", 60_000) + "1",
		"templates":   strings.Repeat("`${", 80_000),
		"types":       "let x: " + strings.Repeat("A<", 100_000),
		"assignments": strings.Repeat("a=", 120_000) + "1",
		"exports":     "export default " + strings.Repeat("(", 250_000),
	} {
		for _, typescript := range []bool{false, true} {
			r, err := e.Run(t.Context(), sandbox.Script{Code: code, TypeScript: typescript}, grants)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if r.Completed() && name != "negations" && name != "arrows" {
				t.Errorf("%s gave %s", name, r.Value)
			}
		}
	}
}
