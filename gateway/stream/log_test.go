package stream_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
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
	l := stream.NewLog(100, nil)
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
		l := stream.NewLog(10, nil)
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
	l := stream.NewLog(1, nil)
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
	calls := 0
	l := stream.NewLog(10, func() { calls++ })
	a, b := l.Follow(0), l.Follow(0)
	a.Close()
	a.Close()
	if calls != 0 {
		t.Error("abandoned with a follower left")
	}
	b.Close()
	if calls != 1 {
		t.Errorf("%d calls", calls)
	}
	c := l.Follow(0)
	l.Close()
	c.Close()
	if calls != 1 {
		t.Error("abandoned after its end")
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := stream.NewLog(100, nil)
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
