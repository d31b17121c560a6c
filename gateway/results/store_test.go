package results_test

import (
	"fmt"
	"testing"

	"github.com/airlock-run/airlock/gateway/results"
)

func TestStore(t *testing.T) {
	t.Parallel()
	s, err := results.New[string](3, 100)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		s.Put(fmt.Sprint(i), fmt.Sprint("v", i), 9)
		s.Get("0")
	}
	if _, ok := s.Get("1"); ok || s.Len() != 3 || s.Bytes() != 30 {
		t.Errorf("by count: %d values, %d bytes, 1 still there: %v", s.Len(), s.Bytes(), ok)
	}
	if v, ok := s.Get("0"); !ok || v != "v0" {
		t.Error("what is asked for was dropped")
	}
	s.Put("big", "b", 85)
	if _, ok := s.Get("big"); !ok || s.Bytes() > 100 {
		t.Errorf("by bytes: %d bytes, there: %v", s.Bytes(), ok)
	}
	s.Put("big", "c", 5)
	if v, _ := s.Get("big"); v != "c" || s.Bytes() > 30 {
		t.Errorf("replaced: %q, %d bytes", v, s.Bytes())
	}
	s.Put("big", "huge", 1000)
	if _, ok := s.Get("big"); ok {
		t.Error("a value larger than the store was kept, or an old one in its place")
	}
	for _, sizes := range [][2]int{{0, 1}, {1, 0}, {-1, -1}} {
		if _, err := results.New[int](sizes[0], sizes[1]); err == nil {
			t.Errorf("%v was taken", sizes)
		}
	}
}
