package auditindex_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/records/auditindex"
	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/policy/audit"
)

var dawn = time.Date(2025, 3, 1, 22, 30, 0, 0, time.UTC)

// sample is the nth of a mixture of records, some minutes apart.
func sample(n int) audit.Record {
	at := dawn.Add(time.Duration(n) * 7 * time.Minute)
	r := recordstest.Sample(at)
	r.ID, r.Time = recordstest.NewID(at), at
	r.Usage.CPUMs = 1.125 // sums of these are exact, in any order
	r.DurationMs, r.Usage.QueueMs, r.Usage.MemoryBytes = float64(n%9)/4, float64(n%5)*8, int64(n%7)<<20
	if n%11 == 0 {
		r.Reused = "exec_01ARZ3NDEKTSV4RRFFQ69G5FAV"
	}
	if n%5 == 1 {
		r.Error = []string{"TypeError: x", "Odd: y", "no colon"}[n%3]
	}
	r.Status = []string{"completed", "error", "completed", "blocked", "timeout"}[n%5]
	r.Policy = []string{"strict", "standard", "agent"}[n%3]
	r.Caller.Tenant = []string{"acme", "umbrella", ""}[n%3]
	if n%4 > 1 {
		r.Function = &audit.FunctionRef{Name: []string{"report", "monthly"}[n%2], Version: n}
	}
	r.DangerAnalysis = json.RawMessage(`{"score":0,"level":"safe","findings":[]}`)
	if n%4 == 0 {
		r.DangerAnalysis = json.RawMessage(`{"score":40,"level":"high","findings":[{"category":"eval","severity":"high"},` +
			`{"category":"network","severity":"low"}]}`)
	}
	return r
}

