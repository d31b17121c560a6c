package scanpool

import (
	"testing"
	"time"
)

// TestNextSample checks that the processor time of a worker is read seldom while much of it is left, and never so late
// that a worker with two threads has used more than it may.
func TestNextSample(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ left, want time.Duration }{
		"none left":        {0, sampling},
		"less than none":   {-time.Second, sampling},
		"close to none":    {15 * time.Millisecond, sampling},
		"a hung up task":   {abandoned, abandoned / 2},
		"a second is left": {time.Second, time.Second / 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := nextSample(c.left); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}
