package results_test

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/airlock-run/airlock/gateway/results"
)

func TestOnce(t *testing.T) {
	t.Parallel()
	now := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	o, err := results.NewOnce(10, 1000, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	one, two := sha256.Sum256([]byte("1")), sha256.Sum256([]byte("2"))
	begin := func(digest [sha256.Size]byte, want results.State) *results.Saved {
		t.Helper()
		state, saved := o.Begin("a", "k", digest)
		if state != want {
			t.Fatalf("state %d, want %d", state, want)
		}
		return saved
	}
	begin(one, results.Fresh)
	begin(one, results.InFlight)
	begin(two, results.Reused)
	o.Abandon("k")
	begin(two, results.Fresh)
	o.Finish("k", results.Saved{Status: 200, Body: []byte("b")})
	if saved := begin(two, results.Done); saved.Status != 200 || string(saved.Body) != "b" {
		t.Errorf("%+v", saved)
	}
	begin(one, results.Reused)
	now = now.Add(24 * time.Hour)
	begin(one, results.Fresh)
}
