package ratelimit_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// A Redis whose clock is set back gives nobody a fresh allowance, and refuses nobody for longer than a window. For
// the script, a clock that was set back shows as counts in the future.
func TestSharedClockSetBack(t *testing.T) {
	t.Parallel()
	s := startRedis(t)
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: s.path, MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	const window, most = 2 * time.Second, 4
	for _, back := range []time.Duration{
		40 * time.Millisecond, time.Second, window, 10 * window, time.Hour, 24 * time.Hour, 400 * 24 * time.Hour,
	} {
		t.Run(back.String(), func(t *testing.T) {
			l := shared(t, s, most, window, time.Now, silent)
			if err := client.FlushAll(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			for range most {
				v, err := l.Take(t.Context(), "alice")
				if err != nil || !v.Allowed {
					t.Fatalf("%+v, %v", v, err)
				}
			}
			took := time.Now()
			keys, err := client.Keys(t.Context(), "test:*").Result()
			if err != nil || len(keys) != 1 {
				t.Fatal(keys, err)
			}
			counts, err := client.HGetAll(t.Context(), keys[0]).Result()
			if err != nil {
				t.Fatal(err)
			}
			if err := client.Del(t.Context(), keys[0]).Err(); err != nil {
				t.Fatal(err)
			}
			for slice, n := range counts {
				at, err := strconv.ParseInt(slice, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				at += int64(back / (window / 64))
				if err := client.HSet(t.Context(), keys[0], strconv.FormatInt(at, 10), n).Err(); err != nil {
					t.Fatal(err)
				}
			}
			look := time.NewTicker(window / 64)
			defer look.Stop()
			for ; ; <-look.C {
				asked := time.Now()
				v, err := l.Take(t.Context(), "alice")
				if err != nil {
					t.Fatal(err)
				}
				if v.Allowed {
					break
				}
				if v.Reset <= 0 || v.Reset > window+window/8 {
					t.Fatalf("at the limit, %v after the clock was set back: %+v", time.Since(took), v)
				}
				if waited := asked.Sub(took); waited > 3*window {
					t.Fatalf("still refused after %v: %+v", waited, v)
				}
			}
			if waited := time.Since(began); waited < window-window/8 {
				t.Errorf("a fresh allowance after %v", waited)
			}
		})
	}
}
