package ratelimit_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/gateway/ratelimit"
)

type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func limiter(t testing.TB, cfg ratelimit.Config) (*ratelimit.Limiter, *clock) {
	t.Helper()
	c := &clock{at: time.Date(2025, 1, 1, 0, 0, 0, 12345, time.UTC)}
	cfg.Now = c.now
	l, err := ratelimit.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l, c
}

func take(t testing.TB, l *ratelimit.Limiter, key string) ratelimit.Verdict {
	t.Helper()
	v, err := l.Take(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestLimit(t *testing.T) {
	t.Parallel()
	l, c := limiter(t, ratelimit.Config{Window: time.Minute, Max: 3})
	for i := range 3 {
		if v := take(t, l, "a"); !v.Allowed || v.Remaining != 2-i || v.Limit != 3 {
			t.Fatalf("%d: %+v", i, v)
		}
		c.pass(10 * time.Second)
	}
	v := take(t, l, "a")
	if v.Allowed || v.Remaining != 0 {
		t.Fatalf("allowed %t with %d remaining", v.Allowed, v.Remaining)
	}
	if v.Reset <= 0 || v.Reset > time.Minute {
		t.Fatalf("resets in %v", v.Reset)
	}
	if !take(t, l, "b").Allowed {
		t.Error("another caller pays")
	}
	c.pass(v.Reset - time.Nanosecond)
	if take(t, l, "a").Allowed {
		t.Error("allowed before Reset")
	}
	c.pass(time.Nanosecond)
	if !take(t, l, "a").Allowed {
		t.Error("refused at Reset")
	}
	if take(t, l, "a").Allowed {
		t.Error("two places fell free at once")
	}
	c.pass(time.Hour)
	if v := take(t, l, "a"); !v.Allowed || v.Remaining != 2 {
		t.Errorf("after an hour: %+v", v)
	}
	c.pass(-30 * time.Minute)
	if v := take(t, l, "a"); !v.Allowed || v.Remaining != 1 {
		t.Errorf("after the clock stepped back: %+v", v)
	}
}

// No window of the configured length ever holds more than the limit, whenever the requests come.
func TestNoWindowHoldsMore(t *testing.T) {
	t.Parallel()
	const most = 7
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		l, c := limiter(t, ratelimit.Config{Window: time.Second, Max: most})
		var allowed []time.Time
		for range 500 {
			c.pass(time.Duration(r.Int64N(int64(150 * time.Millisecond))))
			if take(t, l, "a").Allowed {
				allowed = append(allowed, c.now())
			}
		}
		for i := most; i < len(allowed); i++ {
			if d := allowed[i].Sub(allowed[i-most]); d < time.Second {
				t.Fatalf("%d requests within %v", most+1, d)
			}
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	l, _ := limiter(t, ratelimit.Config{Window: time.Minute, Max: 1, Callers: 10})
	for i := range 1000 {
		take(t, l, fmt.Sprint(i))
		if take(t, l, "regular").Allowed != (i == 0) {
			t.Fatalf("a caller seen all the time was forgotten after %d others", i)
		}
	}
	if !take(t, l, "1").Allowed {
		t.Error("a caller of long ago is still remembered")
	}
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	l, _ := limiter(t, ratelimit.Config{Window: time.Minute, Max: 100})
	var mu sync.Mutex
	var wg sync.WaitGroup
	allowed := 0
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if v, _ := l.Take(t.Context(), "a"); v.Allowed {
					mu.Lock()
					allowed++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if allowed != 100 {
		t.Errorf("%d allowed, want 100", allowed)
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for _, cfg := range []ratelimit.Config{
		{}, {Window: time.Minute, Max: 1}, {Window: time.Minute, Now: time.Now}, {Window: 1, Max: 1, Now: time.Now},
		{Window: time.Minute, Max: 1, Callers: -1, Now: time.Now},
	} {
		if _, err := ratelimit.New(cfg); err == nil {
			t.Errorf("%+v was taken", cfg)
		}
	}
}

func BenchmarkTake(b *testing.B) {
	l, err := ratelimit.New(ratelimit.Config{Window: time.Minute, Max: 1 << 30, Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := l.Take(b.Context(), "a"); err != nil {
			b.Fatal(err)
		}
	}
}
