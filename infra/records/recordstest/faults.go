package recordstest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/airlock-run/airlock/policy/audit"
)

func writersAtOnce(t *testing.T, s Suite) {
	const writers, each = 4, 40
	place := s.New(t)
	must := map[string]bool{}
	var wg sync.WaitGroup
	for range writers {
		store := mustOpen(t, s, place)
		var mine []audit.Record
		for range each {
			r := Sample(time.Now())
			must[r.ID] = true
			mine = append(mine, r)
		}
		for half := range 2 { // two goroutines for each opening
			wg.Go(func() {
				for _, r := range mine[half*each/2 : (half+1)*each/2] {
					if err := store.Append(t.Context(), r); err != nil {
						t.Errorf("append: %v", err)
					}
				}
			})
		}
	}
	child := startChild(t, place, childPlan{Records: each}, 0)
	wg.Wait()
	said := child.wait(t)
	if !said.ended {
		t.Error("the other process did not finish")
	}
	for id := range said.acked {
		must[id] = true
	}
	store := mustOpen(t, s, place)
	holds(t, store, must, nil, s.settling(t, place))
	seen := map[string]int64{}
	for _, r := range all(t, store, audit.Query{Limit: 500}) {
		seen[r.Chain.Writer] = max(seen[r.Chain.Writer], r.Chain.Seq)
	}
	most := writers*min(max(s.Lanes, 1), 2) + 1 // two goroutines for each opening here, one in the child
	if len(seen) < writers+1 || len(seen) > most {
		t.Errorf("%d chains, want one for each of %d openings, and at most %d", len(seen), writers+1, most)
	}
	total := int64(0)
	for writer, seq := range seen {
		if total += seq; seq != each && most == writers+1 {
			t.Errorf("chain %s goes to %d, want %d", writer, seq, each)
		}
	}
	if total != (writers+1)*each {
		t.Errorf("the chains go to %d together, want %d", total, (writers+1)*each)
	}
}

func oneID(t *testing.T, s Suite) {
	place := s.New(t)
	for range 10 {
		r := Sample(time.Now())
		var won atomic.Int32
		var wg sync.WaitGroup
		for range 6 {
			store := mustOpen(t, s, place)
			wg.Go(func() {
				switch err := store.Append(t.Context(), r); {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, audit.ErrExists):
					t.Errorf("append: %v", err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Errorf("%d writers stored the same id", won.Load())
		}
	}
	verified(t, mustOpen(t, s, place))
}

func readWhileWriting(t *testing.T, s Suite) {
	place := s.New(t)
	writer, reader := mustOpen(t, s, place), mustOpen(t, s, place)
	var mu sync.Mutex
	stored := map[string]bool{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 150 {
			r := Sample(time.Now())
			if err := writer.Append(t.Context(), r); err != nil {
				t.Errorf("append: %v", err)
				return
			}
			mu.Lock()
			stored[r.ID] = true
			mu.Unlock()
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		mu.Lock()
		must := map[string]bool{}
		for id := range stored {
			must[id] = true
		}
		mu.Unlock()
		found := map[string]bool{}
		for _, id := range listed(t, reader) {
			found[id] = true
		}
		for id := range must {
			if !found[id] {
				t.Fatalf("%s was stored before the walk and is not in it", id)
			}
		}
		verified(t, reader)
	}
}

// errBroken stands for any other failure of a disk or a network.
var errBroken = errors.New("input/output error")

// noRoom fills the storage at every call that needs space, permanently, and then frees it again.
func noRoom(t *testing.T, s Suite) {
	if s.Full == nil {
		return
	}
	for _, half := range []bool{false, true} {
		for at := int64(1); ; at++ {
			armed := at
			var calls atomic.Int64
			var full atomic.Bool
			place := s.New(t)
			store, err := s.Open(place, func(call, about string, size int) error {
				if !full.Load() || !takesRoom(call) || calls.Add(1) < armed {
					return nil
				}
				if half && size > 1 && s.Short != nil {
					return s.Short(size/2, s.Full)
				}
				return s.Full
			})
			if err != nil {
				t.Fatal(err)
			}
			must := map[string]bool{}
			appendAll := func(n int) (failed []audit.Record) {
				for range n {
					r := Sample(time.Now())
					if err := store.Append(t.Context(), r); err != nil {
						if !errors.Is(err, s.Full) {
							t.Errorf("no room at call %d: %v", armed, err)
						}
						failed = append(failed, r)
						continue
					}
					must[r.ID] = true
				}
				return failed
			}
			if failed := appendAll(2); failed != nil {
				t.Fatal("failed before the place was full")
			}
			full.Store(true)
			failed := appendAll(3)
			holds(t, mustOpen(t, s, place), must, nil, s.settling(t, place))
			full.Store(false)
			for _, r := range failed { // the same records are accepted once there is space
				mustAppend(t, store, r)
				must[r.ID] = true
			}
			holds(t, store, must, nil, s.settling(t, place))
			shut(t, store)
			holds(t, mustOpen(t, s, place), must, nil, s.settling(t, place))
			if t.Failed() {
				t.Fatalf("with no room from call %d on (half a write: %v)", armed, half)
			}
			if failed == nil {
				break
			}
		}
	}
}

func takesRoom(call string) bool {
	return call == "create" || call == "write" || call == "mkdir" || call == "put"
}

// failingCalls fails each call once. Append's result must match what is stored.
func failingCalls(t *testing.T, s Suite) {
	for at := int64(1); ; at++ {
		var calls atomic.Int64
		var armed atomic.Bool
		place := s.New(t)
		store, err := s.Open(place, func(string, string, int) error {
			if armed.Load() && calls.Add(1) == at {
				return errBroken
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		must := map[string]bool{}
		first, second := Sample(time.Now()), Sample(time.Now())
		mustAppend(t, store, first)
		armed.Store(true)
		must[first.ID] = true
		if err := store.Append(t.Context(), second); err == nil {
			must[second.ID] = true
		}
		armed.Store(false)
		reached := calls.Load() >= at
		third := Sample(time.Now())
		mustAppend(t, store, third)
		must[third.ID] = true
		if !must[second.ID] {
			mustAppend(t, store, second)
			must[second.ID] = true
		}
		holds(t, store, must, nil, s.settling(t, place))
		shut(t, store)
		holds(t, mustOpen(t, s, place), must, nil, s.settling(t, place))
		if t.Failed() {
			t.Fatalf("with call %d failing", at)
		}
		if !reached {
			return
		}
	}
}
