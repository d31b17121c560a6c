package recordstest

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/policy/audit"
)

func appendAndGet(t *testing.T, s Suite) {
	store := mustOpen(t, s, s.New(t))
	seed := int64(-7)
	full := Sample(time.Now())
	full.Code, full.Error, full.Limit = "1 + 1 // \x00\u2028<b>\"\\", "line\nbreak\r\n", "wall"
	full.Seed, full.Function = &seed, &audit.FunctionRef{Name: "f", Version: 3}
	full.Request, full.Journal = []byte(`{ "code" : "x\u0000" }`),
		[]byte(`[{"big":`+`"`+strings.Repeat("é", 200_000)+`"}]`)
	for _, want := range []audit.Record{Sample(time.Now()), full} {
		mustAppend(t, store, want)
		got, err := store.Get(t.Context(), want.ID)
		if err != nil {
			t.Fatal(err)
		}
		if got.Chain.Writer == "" || got.Chain.Seq < 1 || len(got.Chain.Hash) != 64 {
			t.Errorf("chain: %+v", got.Chain)
		}
		got.Chain = audit.Chain{}
		have, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		wanted, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if string(have) != string(wanted) {
			t.Errorf("got  %.300s\nwant %.300s", have, wanted)
		}
	}
	for _, id := range []string{NewID(time.Now()), "exec_", "", "../../etc/passwd", "exec_01ARZ3NDEKTSV4RRFFQ69G5FAV",
		strings.Repeat("a", 5000)} {
		if _, err := store.Get(t.Context(), id); !errors.Is(err, audit.ErrNotFound) {
			t.Errorf("get %.40q: %v", id, err)
		}
	}
	verified(t, store)
}

