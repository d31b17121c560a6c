package statetest

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// BenchmarkPaused measures how long a store takes for a page of 50 of the paused executions of a tenant, for a caller
// who may approve all of them and for one who began a tenth, and for what is due, while nothing is.
// PAUSED_EXECUTIONS is how many there are, by default 2,000.
func BenchmarkPaused(b *testing.B, s Store) {
	const page, sources = 50, 16
	all := 2000
	if text := os.Getenv("PAUSED_EXECUTIONS"); text != "" {
		var err error
		if all, err = strconv.Atoi(text); err != nil || all < 2000 {
			b.Fatalf("PAUSED_EXECUTIONS is %q, want a number from 2000", text)
		}
	}
	later := time.Now().Add(time.Hour)
	before := resident(b)
	started := time.Now()
	var fill sync.WaitGroup
	for source := range sources {
		fill.Go(func() {
			for n := source; n < all; n += sources {
				if err := s.Submit(b.Context(), pausedJob(n, "a", fmt.Sprint("user", n%10), later)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	fill.Wait()
	if b.Failed() {
		return
	}
	b.Logf("%d paused executions stored in %v; this process has %d MiB resident, %d before",
		all, time.Since(started).Round(time.Millisecond), resident(b)>>20, before>>20)
	for _, c := range []struct{ name, subject, after string }{
		{"the first page", "", ""}, {"a page in the middle", "", id(all / 2)}, {"the last page", "", id(all - page - 1)},
		{"a page of a caller", "user3", id(all / 2)},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				found, err := s.Paused(b.Context(), "a", c.subject, c.after, page)
				if err != nil || len(found) != page {
					b.Fatalf("%d found, %v", len(found), err)
				}
			}
		})
	}
	b.Run("what is due", func(b *testing.B) {
		for b.Loop() {
			if found, err := s.DueWaits(b.Context(), time.Now(), page); err != nil || len(found) > 0 {
				b.Fatalf("%d found, %v", len(found), err)
			}
		}
	})
	b.Run("1000 resumed", func(b *testing.B) {
		for b.Loop() {
			resumed(b, s, 1000)
		}
	})
}

// resident returns the resident memory of this process in bytes; 0 where the system does not say.
func resident(b *testing.B) int {
	b.Helper()
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		b.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// resumed queues paused jobs, and claims all of them.
func resumed(b *testing.B, s Store, most int) {
	for n := range most {
		_, err := s.ChangeJob(b.Context(), id(n), func(j *execution.Job) error {
			j.Status, j.Wait = execution.Queued, j.Wait.Clone()
			j.Wait.Segment++
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	for claimed := 0; claimed < most; {
		found, err := s.ClaimSome(b.Context(), time.Now(), "", nil, 16)
		if err != nil {
			b.Fatal(err)
		}
		for _, job := range found {
			_, err := s.ChangeJob(b.Context(), job.ID, func(j *execution.Job) error {
				j.Status, j.Owner = execution.Paused, ""
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			claimed++
		}
	}
}
