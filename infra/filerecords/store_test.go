package filerecords_test

import (
	"errors"
	"testing"

	"github.com/airlock-run/airlock/infra/filerecords"
	"github.com/airlock-run/airlock/policy/audit"
)

func TestAppendGetList(t *testing.T) {
	dir := t.TempDir()
	s, err := filerecords.Open(dir, filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for range 120 {
		r := sample()
		if err := s.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if err := s.Append(t.Context(), r); !errors.Is(err, audit.ErrExists) {
			t.Fatalf("second append: %v", err)
		}
		got, err := s.Get(t.Context(), r.ID)
		if err != nil || got.ID != r.ID || got.Status != r.Status {
			t.Fatalf("get: %v %+v", err, got)
		}
		want[r.ID] = true
	}
	cursor, last := "", ""
	for {
		p, err := s.List(t.Context(), audit.Query{Limit: 7, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range p.Items {
			if !want[r.ID] || last != "" && r.ID >= last {
				t.Fatalf("%s after %s", r.ID, last)
			}
			delete(want, r.ID)
			last = r.ID
		}
		if cursor = p.Next; cursor == "" {
			break
		}
	}
	if len(want) != 0 {
		t.Fatalf("%d records not listed", len(want))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
