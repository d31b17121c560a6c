package queue_test

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/airlock-run/airlock/gateway/queue"
)

// caller is a subject of a tenant.
type caller struct{ tenant, subject string }

// p99 returns the time that the slowest hundredth of a steady tenant's runs take: burst runs of 20 ms each, every 100
// ms, while flood runs of another tenant always wait. A steady tenant that needs a single place, where there is a
// spare one, is not seen before the flood begins, and the time of its slowest run is returned.
func p99(t *testing.T, places, spare, burst, flood int, theirs time.Duration) (worst time.Duration) {
	t.Helper()
	floods := func(int) caller { return caller{"flood", ""} }
	return p99Of(t, caller{"steady", ""}, floods, places, spare, burst, flood, theirs)
}

// p99Of returns what p99 does, for any callers: floods returns the caller of the nth run of the flood.
func p99Of(t *testing.T, steadily caller, floods func(n int) caller, places, spare, burst, flood int,
	theirs time.Duration) (worst time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		q, err := queue.New(queue.Config{Places: places, Spare: spare, Depth: 1000, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		if burst > 1 || spare == 0 {
			together(t, q, steadily, burst) // it is about when the flood begins
		}
		ctx, stop := context.WithCancel(t.Context())
		var flooding, steady sync.WaitGroup
		for n := range flood {
			flooding.Go(func() {
				for by := floods(n); ctx.Err() == nil; {
					if p, err := q.AcquireFor(ctx, queue.Normal, by.tenant, by.subject); err == nil {
						time.Sleep(theirs)
						p.Release()
					}
				}
			})
		}
		var mu sync.Mutex
		var took []time.Duration
		for range 100 {
			time.Sleep(100 * time.Millisecond)
			for range burst {
				steady.Go(func() {
					began := time.Now()
					p, err := q.AcquireFor(t.Context(), queue.Normal, steadily.tenant, steadily.subject)
					if err != nil {
						t.Error(err)
						return
					}
					time.Sleep(20 * time.Millisecond)
					p.Release()
					mu.Lock()
					defer mu.Unlock()
					took = append(took, time.Since(began))
				})
			}
		}
		steady.Wait()
		stop()
		flooding.Wait()
		slices.Sort(took)
		if worst = took[len(took)*99/100-1]; burst == 1 && spare > 0 {
			worst = took[len(took)-1]
		}
	})
	return worst
}

// together has a caller hold n places at once, or as many as there are.
func together(t *testing.T, q *queue.Queue, by caller, n int) {
	t.Helper()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			p, err := q.AcquireFor(t.Context(), queue.Normal, by.tenant, by.subject)
			if err != nil {
				t.Error(err)
				return
			}
			time.Sleep(20 * time.Millisecond)
			p.Release()
		})
	}
	all.Wait()
}

// The runs of the flood may be as short or as long as it likes. The clock is that of the bubble, so the times are
// exact and independent of the machine.
func TestFloodLeavesPlaces(t *testing.T) {
	t.Parallel()
	for _, fleet := range []struct{ places, burst, spare int }{
		{2, 1, 0}, {2, 1, 1}, {2, 1, 2}, {2, 2, 2}, {3, 3, 3}, {5, 2, 0}, {5, 2, 1}, {8, 1, 0}, {8, 4, 1}, {8, 5, 2},
		{50, 1, 0}, {50, 20, 1},
	} {
		alone := p99(t, fleet.places, fleet.spare, fleet.burst, 0, 0)
		for _, theirs := range []time.Duration{5 * time.Millisecond, 20 * time.Millisecond, 5 * time.Second} {
			if got := p99(t, fleet.places, fleet.spare, fleet.burst, 2*fleet.places, theirs); 10*got > 11*alone {
				t.Errorf(
					"%d places, %d spare, bursts of %d, runs of %v: p99 %v, alone %v", fleet.places, fleet.spare, fleet.burst, theirs,
					got, alone,
				)
			}
		}
	}
}

