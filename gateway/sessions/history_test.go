package sessions

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/gateway/waits"
)

// A history keeps the last steps, bounded by their number and their size.
func TestHistory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		steps, bytes int
		want         string
	}{
		{"the first", 1, 10, "1-1"},
		{"few", 5, 10, "1-5"},
		{"many", 100, 10, "92-100"},
		{"large", 100, maxKeptBytes / 2, "98-100"},
		{"too large", 3, maxKeptBytes + 1, "3-3"},
	} {
		var h history
		for n := range c.steps {
			h = h.add(step{n + 1, bytes.Repeat([]byte{byte(n)}, c.bytes)})
			decoded, err := decodeHistory(h.encode(), n+1)
			same := slices.EqualFunc(h, decoded, func(a, b step) bool {
				return a.number == b.number && bytes.Equal(a.sealed, b.sealed)
			})
			if !same || err != nil {
				t.Fatalf("%s: decoded another history, %v", c.name, err)
			}
		}
		if got := fmt.Sprintf("%d-%d", h[0].number, h[len(h)-1].number); got != c.want {
			t.Errorf("%s: it has %s, want %s", c.name, got, c.want)
		}
	}
}

// A session that an older version stored has the snapshot of its last step.
func TestHistoryOfOneStep(t *testing.T) {
	t.Parallel()
	h, err := decodeHistory([]byte("ALS1 and so on"), 3)
	if diff := cmp.Diff(history{{3, []byte("ALS1 and so on")}}, h, cmp.AllowUnexported(step{})); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if h, err := decodeHistory(nil, 0); h != nil || err != nil {
		t.Errorf("of no steps: %v, %v", h, err)
	}
}

// What is stored decodes to consecutive steps up to the last one, or not at all.
func FuzzHistory(f *testing.F) {
	f.Add([]byte("ALH1"), 0)
	f.Add(history{{1, []byte("a")}, {2, []byte("b")}}.encode(), 2)
	f.Add(history{{1, []byte("a")}, {3, []byte("b")}}.encode(), 3)
	f.Add([]byte("ALH1\x00\x00\x00\x01\xff\xff\xff\xff"), 1)
	f.Fuzz(func(t *testing.T, stored []byte, steps int) {
		h, err := decodeHistory(stored, steps)
		if err != nil {
			if !errors.Is(err, waits.ErrSealed) || h != nil {
				t.Errorf("got %v, %v", h, err)
			}
			return
		}
		for i, s := range h {
			if s.number != steps-len(h)+1+i {
				t.Errorf("step %d of %d has the number %d", i, len(h), s.number)
			}
		}
	})
}
