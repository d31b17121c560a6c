package monotonic_test

import (
	"testing"
	"time"

	"github.com/airlock-run/airlock/gateway/monotonic"
)

// A clock without a monotonic reading stands still while it is set back, and continues from there.
func TestClock(t *testing.T) {
	t.Parallel()
	wall := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	now := func() time.Time { return wall }
	clock, elapsed := monotonic.Clock(now), monotonic.Elapsed(now)
	began := clock()
	wall = wall.Add(time.Hour) // before the first reading of elapsed
	for i, step := range []struct{ set, passed, elapsed time.Duration }{
		{0, time.Hour, 0},
		{time.Minute, time.Hour + time.Minute, time.Minute},
		{-24 * time.Hour, time.Hour + time.Minute, time.Minute},
		{0, time.Hour + time.Minute, time.Minute},
		{time.Second, time.Hour + time.Minute + time.Second, time.Minute + time.Second},
	} {
		wall = wall.Add(step.set)
		if got := clock().Sub(began); got != step.passed {
			t.Errorf("step %d: the clock went %v, want %v", i, got, step.passed)
		}
		if got := elapsed(); got != step.elapsed {
			t.Errorf("step %d: %v elapsed, want %v", i, got, step.elapsed)
		}
	}
}
