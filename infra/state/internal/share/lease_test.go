package share_test

import (
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/state/internal/share"
)

// Jobs may begin while heartbeats arrive, and no longer by the time at which others take them over. A process that was
// silent for long enough to count as dead begins only what it claims afterwards.
func TestLease(t *testing.T) {
	t.Parallel()
	began := time.Now()
	at := func(seconds float64) time.Time { return began.Add(time.Duration(seconds * float64(time.Second))) }
	l := &share.Lease{DeadAfter: 8 * time.Second, Length: 15 * time.Second}
	l.Renew(at(0), at(1))
	for _, step := range []struct {
		name          string
		sent, now     float64 // of a heartbeat; 0 is none
		claimed, want float64 // want is the latest start; -1 is in the past
	}{
		{name: "claimed", claimed: 1.5, want: 10},
		{name: "the next heartbeat", sent: 2, now: 2.5, claimed: 1.5, want: 12},
		{name: "a slow heartbeat", sent: 9, now: 9.9, claimed: 1.5, want: 19},
		{name: "a gap", sent: 17.5, now: 17.6, claimed: 10, want: -1},
		{name: "claimed before the answer", claimed: 17.55, want: -1},
		{name: "claimed after the gap", claimed: 17.7, want: 27.5},
		{name: "one that is old stays so", sent: 19.5, now: 19.6, claimed: 10, want: -1},
	} {
		if step.sent > 0 {
			l.Renew(at(step.sent), at(step.now))
		}
		got := l.Until(at(step.claimed))
		if step.want < 0 && got.Before(at(step.claimed)) {
			continue
		}
		if !got.Equal(at(step.want)) {
			t.Errorf("%s: it may begin until %v, want %v", step.name, got.Sub(began).Seconds(), step.want)
		}
	}
}

// A suspended machine does not count the time, and its clock shows it.
func TestLeaseOfASuspendedMachine(t *testing.T) {
	t.Parallel()
	l := &share.Lease{DeadAfter: 8 * time.Second, Length: 15 * time.Second}
	began := time.Now()
	l.Renew(began, began)
	claimed := began.Add(time.Second)
	l.Renew(began.Add(time.Hour).Round(0), began.Add(time.Hour).Round(0))
	if until := l.Until(claimed); until.After(began.Add(time.Hour)) {
		t.Errorf("it may begin until %v", until)
	}
}
