package stream_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/airlock-run/airlock/gateway/stream"
)

func publish(t *testing.T, l *stream.Log, data ...string) {
	t.Helper()
	for _, d := range data {
		if err := l.Publish(t.Context(), "chunk", []byte(d)); err != nil {
			t.Error(err)
		}
	}
}

func read(t *testing.T, f *stream.Follower) string {
	t.Helper()
	e, err := f.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(e.ID, string(e.Data))
}

func TestFollow(t *testing.T) {
	t.Parallel()
	l := stream.NewLog(100, 0, nil)
	publish(t, l, "a", "b")
	first := l.Follow(0)
	resumed := l.Follow(1)
	publish(t, l, "c")
	l.Close()
	for _, want := range []string{"1a", "2b", "3c"} {
		if got := read(t, first); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := read(t, resumed); got != "2b" {
		t.Errorf("resumed at %s", got)
	}
	if _, err := first.Next(t.Context()); !errors.Is(err, stream.ErrEnd) {
		t.Error(err)
	}
	far := l.Follow(99)
	if _, err := far.Next(t.Context()); !errors.Is(err, stream.ErrEnd) {
		t.Error(err)
	}
}

func TestSlowReaderSlowsThePublisher(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := stream.NewLog(10, 0, nil)
		f := l.Follow(0)
		published := 0
		var wg sync.WaitGroup
		wg.Go(func() {
			for range 10 {
				publish(t, l, "12345")
				published++
			}
			l.Close()
		})
		synctest.Wait()
		if published != 2 {
			t.Fatalf("%d events of 5 bytes before anybody read, with a window of 10", published)
		}
		read(t, f)
		synctest.Wait()
		if published != 3 {
			t.Errorf("%d events after one was read", published)
		}
		f.Close()
		synctest.Wait()
		if published != 10 || l.Bytes() > 15 {
			t.Errorf("nobody reads: %d events, %d bytes kept", published, l.Bytes())
		}
		wg.Wait()
		if got := read(t, l.Follow(0)); got != "9"+"12345" {
			t.Errorf("the oldest kept event is %s", got)
		}
	})
}

func TestPublisherGivesUp(t *testing.T) {
	t.Parallel()
	l := stream.NewLog(1, 0, nil)
	defer l.Follow(0).Close()
	publish(t, l, "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Publish(ctx, "chunk", []byte("y")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestAbandoned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		l := stream.NewLog(10, time.Second, func() { calls++ })
		check := func(want int, when string) {
			t.Helper()
			synctest.Wait()
			if calls != want {
				t.Errorf("%s: %d calls, want %d", when, calls, want)
			}
		}
		a, b := l.Follow(0), l.Follow(0)
		a.Close()
		a.Close()
		time.Sleep(time.Minute)
		check(0, "with a follower left")
		b.Close()
		time.Sleep(999 * time.Millisecond)
		check(0, "before the patience ends")
		back := l.Follow(0)
		time.Sleep(time.Minute)
		check(0, "with a follower that came back")
		back.Close()
		time.Sleep(time.Second)
		check(1, "after the patience ended")
		c := l.Follow(0)
		l.Close()
		c.Close()
		time.Sleep(time.Minute)
		check(1, "after the log ended")
	})
}

// A follower that comes back in time misses nothing: meanwhile the publisher waits as for a slow follower. Nobody
// waits any more for one that does not come.
func TestFollowerComesBack(t *testing.T) {
	t.Parallel()
	for _, comes := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			l := stream.NewLog(10, time.Second, func() {})
			f := l.Follow(0)
			publish(t, l, "1234567890")
			read(t, f)
			f.Close()
			var published atomic.Int32
			go func() {
				for range 30 {
					publish(t, l, "1234567890")
					published.Add(1)
				}
			}()
			synctest.Wait()
			if n := published.Load(); n != 1 {
				t.Errorf("%d events were published while the follower was away; 1 fits", n)
			}
			if !comes {
				time.Sleep(time.Second)
				synctest.Wait()
				if n := published.Load(); n != 30 {
					t.Errorf("%d events were published after the follower was given up", n)
				}
				return
			}
			f = l.Follow(1)
			for n := 2; n <= 31; n++ {
				if got, want := read(t, f), fmt.Sprint(n, "1234567890"); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
			f.Close()
		})
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := stream.NewLog(100, 0, nil)
		var b bytes.Buffer
		flushes := 0
		done := make(chan error)
		go func() {
			f := l.Follow(0)
			defer f.Close()
			done <- stream.Write(t.Context(), bufio.NewWriter(&b), f, "exec_x", time.Second, func() { flushes++ })
		}()
		synctest.Wait()
		time.Sleep(2500 * time.Millisecond) // of the bubble's own clock
		publish(t, l, `{"a":1}`)
		l.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
		const want = ": connected\n\n: heartbeat\n\n: heartbeat\n\nid: exec_x:1\nevent: chunk\ndata: {\"a\":1}\n\n"
		if b.String() != want || flushes != 4 {
			t.Errorf("%d flushes, got\n%s", flushes, b.String())
		}
	})
}

// Events that are there already are sent together: a flush is a system call, and code prints 10,000 lines in no time.
func TestEventsAreSentTogether(t *testing.T) {
	t.Parallel()
	l := stream.NewLog(1<<20, 0, nil)
	for n := range 10_000 {
		publish(t, l, fmt.Sprint("line ", n))
	}
	l.Close()
	flushes := 0
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	if err := stream.Write(t.Context(), w, l.Follow(0), "id", time.Hour, func() { flushes++ }); err != nil {
		t.Fatal(err)
	}
	if got := bytes.Count(out.Bytes(), []byte("\ndata: line ")); got != 10_000 || flushes > 20 {
		t.Errorf("%d events in %d flushes, want 10,000 in at most 20", got, flushes)
	}
}
