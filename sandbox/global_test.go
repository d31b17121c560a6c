package sandbox_test

import (
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
	"github.com/airlock-run/airlock/sandbox/internal/raw"
)

// Timers of a program of global scripts fire.
func TestTimersOfGlobalPrograms(t *testing.T) {
	program := raw.Program{Sources: []raw.Source{{Name: "a.js", Text: `setTimeout(() => { console.log('later') }, 5);
		const n = setInterval(() => { console.log('again'); clearInterval(n) }, 10)`}}}
	g := sandbox.Grants{Limits: sandbox.Limits{Wall: 5 * time.Second}, Eval: true}
	r, err := newEngine(t).RunGlobal(t.Context(), program, 1, g)
	if err != nil || r.Error != "" || r.Output != "later\nagain\n" {
		t.Errorf("it printed %q: %s, %v", r.Output, r.Error, err)
	}
}