func refused(t *testing.T, s Suite) {
	store := mustOpen(t, s, s.New(t))
	mustAppend(t, store, Sample(time.Now()))
	for name, spoil := range map[string]func(*audit.Record){
		"no id":         func(r *audit.Record) { r.ID = "" },
		"path in id":    func(r *audit.Record) { r.ID = "../" + r.ID },
		"NUL in id":     func(r *audit.Record) { r.ID += "\x00" },
		"long id":       func(r *audit.Record) { r.ID = strings.Repeat("x", 129) },
		"no JSON":       func(r *audit.Record) { r.Grants = []byte(`{"a":`) },
		"no number":     func(r *audit.Record) { r.DurationMs = math.NaN() },
		"far too large": func(r *audit.Record) { r.Error = strings.Repeat("x", audit.MaxBytes) },
	} {
		r := Sample(time.Now())
		spoil(&r)
		if err := store.Append(t.Context(), r); err == nil || errors.Is(err, audit.ErrExists) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := store.Append(ctx, Sample(time.Now())); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	mustAppend(t, store, Sample(time.Now()))
	if n := len(listed(t, store)); n != 2 {
		t.Errorf("%d records, want 2", n)
	}
	verified(t, store)
}

func exists(t *testing.T, s Suite) {
	place := s.New(t)
	one, two := mustOpen(t, s, place), mustOpen(t, s, place)
	r := Sample(time.Now())
	mustAppend(t, one, r)
	other := r
	other.Status = "error"
	for _, store := range []Store{one, two} {
		if err := store.Append(t.Context(), other); !errors.Is(err, audit.ErrExists) {
			t.Errorf("second record of an id: %v", err)
		}
	}
	mustAppend(t, one, Sample(time.Now()))
	mustAppend(t, two, Sample(time.Now()))
	got, err := two.Get(t.Context(), r.ID)
	if err != nil || got.Status != r.Status {
		t.Errorf("the first record was touched: %v %q", err, got.Status)
	}
	if n := len(listed(t, two)); n != 3 {
		t.Errorf("%d records, want 3", n)
	}
	verified(t, one)
}

func listing(t *testing.T, s Suite) {
	store := mustOpen(t, s, s.New(t))
	if page, err := store.List(t.Context(), audit.Query{}); err != nil || len(page.Items) != 0 || page.Next != "" {
		t.Errorf("empty store: %+v %v", page, err)
	}
	// Three days, so that pages span them. Two executions overlap: the one that began first ends last.
	now := time.Now().Truncate(time.Millisecond)
	var want []string
	for _, age := range []time.Duration{49 * time.Hour, 48 * time.Hour, 25 * time.Hour, 24 * time.Hour, time.Hour,
		time.Minute} {
		early, late := Sample(now.Add(-age)), Sample(now.Add(-age+time.Second))
		early.DurationMs = 5000
		mustAppend(t, store, late, early)
		want = append(want, early.ID, late.ID)
	}
	slices.Reverse(want)
	for _, limit := range []int{1, 2, 5, 12, 500, 100_000} {
		var got []string
		for _, r := range all(t, store, audit.Query{Limit: limit}) {
			got = append(got, r.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("by %d:\n got %v\nwant %v", limit, got, want)
		}
	}
	page, err := store.List(t.Context(), audit.Query{Limit: 5})
	if err != nil || len(page.Items) != 5 || page.Next == "" {
		t.Errorf("a page of 5: %d, %v", len(page.Items), err)
	}
	for range 55 {
		mustAppend(t, store, Sample(time.Now()))
	}
	if page, err = store.List(t.Context(), audit.Query{}); err != nil || len(page.Items) != 50 {
		t.Errorf("a page by default: %d, %v", len(page.Items), err)
	}
}

func filters(t *testing.T, s Suite) {
	store := mustOpen(t, s, s.New(t))
	now := time.Now().Truncate(time.Second)
	for i := range 24 {
		r := Sample(now.Add(time.Duration(i-24) * time.Hour))
		r.Status = []string{"completed", "error", "timeout"}[i%3]
		r.Policy = []string{"strict", "standard"}[i%2]
		r.Caller.Tenant = []string{"acme", "", "standard", `q"<`}[i%4]
		if i%3 != 0 {
			r.Function = &audit.FunctionRef{Name: []string{"report", "strict"}[i%2], Version: i}
		}
		mustAppend(t, store, r)
	}
	for _, c := range []struct {
		name string
		q    audit.Query
		want int
	}{
		{"status", audit.Query{Status: "error"}, 8},
		{"policy", audit.Query{Policy: "strict"}, 12},
		{"tenant", audit.Query{Tenant: "acme"}, 6},
		{"tenant named like a policy", audit.Query{Tenant: "standard"}, 6},
		{"tenant to be quoted", audit.Query{Tenant: `q"<`}, 6},
		{"all of them", audit.Query{Status: "completed", Policy: "strict", Tenant: "acme"}, 2},
		{"since, inclusive", audit.Query{Since: now.Add(-3 * time.Hour)}, 3},
		{"until, exclusive", audit.Query{Until: now.Add(-21 * time.Hour)}, 3},
		{"between", audit.Query{Since: now.Add(-10 * time.Hour), Until: now.Add(-4 * time.Hour)}, 6},
		{"function", audit.Query{Function: "report"}, 8},
		{"function named like a policy", audit.Query{Function: "strict"}, 8},
		{"function and tenant", audit.Query{Function: "report", Tenant: "standard"}, 4},
		{"function and status", audit.Query{Function: "report", Status: "error"}, 4},
		{"a function that ran nowhere", audit.Query{Function: "acme"}, 0},
		{"nobody", audit.Query{Tenant: "nobody"}, 0},
		{"a value elsewhere in the record", audit.Query{Status: "quickjs"}, 0},
	} {
		for _, limit := range []int{0, 1, 5} {
			c.q.Limit = limit
			if got := all(t, store, c.q); len(got) != c.want {
				t.Errorf("%s by %d: %d records, want %d", c.name, limit, len(got), c.want)
			}
		}
	}
}

func cursors(t *testing.T, s Suite) {
	store := mustOpen(t, s, s.New(t))
	for range 10 {
		mustAppend(t, store, Sample(time.Now()))
	}
	before := listed(t, store)
	page, err := store.List(t.Context(), audit.Query{Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, store, Sample(time.Now()), Sample(time.Now().Add(-time.Second)))
	got := []string{page.Items[0].ID, page.Items[1].ID, page.Items[2].ID}
	for _, r := range all(t, store, audit.Query{Limit: 3, Cursor: page.Next}) {
		if slices.Contains(before, r.ID) { // a store may show a new record that belongs further down
			got = append(got, r.ID)
		}
	}
	if !slices.Equal(got, before) {
		t.Errorf("new records shifted the pages:\n got %v\nwant %v", got, before)
	}
	for _, bad := range []string{"x", "!!", "AAAA", page.Next + "x", strings.Repeat("A", 100_000), "bnVsbA", "e30"} {
		if _, err := store.List(t.Context(), audit.Query{Cursor: bad}); !errors.Is(err, audit.ErrCursor) {
			t.Errorf("cursor %.20q: %v", bad, err)
		}
	}
}

func closed(t *testing.T, s Suite) {
	store := mustOpen(t, s, s.New(t))
	r := Sample(time.Now())
	mustAppend(t, store, r)
	shut(t, store)
	if err := store.Append(t.Context(), Sample(time.Now())); err == nil {
		t.Error("a closed store took a record")
	}
	if _, err := store.Get(t.Context(), r.ID); err == nil {
		t.Error("a closed store was read")
	}
	if _, err := store.List(t.Context(), audit.Query{}); err == nil {
		t.Error("a closed store was listed")
	}
}
