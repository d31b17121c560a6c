package wiring_test

import (
	"testing"

	"github.com/airlock-run/airlock/gateway/wiring"
	"github.com/airlock-run/airlock/sandbox"
)

func TestAboutBuilds(t *testing.T) {
	t.Parallel()
	builds := sandbox.EngineBuilds()
	own, kept := builds[0], builds[1]
	const goOn = "executions and sessions of another engine build wait, and continue on that build: "
	const end = "executions and sessions of engine builds that this program lacks wait, and end with engine_changed " +
		"when they continue: "
	for _, c := range []struct {
		name   string
		counts map[string]int
		want   string
	}{
		{"none", nil, ""},
		{"its own", map[string]int{own: 7}, ""},
		{"a kept one", map[string]int{own: 7, kept: 2}, goOn + "2 of " + kept},
		{"one that is gone", map[string]int{"old": 3}, end + "3 of old"},
		{"both", map[string]int{"old": 3, kept: 2, "": 1},
			goOn + "2 of " + kept + "; " + end + "1 of an unknown build, 3 of old"},
	} {
		if got := wiring.AboutBuilds(c.counts, own); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
