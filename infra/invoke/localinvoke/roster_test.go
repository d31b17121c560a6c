package localinvoke

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// offered returns a roster of n idle processes that keeps tenants apart, and the number of processes it evicted.
func offered(n int) (r *roster, evicted *int) {
	evicted = new(int)
	r = &roster{limit: 100, apart: true, evict: func(*process) { *evicted++ }, size: sizes{places: 100, now: n, most: n}}
	for range n {
		r.put(&process{})
	}
	return r, evicted
}

func callOf(tenant, subject string) *call { return &call{by: caller{tenant, subject}} }

// lent claims a process for a call of a caller that need not wait for it.
func lent(t *testing.T, r *roster, c *call) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	p, err := r.claim(ctx, c)
	if err != nil {
		t.Fatalf("no process for %s of %s: %v", c.by.subject, c.by.tenant, err)
	}
	return p
}

// ruin runs a call of a caller that ends its process.
func ruin(t *testing.T, r *roster, tenant, subject string) *process {
	t.Helper()
	c := callOf(tenant, subject)
	p := lent(t, r, c)
	r.ended(p, c)
	r.leave(p)
	return p
}

// No idle process is evicted to keep an unbound one ready while the successor of an ended process, which is unbound,
// starts.
func TestNoEvictionWhileASuccessorStarts(t *testing.T) {
	t.Parallel()
	r, evicted := offered(3)
	r.reserve = 1
	ended := []*process{ruin(t, r, "a", "greedy"), ruin(t, r, "a", "greedy")}
	c := callOf("a", "modest")
	p := lent(t, r, c)
	r.put(p)
	if *evicted != 0 {
		t.Errorf("%d evicted while two processes start, want 0", *evicted)
	}
	for _, e := range ended {
		r.replaced(e) // neither starts
	}
	if *evicted != 1 {
		t.Errorf("%d evicted when no process is unbound or starts, want 1", *evicted)
	}
}

// A caller whose calls end their processes leaves one to other callers of its tenant until those are replaced.
func TestCallerOwesTheProcessesItEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, evicted := offered(3)
		ended := []*process{ruin(t, r, "a", "greedy"), ruin(t, r, "a", "greedy")}
		got := make(chan *process, 1)
		go func() {
			p, err := r.claim(t.Context(), callOf("a", "greedy"))
			if err != nil {
				t.Error(err)
			}
			got <- p
		}()
		synctest.Wait()
		if n := r.waitingNow(); n != 1 {
			t.Fatalf("%d calls wait, want the greedy caller's", n)
		}
		c := callOf("a", "modest")
		p := lent(t, r, c)
		r.ended(p, c)
		r.put(p)
		if n := r.waitingNow(); n != 1 {
			t.Fatalf("%d calls wait after the modest caller's, want 1", n)
		}
		next := &process{}
		r.put(next)
		r.replaced(ended[0])
		if p := <-got; p == nil {
			t.Error("no process for the greedy caller, although two are idle")
		}
		r.replaced(ended[1])
		if len(r.owed) != 0 || *evicted != 0 {
			t.Errorf("owed %v, %d evicted; want none", r.owed, *evicted)
		}
	})
}

// A caller alone waits for no more than the replacement of the processes that its calls ended.
func TestDebtEndsWithItsLastReplacement(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, _ := offered(1)
		ended := ruin(t, r, "a", "greedy")
		got := make(chan *process, 1)
		go func() {
			p, err := r.claim(t.Context(), callOf("a", "greedy"))
			if err != nil {
				t.Error(err)
			}
			got <- p
		}()
		synctest.Wait()
		next := &process{}
		r.put(next)
		synctest.Wait()
		if n := r.waitingNow(); n != 1 {
			t.Errorf("%d calls wait before the debt is settled, want 1", n)
		}
		r.replaced(ended)
		if p := <-got; p != next {
			t.Errorf("got %p, want the replacement %p", p, next)
		}
	})
}

// A process that is idle again before its call is known to be over is not owed.
func TestProcessGivenBackEarlyIsNotOwed(t *testing.T) {
	t.Parallel()
	r, _ := offered(2)
	c := callOf("a", "one")
	p := lent(t, r, c)
	r.put(p)
	r.ended(p, c)
	if len(r.owed) != 0 {
		t.Errorf("owed %v, want nothing", r.owed)
	}
	// Nor is one whose successor is ready already.
	p = lent(t, r, c)
	r.replaced(p)
	r.ended(p, c)
	if len(r.owed) != 0 {
		t.Errorf("owed %v after the replacement, want nothing", r.owed)
	}
}