// One subject that floods does not delay another subject of its tenant, however long its runs take.
func TestFloodOfSubject(t *testing.T) {
	t.Parallel()
	floods := func(int) caller { return caller{"t", "flood"} }
	for _, fleet := range []struct{ places, burst, spare int }{{2, 1, 2}, {8, 1, 2}, {8, 4, 2}, {50, 20, 2}, {5, 2, 0}} {
		for _, theirs := range []time.Duration{5 * time.Millisecond, 20 * time.Millisecond, 5 * time.Second} {
			got := p99Of(t, caller{"t", "steady"}, floods, fleet.places, fleet.spare, fleet.burst, 2*fleet.places, theirs)
			if got > 20*time.Millisecond {
				t.Errorf("%d places, %d spare, bursts of %d, runs of %v: p99 %v, alone 20ms", fleet.places, fleet.spare,
					fleet.burst, theirs, got)
			}
		}
	}
}

// The same while another tenant is active, which leaves the tenant fewer places.
func TestFloodOfSubjectBesideAnotherTenant(t *testing.T) {
	t.Parallel()
	for _, fleet := range []struct{ places, spare, burst int }{
		{2, 2, 1}, {3, 2, 1}, {5, 0, 1}, {5, 2, 1}, {8, 0, 1}, {8, 2, 1}, {8, 1, 2}, {8, 2, 2}, {50, 2, 10},
	} {
		for _, theirs := range []time.Duration{5 * time.Millisecond, 20 * time.Millisecond, 5 * time.Second} {
			floods := func(n int) caller {
				if n == 0 {
					return caller{"other", "one"}
				}
				return caller{"t", "flood"}
			}
			got := p99Of(t, caller{"t", "steady"}, floods, fleet.places, fleet.spare, fleet.burst, 2*fleet.places+1, theirs)
			if got > 20*time.Millisecond {
				t.Errorf("%d places, %d spare, bursts of %d, runs of %v: p99 %v, alone 20ms", fleet.places, fleet.spare,
					fleet.burst, theirs, got)
			}
		}
	}
}

// A subject may not hold all that its tenant may hold while another tenant keeps its share.
func TestSubjectsOfALimitedTenant(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, err := queue.New(queue.Config{Places: 3, Spare: 1, Depth: 100, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		one := func(tenant, subject string) *queue.Place {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			p, err := q.AcquireFor(ctx, queue.Normal, tenant, subject)
			if err != nil {
				t.Fatalf("%s of %s waits: %v", subject, tenant, err)
			}
			return p
		}
		one("other", "one").Release()
		one("t", "modest").Release()
		ctx, stop := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				if p, err := q.AcquireFor(ctx, queue.Normal, "t", "greedy"); err == nil {
					<-ctx.Done()
					p.Release()
				}
			})
		}
		synctest.Wait()
		one("t", "modest").Release()
		one("other", "one").Release()
		stop()
		all.Wait()
	})
}

// A tenant that floods under many subjects leaves the last spare place to other tenants.
func TestFloodOfManySubjects(t *testing.T) {
	t.Parallel()
	floods := func(n int) caller { return caller{"t", strconv.Itoa(n)} }
	for _, places := range []int{2, 8, 50} {
		got := p99Of(t, caller{"other", "steady"}, floods, places, 2, 1, 4*places, 5*time.Second)
		if got > 20*time.Millisecond {
			t.Errorf("%d places: p99 %v, alone 20ms", places, got)
		}
	}
}

