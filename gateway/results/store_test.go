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
		s.Put("a", fmt.Sprint(i), fmt.Sprint("v", i), 9)
		s.Get("0")
	}
	if _, ok := s.Get("1"); ok || s.Len() != 3 || s.Bytes() != 30 {
		t.Errorf("by count: %d values, %d bytes, 1 still there: %v", s.Len(), s.Bytes(), ok)
	}
	if v, ok := s.Get("0"); !ok || v != "v0" {
		t.Error("what is asked for was dropped")
	}
	s.Put("a", "big", "b", 85)
	if _, ok := s.Get("big"); !ok || s.Bytes() > 100 {
		t.Errorf("by bytes: %d bytes, there: %v", s.Bytes(), ok)
	}
	s.Put("a", "big", "c", 5)
	if v, _ := s.Get("big"); v != "c" || s.Bytes() > 30 {
		t.Errorf("replaced: %q, %d bytes", v, s.Bytes())
	}
	s.Put("a", "big", "huge", 1000)
	if _, ok := s.Get("big"); ok {
		t.Error("a value larger than the store was kept, or an old one in its place")
	}
	for _, sizes := range [][2]int{{0, 1}, {1, 0}, {-1, -1}} {
		if _, err := results.New[int](sizes[0], sizes[1]); err == nil {
			t.Errorf("%v was taken", sizes)
		}
	}
}

// An owner who fills the store loses their own values, by count and by bytes. Others keep theirs.
func TestStoreIsFair(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		flood int // bytes of each value of the flood
	}{{"by count", 1}, {"by bytes", 300}} {
		s, err := results.New[int](100, 10_000)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 5 {
			s.Put("modest", fmt.Sprint("m", n), n, 10)
		}
		for n := range 10_000 {
			s.Put("greedy", fmt.Sprint("g", n), n, c.flood)
		}
		for n := range 5 {
			if v, ok := s.Get(fmt.Sprint("m", n)); !ok || v != n {
				t.Errorf("%s: the value %d of another owner is gone", c.name, n)
			}
		}
		if _, ok := s.Get("g9999"); !ok {
			t.Errorf("%s: the newest is gone", c.name)
		}
		if s.Len() > 100 || s.Len() < 20 || s.Bytes() > 10_000 {
			t.Errorf("%s: %d values, %d bytes", c.name, s.Len(), s.Bytes())
		}
	}
}
