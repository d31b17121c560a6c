package localinvoke

import (
	"testing"
	"time"
)

// No process may pass its memory limit by more than it can take between two samples of the shortest interval, and a
// process with room to spare costs the gateway few samples. Under a ceiling the kernel bounds what it can take, and the
// intervals are four times as long.
func TestNextSample(t *testing.T) {
	for name, c := range map[string]struct {
		room int64
		want time.Duration
	}{
		"at the limit":          {0, 20 * time.Millisecond},
		"close to the limit":    {64 << 20, 20 * time.Millisecond},
		"three quarters":        {384 << 20, 62500 * time.Microsecond},
		"an ordinary process":   {460 << 20, 74869791 * time.Nanosecond},
		"a large memory limit":  {8 << 30, 80 * time.Millisecond},
		"more than any machine": {1 << 62, 80 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			if got := nextSample(c.room, false); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
			if got := nextSample(c.room, true); got != 4*c.want {
				t.Errorf("%v under a ceiling, want %v", got, 4*c.want)
			}
		})
	}
}
