package audit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/policy/audit"
)

// pages is a store of records, oldest first, that lists two at a time.
type pages []audit.Record

func (p pages) Get(_ context.Context, id string) (audit.Record, error) {
	if n := slices.IndexFunc(p, func(r audit.Record) bool { return r.ID == id }); n >= 0 {
		return p[n], nil
	}
	return audit.Record{}, audit.ErrNotFound
}

func (p pages) List(_ context.Context, q audit.Query) (page audit.Page, err error) {
	left := len(p)
	if q.Cursor != "" {
		if _, err := fmt.Sscan(q.Cursor, &left); err != nil {
			return page, err
		}
	}
	for left > 0 && len(page.Items) < 2 {
		left--
		if r := p[left]; r.Status == q.Status && !r.Time.Before(q.Since) && r.Time.Before(q.Until) {
			page.Items = append(page.Items, r)
		}
	}
	if left > 0 {
		page.Next = fmt.Sprint(left)
	}
	return page, nil
}

// The last attempt at each segment, and the last completed one of each step, led to what came after it.
func TestEarlier(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	segment := func(id, status string, n int) audit.Record {
		return audit.Record{ID: id, Ending: audit.Ending{Status: status}, Lineage: audit.Lineage{Parent: "first", Segment: n}}
	}
	step := func(id, session, status string, n int) audit.Record {
		return audit.Record{ID: id, Ending: audit.Ending{Status: status}, Lineage: audit.Lineage{Session: session, Step: n}}
	}
	decision := segment("decision", "paused", 2)
	decision.Decision = &audit.Decision{}
	paused := audit.Ending{Status: "paused"}
	store := pages{{ID: "before", Ending: paused}, {ID: "first", Ending: paused}, segment("second lost", "paused", 2),
		step("one", "s", "completed", 1), segment("second", "paused", 2), decision, step("two failed", "s", "error", 2),
		step("two exits", "s", "completed", 2), step("another", "x", "completed", 2), step("two", "s", "completed", 2),
		segment("third failed", "error", 3), segment("third", "completed", 3), step("three", "s", "completed", 3),
		segment("fifth", "completed", 5), step("fork", "f", "completed", 3),
	}
	restarted := step("four", "s", "completed", 4)
	restarted.Restarted = true
	forked, again := step("forked", "g", "completed", 3), step("again", "h", "completed", 4)
	forked.ForkOf, again.ForkOf = "s", "g"
	store = append(store, forked, step("g four", "g", "completed", 4), again, step("h five", "h", "completed", 5),
		restarted, step("five", "s", "completed", 5))
	for i := range store {
		store[i].Time = began.Add(time.Duration(i) * time.Second)
	}
	for id, want := range map[string]string{
		"first": "", "second": "first", "third": "first second", "one": "", "two": "one", "three": "one two",
		"fifth": "segment 4", "fork": "step 2",
		"four": "", "five": "four", "forked": "one two", "g four": "one two forked", "again": "one two forked",
		"h five": "one two forked again",
	} {
		t.Run(id, func(t *testing.T) {
			r, err := store.Get(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			got, err := audit.Earlier(t.Context(), store, r)
			if errors.Is(err, audit.ErrIncomplete) && strings.Contains(err.Error(), want+" has no record") {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, e := range got {
				ids = append(ids, e.ID)
			}
			if diff := cmp.Diff(strings.Join(ids, " "), want); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// altered is a store of which one line was altered: it lists the line, and does not return it as a record.
type altered struct {
	pages
	id string
}

func (a altered) Get(ctx context.Context, id string) (audit.Record, error) {
	if id == a.id {
		return audit.Record{}, audit.ErrAltered
	}
	return a.pages.Get(ctx, id)
}

// moved is a store whose list has a record at another place of the session than the record says.
type moved struct{ pages }

func (m moved) List(ctx context.Context, q audit.Query) (audit.Page, error) {
	page, err := m.pages.List(ctx, q)
	for i, r := range page.Items {
		if r.Session != "" {
			page.Items[i].Step = 3 - r.Step
		}
	}
	return page, err
}

// What a list contains is not replayed unless the record itself says the same.
func TestEarlierRefusesAlteredRecords(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var store pages
	for n := range 3 {
		store = append(store, audit.Record{ID: fmt.Sprint("step ", n+1), Ending: audit.Ending{Status: "completed"},
			Time: began.Add(time.Duration(n) * time.Second), Lineage: audit.Lineage{Session: "s", Step: n + 1}})
	}
	for name, reader := range map[string]audit.Reader{
		"the first step":   altered{store, "step 1"},
		"the second step":  altered{store, "step 2"},
		"exchanged places": moved{store},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := audit.Earlier(t.Context(), reader, store[2])
			if !errors.Is(err, audit.ErrAltered) {
				t.Errorf("got %d records and %v", len(got), err)
			}
		})
	}
}