func open(t testing.TB, dir string) *filerecords.Store {
	t.Helper()
	s, err := filerecords.Open(dir, filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func index(t testing.TB, dir string, s auditindex.Log) *auditindex.Index {
	t.Helper()
	x, err := auditindex.Open(t.Context(), dir, s, auditindex.Config{Patience: time.Minute, Batch: 7})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

func fill(t testing.TB, s audit.Appender, from, to int) (all []audit.Record) {
	t.Helper()
	for n := from; n < to; n++ {
		r := sample(n)
		if err := s.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func ids(records []audit.Record) (all []string) {
	for _, r := range records {
		all = append(all, r.ID)
	}
	return all
}

// walk lists to the end.
func walk(t testing.TB, s audit.Store, q audit.Query) (all []string) {
	t.Helper()
	for {
		page, err := s.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ids(page.Items)...)
		if q.Cursor = page.Next; q.Cursor == "" {
			return all
		}
		if len(page.Items) != q.Limit {
			t.Fatalf("a page of %d with a next one, want %d", len(page.Items), q.Limit)
		}
	}
}

func selected(all []audit.Record, q audit.Query) []audit.Record {
	var some []audit.Record
	for _, r := range all {
		if (q.Status == "" || r.Status == q.Status) && (q.Policy == "" || r.Policy == q.Policy) &&
			(q.Function == "" || r.Function != nil && r.Function.Name == q.Function) &&
			(q.Tenant == "" || r.Caller.Tenant == q.Tenant) && !r.Time.Before(q.Since) &&
			(q.Until.IsZero() || r.Time.Before(q.Until)) {
			some = append(some, r)
		}
	}
	slices.SortFunc(some, func(a, b audit.Record) int {
		return cmp.Or(b.Time.Compare(a.Time), strings.Compare(b.ID, a.ID))
	})
	return some
}

func queries() []audit.Query {
	var all []audit.Query
	for _, function := range []string{"report", "monthly", "none"} {
		for _, status := range []string{"", "blocked"} {
			for _, tenant := range []string{"", "acme", "nobody"} {
				all = append(all, audit.Query{Limit: 9, Function: function, Status: status, Tenant: tenant},
					audit.Query{Limit: 9, Function: function, Status: status, Tenant: tenant, Policy: "agent",
						Since: dawn.Add(100 * time.Minute), Until: dawn.Add(40*time.Hour + time.Second)})
			}
		}
	}
	for _, status := range []string{"", "blocked", "none"} {
		for _, policy := range []string{"", "agent"} {
			for _, tenant := range []string{"", "acme", "nobody"} {
				for _, since := range []time.Time{{}, dawn.Add(100 * time.Minute), dawn.Add(3*time.Hour + 30*time.Minute)} {
					for _, until := range []time.Time{{}, dawn.Add(4 * time.Hour), dawn.Add(40*time.Hour + time.Second)} {
						all = append(all, audit.Query{Limit: 9, Status: status, Policy: policy, Tenant: tenant, Since: since,
							Until: until})
					}
				}
			}
		}
	}
	return all
}

func check(t *testing.T, x *auditindex.Index, all []audit.Record) {
	t.Helper()
	for _, q := range queries() {
		want := selected(all, q)
		if got := walk(t, x, q); !slices.Equal(got, ids(want)) {
			t.Errorf("%+v: %d records, want %d", q, len(got), len(want))
		}
		if q.Status != "" || q.Policy != "" || q.Function != "" {
			continue
		}
		var sum audit.Summary
		var threats []string
		for _, r := range want {
			o := audit.OutlineOf(r)
			sum.Add(o)
			if o.Score > 0 {
				threats = append(threats, r.ID)
			}
		}
		got, err := x.Summary(t.Context(), q)
		if err != nil || !reflect.DeepEqual(got, sum) {
			t.Errorf("%+v: %v\n%+v, want\n%+v", q, err, got, sum)
		}
		recent, err := x.Threats(t.Context(), q)
		if err != nil || !slices.Equal(ids(recent), threats[:min(len(threats), 9)]) {
			t.Errorf("%+v: %v: %d threats", q, err, len(recent))
		}
	}
}

// Series have in every step what the records have, whatever its length.
func checkSeries(t *testing.T, x *auditindex.Index, all []audit.Record) {
	t.Helper()
	for _, step := range []time.Duration{10 * time.Second, time.Minute, 7 * time.Minute, 15 * time.Minute, time.Hour,
		5 * time.Hour, 24 * time.Hour, 48 * time.Hour} {
		for _, tenant := range []string{"", "acme", "nobody"} {
			q := audit.Query{Tenant: tenant, Since: dawn.Add(3 * time.Hour).Truncate(step)}
			q.Until = q.Since.Add(20 * step)
			got, err := x.Series(t.Context(), q, step)
			if err != nil || len(got) != 20 {
				t.Fatalf("%s: %v: %d steps", step, err, len(got))
			}
			want := make([]audit.Summary, 20)
			for _, r := range slices.Backward(selected(all, q)) {
				want[r.Time.Sub(q.Since)/step].Add(audit.OutlineOf(r))
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s by %s:\n%+v, want\n%+v", tenant, step, got, want)
			}
		}
	}
	for _, bad := range []audit.Query{{Since: dawn}, {Since: dawn, Until: dawn.Add(-time.Hour)},
		{Since: dawn, Until: dawn.Add(time.Second)}, {Since: dawn, Until: dawn.Add(1e5 * time.Minute)}} {
		if _, err := x.Series(t.Context(), bad, time.Minute); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}

func TestAnswersAsTheRecordsDo(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	all := fill(t, s, 0, 300)
	folder := filepath.Join(t.TempDir(), "index")
	x := index(t, folder, s)
	check(t, x, all)

	// Another writer, and days between those that are known.
	other := open(t, dir)
	for n := range 40 {
		r := sample(n * 7)
		r.ID = recordstest.NewID(r.Time)
		if err := other.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	all = append(all, fill(t, x, 300, 320)...)
	check(t, x, all)
	checkSeries(t, x, all)

	// Another process of the same index.
	check(t, index(t, folder, other), all)
}

func TestCursorsAreStableWhileRecordsArrive(t *testing.T) {
	s := open(t, t.TempDir())
	want := ids(selected(fill(t, s, 0, 30), audit.Query{}))
	x := index(t, t.TempDir(), s)
	var got []string
	q := audit.Query{Limit: 4}
	for n := 30; ; n++ {
		page, err := x.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, ids(page.Items)...)
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
		fill(t, s, n, n+1)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d records, want %d", len(got), len(want))
	}
	for _, cursor := range []string{"x", "i.", "i.x", "i.e30", "i.eyJ0IjoxLCJpIjoiLi4vIn0"} {
		if _, err := x.List(t.Context(), audit.Query{Cursor: cursor}); !errors.Is(err, audit.ErrCursor) {
			t.Errorf("%q: %v", cursor, err)
		}
	}
	// A cursor of the store continues in the store.
	page, err := s.List(t.Context(), audit.Query{Limit: 4})
	if err != nil {
		t.Fatal(err)
	}
	next, err := s.List(t.Context(), audit.Query{Limit: 4, Cursor: page.Next})
	if err != nil {
		t.Fatal(err)
	}
	same, err := x.List(t.Context(), audit.Query{Limit: 4, Cursor: page.Next})
	if err != nil || !slices.Equal(ids(same.Items), ids(next.Items)) {
		t.Errorf("%v: %v", err, ids(same.Items))
	}
}

// An index that is missing, damaged, of another version or of other records is rebuilt. A duplicate line counts once,
// within one batch and across two, and so do the lines around it.
func TestLinesThatAreThereTwice(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	all := fill(t, s, 0, 200) // within a day
	days, err := s.Days(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	repeat := func() {
		t.Helper()
		for _, day := range days {
			name := filepath.Join(dir, "audit-"+day+".jsonl")
			lines, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			first := lines[:bytes.IndexByte(lines, '\n')+1]
			if err := os.WriteFile(name, append(lines, first...), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	repeat()
	x, err := auditindex.Open(t.Context(), t.TempDir(), s, auditindex.Config{Patience: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	check := func() {
		t.Helper()
		f, err := x.Summary(t.Context(), audit.Query{})
		if err != nil || f.Records != int64(len(all)) {
			t.Errorf("%d records of %d, %v", f.Records, len(all), err)
		}
		if got, want := walk(t, x, audit.Query{Limit: 50}), ids(selected(all, audit.Query{})); !slices.Equal(got, want) {
			t.Errorf("%d records listed, want %d", len(got), len(want))
		}
	}
	check()
	repeat()
	all = append(all, fill(t, s, 200, 300)...)
	check()
}

func TestMadeAgain(t *testing.T) {
	records, folder := t.TempDir(), t.TempDir()
	s := open(t, records)
	all := fill(t, s, 0, 100)
	file := filepath.Join(folder, "records.db")
	use := func(s auditindex.Log, all []audit.Record) {
		t.Helper()
		x, err := auditindex.Open(t.Context(), folder, s, auditindex.Config{Patience: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		check(t, x, all)
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := x.Summary(t.Context(), audit.Query{}); err == nil {
			t.Error("a closed index answers")
		}
	}
	use(s, all)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	use(s, all)
	if err := os.WriteFile(file, []byte(strings.Repeat("this is no database\n", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	use(s, all)
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	doc[63] = 99 // the user version
	if err := os.WriteFile(file, doc, 0o600); err != nil {
		t.Fatal(err)
	}
	use(s, all)
	elsewhere := open(t, t.TempDir()) // the same days, other records; one day less
	use(elsewhere, fill(t, elsewhere, 0, 60))
	use(s, all)
}

func TestWhileItIsBehind(t *testing.T) {
	s := open(t, t.TempDir())
	fill(t, s, 0, 20)
	blocked := &slow{Store: s, gate: make(chan struct{})}
	x, err := auditindex.Open(t.Context(), t.TempDir(), blocked, auditindex.Config{Patience: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Summary(t.Context(), audit.Query{}); !errors.Is(err, audit.ErrBehind) {
		t.Errorf("summary: %v", err)
	}
	if got := walk(t, x, audit.Query{Limit: 6}); len(got) != 20 {
		t.Errorf("%d records are listed", len(got))
	}
	if err := x.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	close(blocked.gate)
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}
