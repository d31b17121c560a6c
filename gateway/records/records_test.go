package records_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/records"
	"github.com/airlock-run/airlock/policy/audit"
)

// pages is a store that lists records page by page.
type pages struct {
	records.Store
	all  []audit.Record
	fail error
}

func (p *pages) List(_ context.Context, q audit.Query) (audit.Page, error) {
	if p.fail != nil {
		return audit.Page{}, p.fail
	}
	begin := 0
	if q.Cursor != "" {
		begin = len(q.Cursor)
	}
	end := min(begin+2, len(p.all))
	page := audit.Page{Items: p.all[begin:end]}
	if end < len(p.all) {
		page.Next = "....................."[:end]
	}
	return page, nil
}

// indexed is a store with an index.
type indexed struct {
	*pages
	sum audit.Summary
	err error
}

func (i *indexed) Summary(context.Context, audit.Query) (audit.Summary, error) { return i.sum, i.err }

func (i *indexed) Threats(context.Context, audit.Query) ([]audit.Record, error) { return nil, i.err }

func (i *indexed) Series(context.Context, audit.Query, time.Duration) ([]audit.Summary, error) {
	return nil, i.err
}

// The index answers if it can. Otherwise the records are read, and an error of the index is not hidden.
func TestTotals(t *testing.T) {
	t.Parallel()
	store := &pages{all: []audit.Record{
		{ID: "a", Ending: audit.Ending{Status: "completed"}}, {ID: "b", Ending: audit.Ending{Status: "error"}}, {ID: "c"},
	}}
	broken := errors.New("disk")
	for _, c := range []struct {
		name   string
		store  records.Store
		count  int64
		failed bool
		part   bool
	}{
		{"records only", store, 3, false, false},
		{"an index", &indexed{store, audit.Summary{Records: 7}, nil}, 7, false, false},
		{"an index that is behind", &indexed{store, audit.Summary{}, audit.ErrBehind}, 3, false, false},
		{"a broken index", &indexed{store, audit.Summary{}, broken}, 0, true, false},
		{"a part of an index", &indexed{store, audit.Summary{Records: 2}, audit.ErrBehind}, 2, false, true},
		{"a broken store", &pages{fail: broken}, 0, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sum, complete, err := records.Totals(t.Context(), c.store, audit.Query{})
			if (err != nil) != c.failed {
				t.Errorf("the error is %v", err)
			}
			if sum.Records != c.count {
				t.Errorf("%d records, want %d", sum.Records, c.count)
			}
			if !c.failed && complete == c.part {
				t.Errorf("complete: %t", complete)
			}
			if problem := (*api.Problem)(nil); c.failed && (!errors.As(err, &problem) || problem.Status != 503) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// sparse is a store with empty pages: for each it reads a part of its records and finds none that match.
type sparse struct {
	records.Store
	lists int
}

func (s *sparse) List(context.Context, audit.Query) (audit.Page, error) {
	s.lists++
	return audit.Page{Next: "more"}, nil
}

// A summary of records that are rare reads few pages and says that it is not complete.
func TestTotalsOfRareRecords(t *testing.T) {
	t.Parallel()
	store := &sparse{}
	sum, complete, err := records.Totals(t.Context(), store, audit.Query{Tenant: "rare"})
	if err != nil || sum.Records != 0 {
		t.Errorf("%d records, %v", sum.Records, err)
	}
	if complete || store.lists != 12 {
		t.Errorf("complete: %t, after %d pages", complete, store.lists)
	}
}

func TestSpan(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for _, c := range []struct{ window, step time.Duration }{
		{time.Hour, time.Minute}, {90 * time.Second, time.Minute}, {time.Second, time.Hour},
		{31 * 24 * time.Hour, 24 * time.Hour},
	} {
		since, until := records.Span(now, c.window, c.step)
		if since.Truncate(c.step) != since || until.Truncate(c.step) != until {
			t.Errorf("%v by %v: from %v to %v are no whole steps", c.window, c.step, since, until)
		}
		if !until.After(now) || until.Sub(now) > c.step {
			t.Errorf("%v by %v: it ends at %v, and now is %v", c.window, c.step, until, now)
		}
		if until.Sub(since) < c.window {
			t.Errorf("%v by %v: from %v to %v is too short", c.window, c.step, since, until)
		}
	}
}

func TestStepOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		given  map[string]string
		window time.Duration
		want   time.Duration
		wrong  bool
	}{
		{"an hour", nil, time.Hour, time.Minute, false},
		{"a day", nil, 24 * time.Hour, 30 * time.Minute, false},
		{"a given step", map[string]string{"step": "5m"}, time.Hour, 5 * time.Minute, false},
		{"a step in days", map[string]string{"step": "1d"}, 24 * time.Hour, 24 * time.Hour, false},
		{"part of a second", map[string]string{"step": "1500ms"}, time.Hour, 0, true},
		{"too many points", map[string]string{"step": "1s"}, time.Hour, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := records.StepOf(c.given, c.window)
			if (err != nil) != c.wrong || err == nil && got != c.want {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestTopTenants(t *testing.T) {
	t.Parallel()
	sum := audit.Summary{Counts: audit.Counts{ByTenant: map[string]int64{"b": 2, "a": 2, "c": 9},
		Flagged: map[string]int64{"c": 1}}}
	got := records.TopTenants(sum)
	if len(got) != 3 || got[0] != (records.TenantUse{Tenant: "c", Executions: 9, Flagged: 1}) || got[1].Tenant != "a" {
		t.Errorf("got %+v", got)
	}
}
