package semaphore_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/airlock-run/airlock/gateway/semaphore"
)

func open(t *testing.T, places int) *semaphore.Fair {
	t.Helper()
	out, err := semaphore.New(places)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func take(t *testing.T, of *semaphore.Fair, tenant, caller string) func() {
	t.Helper()
	release, err := of.Acquire(t.Context(), tenant, caller)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

func TestNoPlaces(t *testing.T) {
	t.Parallel()
	if _, err := semaphore.New(0); err == nil {
		t.Error("a semaphore without places")
	}
}

// One caller floods, then another of its tenant. Each time, a new caller is served at once.
func TestFirstRequestNeverWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		of := open(t, 2)
		ctx, stop := context.WithCancel(t.Context())
		served := make(chan string, 100)
		flood := func(tenant, caller string) {
			for range 20 {
				go func() {
					if _, err := of.Acquire(ctx, tenant, caller); err == nil {
						served <- tenant + caller
					}
				}()
			}
			synctest.Wait()
		}
		flood("a", "1")
		if n := len(served); n != 2 {
			t.Errorf("one caller holds %d places", n)
		}
		flood("a", "2")
		if n := len(served); n != 3 {
			t.Errorf("two callers of a tenant hold %d places", n)
		}
		flood("a", "3")
		if n := len(served); n != 3 {
			t.Errorf("a third caller took the place kept for tenants: %d are held", n)
		}
		for range 5 {
			take(t, of, "b", "1")()
		}
		if n := of.Waiting(); n != 57 {
			t.Errorf("%d wait", n)
		}
		stop()
		synctest.Wait()
		if n := of.Waiting(); n != 0 {
			t.Errorf("%d wait although they hung up", n)
		}
	})
}

// A place goes first between tenants, and then between the callers of each.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		of := open(t, 1)
		held := []func(){take(t, of, "x", "1"), take(t, of, "y", "1"), take(t, of, "z", "1")}
		served, goOn := make(chan string, 7), make(chan struct{})
		for _, who := range []string{"a1", "a1", "a1", "a2", "a2", "b1", "b1"} {
			go func() {
				release, err := of.Acquire(t.Context(), who[:1], who[1:])
				if err != nil {
					t.Error(err)
					return
				}
				served <- who
				<-goOn
				release()
			}()
			synctest.Wait()
		}
		held[0]()
		var order []string
		for range 7 {
			order = append(order, <-served)
			goOn <- struct{}{}
		}
		if want := []string{"a1", "b1", "a2", "b1", "a1", "a2", "a1"}; !slices.Equal(order, want) {
			t.Errorf("turns %v, want %v", order, want)
		}
		held[1]()
		held[2]()
	})
}

// A caller whose context has ended gets no place, and no place is lost.
func TestHungUpBeforeItsTurn(t *testing.T) {
	t.Parallel()
	of := open(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := of.Acquire(ctx, "a", "1"); err == nil {
		t.Error("a place for one that has hung up")
	}
	for range 10 {
		take(t, of, "a", "1")()
	}
}
