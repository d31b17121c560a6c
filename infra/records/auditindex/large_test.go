package auditindex_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/policy/audit"
)

// A page has at most 32 MiB of records and a little more, however many were asked for: records may contain code. The
// pages together have all records.
func TestPagesOfLargeRecords(t *testing.T) {
	const most = 32<<20 + 6<<20
	s := open(t, t.TempDir())
	var want []string
	for n := range 20 {
		r := sample(n)
		if n%2 == 0 {
			r.Code = strings.Repeat("code", 5<<18)
		}
		if err := s.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		want = append(want, r.ID)
	}
	slices.Reverse(want)
	for name, store := range map[string]audit.Reader{"index": index(t, t.TempDir(), s), "store": s} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for q := (audit.Query{Limit: 500}); ; {
				page, err := store.List(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				size := 0
				for _, r := range page.Items {
					size += len(r.Code)
				}
				if size > most {
					t.Errorf("a page has %d bytes", size)
				}
				got = append(got, ids(page.Items)...)
				if q.Cursor = page.Next; q.Cursor == "" {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d records, want %d: %v", len(got), len(want), got)
			}
		})
	}
}