// Waiting calls are served in order, except for those of callers that owe the processes they wait for.
func TestCallsAreServedInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, _ := offered(1)
		ended := ruin(t, r, "a", "greedy")
		var order []string
		wait := func(tenant, subject string) {
			go func() {
				p, err := r.claim(t.Context(), callOf(tenant, subject))
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, subject)
				r.put(p)
			}()
			synctest.Wait()
		}
		wait("a", "greedy")
		wait("a", "first")
		wait("a", "second")
		r.put(&process{})
		synctest.Wait()
		r.replaced(ended)
		synctest.Wait()
		if want := []string{"first", "second", "greedy"}; !slices.Equal(order, want) {
			t.Errorf("served %v, want %v", order, want)
		}
	})
}

// A replaced process of another tenant is evicted for a call that waits for what its caller owed.
func TestSettledCallerGetsAProcessOfAnotherTenant(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, evicted := offered(2)
		ended := ruin(t, r, "a", "greedy")
		c := callOf("b", "other")
		other := lent(t, r, c)
		r.ended(other, c)
		r.put(other)
		got := make(chan *process, 1)
		go func() {
			p, err := r.claim(t.Context(), callOf("a", "greedy"))
			if err != nil {
				t.Error(err)
			}
			got <- p
		}()
		synctest.Wait()
		if *evicted != 0 {
			t.Fatalf("%d evicted for a caller that owes a process, want 0", *evicted)
		}
		r.replaced(ended) // which does not start
		if *evicted != 1 {
			t.Fatalf("%d evicted, want the process of the other tenant", *evicted)
		}
		next := &process{}
		r.put(next)
		if p := <-got; p != next {
			t.Errorf("got %p, want %p", p, next)
		}
	})
}

// A tenant without a process gets a further one as long as there may be more, and then that of another tenant.
func TestRosterGrows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, evicted := offered(1)
		r.size.most = 2
		r.grow = func(gap *process) {
			go func() {
				r.put(&process{})
				r.replaced(gap)
			}()
		}
		for _, tenant := range []string{"a", "b", "c"} {
			p, err := r.claim(t.Context(), callOf(tenant, "one"))
			if err != nil {
				t.Fatalf("tenant %s: %v", tenant, err)
			}
			r.put(p)
			if tenant == "b" && *evicted != 0 {
				t.Errorf("%d evicted for the second tenant, want a further process", *evicted)
			}
			if tenant != "b" {
				continue
			}
			// The third tenant waits for the successor of the process that is evicted.
			r.evict = func(old *process) {
				*evicted++
				go func() {
					r.put(&process{})
					r.replaced(old)
				}()
			}
		}
		if *evicted != 1 {
			t.Errorf("%d evicted for the third tenant, want 1", *evicted)
		}
		if r.coming != 0 || r.lent != 0 {
			t.Errorf("%d processes coming and %d lent, want none", r.coming, r.lent)
		}
	})
}

// No more calls than places have a process, however many are idle.
func TestPlacesBoundTheCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, _ := offered(2)
		r.size.places = 1
		first := lent(t, r, callOf("a", "one"))
		got := make(chan *process, 1)
		go func() {
			p, err := r.claim(t.Context(), callOf("b", "two"))
			if err != nil {
				t.Error(err)
			}
			got <- p
		}()
		synctest.Wait()
		if n := r.waitingNow(); n != 1 {
			t.Fatalf("%d calls wait, want 1", n)
		}
		r.put(first)
		if p := <-got; p == nil || p == first {
			t.Errorf("the second call got %p, want the process that is not %p", p, first)
		}
	})
}

// Only bound processes that were idle for long end, and only while there are more processes than places.
func TestUnusedProcessesEnd(t *testing.T) {
	t.Parallel()
	r, _ := offered(3)
	r.size.places = 2
	then := time.Unix(1000, 0)
	p := lent(t, r, callOf("a", "one"))
	p.idleSince = then
	r.put(p)
	if got := r.shrink(then); got != nil {
		t.Errorf("took a process that is idle since %v", got.idleSince)
	}
	if got := r.shrink(then.Add(time.Second)); got != p {
		t.Errorf("took %p, want the bound process %p", got, p)
	}
	if r.leave(p) {
		t.Error("a process that is not needed has a successor")
	}
	if got := r.shrink(then.Add(time.Hour)); got != nil {
		t.Error("took a process although there are as many as places")
	}
}

// If a further process does not start, the roster keeps those that it has.
func TestRosterStays(t *testing.T) {
	t.Parallel()
	r, evicted := offered(1)
	r.size.most = 5
	var gaps []*process
	r.grow = func(gap *process) { gaps = append(gaps, gap) }
	r.reserve = 1
	p := lent(t, r, callOf("a", "one"))
	if len(gaps) != 1 {
		t.Fatalf("%d further processes, want 1", len(gaps))
	}
	r.stay()
	r.replaced(gaps[0])
	r.put(p)
	if len(gaps) != 1 || *evicted != 1 {
		t.Errorf("%d further processes and %d evicted, want 1 and 1", len(gaps), *evicted)
	}
}
