package auditindex_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/records/auditindex"
	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/policy/audit"
)

// large adds n records to s of which each has a score, and every second one 5 MiB of code.
func large(t *testing.T, s audit.Appender, n int) (newestFirst []string) {
	t.Helper()
	for n := range n {
		r := sample(4 * n)
		if n%2 == 0 {
			r.Code = strings.Repeat("code", 5<<18)
			r.Request, r.Journal = []byte(`{"code":"1"}`), []byte(`[{}]`)
		}
		if err := s.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		newestFirst = append(newestFirst, r.ID)
	}
	slices.Reverse(newestFirst)
	return newestFirst
}

// A page is bounded in bytes however many records were asked for, and the pages together have all records.
func TestPagesOfLargeRecords(t *testing.T) {
	t.Run("of a log", func(t *testing.T) {
		s := open(t, t.TempDir())
		recordstest.Pages(t, index(t, t.TempDir(), s), recordstest.FillLarge(t, s))
	})
	t.Run("of a bucket", func(t *testing.T) {
		s, _, _ := bucket(t)
		at := &clock{}
		want := recordstest.FillLarge(t, s)
		at.set(time.Now())
		recordstest.Pages(t, follow(t, t.TempDir(), s, at), want)
	})
}

// The threats that were asked for are returned although they have more than a page of code, which they come without.
func TestThreatsOfLargeRecords(t *testing.T) {
	s := open(t, t.TempDir())
	want := large(t, s, 20)
	threats, err := index(t, t.TempDir(), s).Threats(t.Context(), audit.Query{Limit: 500})
	if err != nil || !slices.Equal(ids(threats), want) {
		t.Errorf("%d threats, want %d: %v", len(threats), len(want), err)
	}
	for _, r := range threats {
		if len(r.Code)+len(r.Request)+len(r.Journal) > 0 {
			t.Errorf("%s has its content", r.ID)
		}
		if len(r.DangerAnalysis) == 0 {
			t.Errorf("%s has no analysis", r.ID)
		}
	}
}

// weighed is a log that measures how much memory is in use while its lines are read.
type weighed struct {
	auditindex.Log
	most uint64
}

func (w *weighed) Lines(ctx context.Context, day string, offset int64, fn func([]byte, int64) error) error {
	return w.Log.Lines(ctx, day, offset, func(line []byte, next int64) error {
		err := fn(line, next)
		w.most = max(w.most, inUse())
		return err
	})
}

func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A page that is full takes the memory of a page, and not that of what was read for it and left out.
func TestMemoryOfAPage(t *testing.T) {
	s := open(t, t.TempDir())
	large(t, s, 32)
	w := &weighed{Log: s}
	x := index(t, t.TempDir(), w)
	if _, err := x.Summary(t.Context(), audit.Query{}); err != nil { // the index has all records
		t.Fatal(err)
	}
	w.most = 0
	before := inUse()
	page, err := x.List(t.Context(), audit.Query{Limit: 500})
	if err != nil || page.Next == "" {
		t.Fatalf("%d records: %v", len(page.Items), err)
	}
	const line = 8 << 20 // the room that a line of 5 MiB is read into
	if most := w.most - before; most > audit.MaxPage+line {
		t.Errorf("a page takes %d MiB", most>>20)
	}
}
