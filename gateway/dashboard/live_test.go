package dashboard

import (
	"testing"
	"time"
)

// The pages of one tenant refresh together at most 40 times a second, however many there are; few refresh each second.
func TestPauseOfLivePages(t *testing.T) {
	t.Parallel()
	var o openPages
	var leave []func()
	for range 180 {
		leave = append(leave, o.enter("many"))
	}
	defer o.enter("one")()
	if got := o.pause("many"); got != 180*25*time.Millisecond {
		t.Errorf("of 180 pages each pauses for %v", got)
	}
	if got := o.pause("one"); got != time.Second {
		t.Errorf("the only page of another tenant pauses for %v", got)
	}
	for _, leave := range leave {
		leave()
	}
	if got := o.pause("many"); got != time.Second || len(o.of) != 1 {
		t.Errorf("after the end: %v, %d tenants", got, len(o.of))
	}
}
