package recordstest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/policy/audit"
)

func largePages(t *testing.T, s Suite) {
	store := mustOpen(t, s, s.New(t))
	Pages(t, store, FillLarge(t, store))
}

// FillLarge adds records to an empty store that together have more than two pages of bytes, the newest of them nearly
// as many as a record may have. It returns their IDs, newest first.
func FillLarge(t *testing.T, store audit.Appender) (ids []string) {
	t.Helper()
	now := time.Now()
	for n := range 12 {
		r := Sample(now.Add(time.Duration(n-12) * time.Minute))
		switch {
		case n == 11:
			r.Code = strings.Repeat("code", (audit.MaxBytes-1<<20)/4)
		case n%3 > 0:
			r.Code = strings.Repeat("code", 1<<18)
		}
		if err := store.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	slices.Reverse(ids)
	return ids
}

// Pages lists all records of store. It fails the test unless they are want, and no page of several records has more
// than audit.MaxPage bytes, however many records were asked for.
func Pages(t *testing.T, store audit.Reader, want []string) {
	t.Helper()
	var got []string
	for q := (audit.Query{Limit: 500}); ; {
		page, err := store.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for _, r := range page.Items {
			size += len(r.Code)
			got = append(got, r.ID)
		}
		if size > audit.MaxPage && len(page.Items) > 1 {
			t.Errorf("a page of %d records has %d bytes", len(page.Items), size)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d records, want %d: %v", len(got), len(want), got)
	}
}
