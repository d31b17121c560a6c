package queue_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/airlock-run/airlock/gateway/queue"
)

func open(t testing.TB, places, depth int) *queue.Queue {
	t.Helper()
	q, err := queue.New(queue.Config{Places: places, Depth: depth, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func get(t testing.TB, q *queue.Queue, c queue.Class, tenant string) *queue.Place {
	t.Helper()
	p, err := q.Acquire(t.Context(), c, tenant)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// served admits waiters by name, holds the one place until all wait, and returns the order in which they are served.
func served(t *testing.T, depth int, arrivals ...string) (order []string, full int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		q := open(t, 1, depth)
		first := get(t, q, queue.Normal, "first")
		var mu sync.Mutex
		var wg sync.WaitGroup
		for _, name := range arrivals {
			wg.Go(func() {
				class := map[byte]queue.Class{'L': queue.Low, 'N': queue.Normal, 'H': queue.High}[name[0]]
				p, err := q.Acquire(t.Context(), class, name[1:2])
				mu.Lock()
				defer mu.Unlock()
				var f *queue.Full
				if errors.As(err, &f) {
					full++
					return
				}
				order = append(order, name)
				p.Release()
			})
			synctest.Wait()
		}
		first.Release()
		wg.Wait()
	})
	return order, full
}

func TestOrder(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		arrivals, want string
		depth, full    int
	}{
		"first come, first served": {"Na1 Na2 Na3", "Na1 Na2 Na3", 10, 0},
		"tenants take turns":       {"Na1 Na2 Na3 Nb1 Nc1", "Na1 Nb1 Nc1 Na2 Na3", 10, 0},
		"classes by weight, none starves": {
			"La1 Na1 Na2 Na3 Ha1 Ha2 Ha3 Ha4 Ha5 Ha6", "Ha1 Na1 Ha2 Ha3 Na2 Ha4 La1 Ha5 Na3 Ha6", 10, 0,
		},
		"full":                                {"Na1 Na2 Na3", "Na1 Na2", 2, 1},
		"a higher class displaces a lower":    {"La1 La2 Ha1", "Ha1 La1", 2, 1},
		"a lower class displaces nobody":      {"Ha1 Na1 La1", "Ha1 Na1", 2, 1},
		"the longest line gives way":          {"Na1 Na2 Na3 Nb1", "Na1 Nb1 Na2", 3, 1},
		"not for one who waits as much":       {"Na1 Na2 Nb1 Nb2 Nb3", "Na1 Nb1 Na2 Nb2", 4, 1},
		"nobody's line is longer than my own": {"Na1 Nb1 Nc1", "Na1 Nb1", 2, 1},
		"no line at all":                      {"Na1", "", 0, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			order, full := served(t, c.depth, strings.Fields(c.arrivals)...)
			if got := strings.Join(order, " "); got != c.want || full != c.full {
				t.Errorf("served %q, %d turned away; want %q, %d", got, full, c.want, c.full)
			}
		})
	}
}

func TestWaitedAndRetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := open(t, 1, 1)
		for range 100 {
			p := get(t, q, queue.Normal, "a")
			if p.Waited != 0 {
				t.Errorf("waited %v for a free place", p.Waited)
			}
			time.Sleep(3 * time.Second) // of the bubble's own clock
			p.Release()
			p.Release()
		}
		if running, waiting := q.Load(); running != 0 || waiting != 0 {
			t.Errorf("load %d %d", running, waiting)
		}
		p := get(t, q, queue.Normal, "a")
		done := make(chan *queue.Place)
		go func() { done <- get(t, q, queue.Normal, "b") }()
		synctest.Wait()
		_, err := q.Acquire(t.Context(), queue.Normal, "c")
		var full *queue.Full
		if !errors.As(err, &full) || full.RetryAfter != 6*time.Second {
			t.Errorf("got %v %+v, want a wait of two executions", err, full)
		}
		time.Sleep(2 * time.Second)
		p.Release()
		if p := <-done; p.Waited != 2*time.Second {
			t.Errorf("waited %v", p.Waited)
		}
	})
}

func TestGivingUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := open(t, 1, 5)
		p := get(t, q, queue.Normal, "a")
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error)
		go func() {
			_, err := q.Acquire(ctx, queue.High, "b")
			gone <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if running, waiting := q.Load(); running != 1 || waiting != 0 {
			t.Errorf("load %d %d", running, waiting)
		}
		p.Release()
		get(t, q, queue.Low, "c").Release()
	})
}

// Whatever happens at once, no more places are taken than there are, and in the end all are free.
func TestHammer(t *testing.T) {
	t.Parallel()
	q := open(t, 3, 20)
	var inside, most atomic.Int64
	var wg sync.WaitGroup
	for w := range 16 {
		r := rand.New(rand.NewPCG(uint64(w), 7))
		wg.Go(func() {
			for range 500 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(200))*time.Microsecond)
				p, err := q.Acquire(ctx, queue.Class(r.IntN(3)), fmt.Sprint(r.IntN(4)))
				if err == nil {
					n := inside.Add(1)
					for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
					}
					inside.Add(-1)
					p.Release()
				}
				cancel()
			}
		})
	}
	wg.Wait()
	if running, waiting := q.Load(); running != 0 || waiting != 0 || most.Load() > 3 {
		t.Errorf("load %d %d, at most %d at once", running, waiting, most.Load())
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for _, cfg := range []queue.Config{{}, {Places: 1}, {Now: time.Now}, {Places: 1, Depth: -1, Now: time.Now}} {
		if _, err := queue.New(cfg); err == nil {
			t.Errorf("%+v was taken", cfg)
		}
	}
}

func BenchmarkAcquireRelease(b *testing.B) {
	q := open(b, 4, 10)
	for b.Loop() {
		get(b, q, queue.Normal, "a").Release()
	}
}
