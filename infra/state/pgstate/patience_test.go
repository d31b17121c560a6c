package pgstate_test

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/state/pgstate"
)

// A wait for a server ends by itself, and at the library's deadline if there is one.
func TestWaitsAreBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		most time.Duration
		set  []time.Time
	}{
		"without a deadline":      {time.Millisecond, nil},
		"with the library's":      {time.Hour, []time.Time{time.Now()}},
		"after the library's":     {time.Millisecond, []time.Time{time.Now().Add(time.Hour), {}}},
		"with a later one of its": {time.Hour, []time.Time{{}, time.Now()}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			near, far := net.Pipe()
			t.Cleanup(func() { _, _ = near.Close(), far.Close() })
			conn := pgstate.Patient(near, c.most)
			for _, at := range c.set {
				if err := conn.SetDeadline(at); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