// The first run of a tenant never waits where there is a spare place, whatever others do for however long. Tenants
// that are active use the other places.
func TestSparePlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, err := queue.New(queue.Config{Places: 2, Spare: 1, Depth: 100, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		held := []*queue.Place{get(t, q, queue.Normal, "flood"), get(t, q, queue.Normal, "flood")}
		more := make(chan *queue.Place, 50)
		for range 50 {
			go func() {
				if p, err := q.Acquire(t.Context(), queue.High, "flood"); err == nil {
					more <- p
				}
			}()
		}
		synctest.Wait()
		if running, waiting := q.Load(); running != 2 || waiting != 50 {
			t.Errorf("%d run and %d wait", running, waiting)
		}
		for range 3 {
			p := get(t, q, queue.Low, "cold")
			if p.Waited != 0 {
				t.Errorf("it waited %v", p.Waited)
			}
			time.Sleep(20 * time.Second) // long enough to be forgotten
			p.Release()
		}
		// Only one tenant at a time has the spare place.
		first := get(t, q, queue.Normal, "cold")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := q.Acquire(ctx, queue.Normal, "cold"); err == nil {
			t.Error("a second spare place")
		}
		first.Release()
		for _, p := range held {
			p.Release()
		}
		for range 50 {
			(<-more).Release()
		}
		if running, waiting := q.Load(); running != 0 || waiting != 0 {
			t.Errorf("%d run and %d wait at the end", running, waiting)
		}
	})
}

func TestConcurrentBound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, err := queue.New(queue.Config{Places: 4, Depth: 10, Now: time.Now, Concurrent: func(tenant string) int {
			return map[string]int{"small": 1}[tenant]
		}})
		if err != nil {
			t.Fatal(err)
		}
		first := get(t, q, queue.Normal, "small")
		second := make(chan *queue.Place)
		go func() {
			p, err := q.Acquire(t.Context(), queue.High, "small")
			if err != nil {
				t.Error(err)
			}
			second <- p
		}()
		synctest.Wait()
		if running, waiting := q.Load(); running != 1 || waiting != 1 {
			t.Errorf("%d run and %d wait", running, waiting)
		}
		get(t, q, queue.Low, "other").Release() // a waiter at its own bound delays nobody
		first.Release()
		(<-second).Release()
	})
}

// A single tenant gets every place. The last one is kept free only while others are active.
func TestLastPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := open(t, 2, 10)
		held := []*queue.Place{get(t, q, queue.Normal, "a"), get(t, q, queue.Normal, "a")}
		for _, p := range held {
			p.Release()
		}
		get(t, q, queue.Normal, "b").Release()
		get(t, q, queue.Normal, "a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := q.Acquire(ctx, queue.Normal, "a"); err == nil {
			t.Error("it got the last place while another tenant is about")
		}
		time.Sleep(10 * time.Second)
		get(t, q, queue.Normal, "a")
	})
}

// A subject that fills the line alone neither keeps another subject of its tenant out nor makes it wait behind all.
func TestSubjectsTakeTurns(t *testing.T) {
	t.Parallel()
	q, err := queue.New(queue.Config{Places: 1, Depth: 20, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	first, err := q.Acquire(t.Context(), queue.Normal, "t")
	if err != nil {
		t.Fatal(err)
	}
	type got struct {
		subject string
		place   *queue.Place
		err     error
	}
	served := make(chan got, 100)
	join := func(subject string) {
		go func() {
			p, err := q.AcquireFor(t.Context(), queue.Normal, "t", subject)
			served <- got{subject, p, err}
		}()
	}
	waits := func(n int) {
		for _, waiting := q.Load(); waiting != n; _, waiting = q.Load() {
			runtime.Gosched()
		}
	}
	for n := range 20 {
		join("greedy")
		waits(n + 1)
	}
	join("greedy")
	if g := <-served; g.err == nil {
		t.Error("one too many was taken")
	}
	join("modest")
	if g := <-served; g.subject != "greedy" || g.err == nil {
		t.Errorf("%s gave way, %v", g.subject, g.err)
	}
	first.Release()
	for n := range 3 {
		g := <-served
		if g.err != nil {
			t.Fatal(g.err)
		}
		g.place.Release()
		if g.subject == "modest" {
			return
		}
		if n == 2 {
			t.Error("the last caller waits behind all earlier ones")
		}
	}
}
