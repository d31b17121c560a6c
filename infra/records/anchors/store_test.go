package anchors_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/airlock-run/airlock/infra/records/anchors"
	"github.com/airlock-run/airlock/policy/audit"
)

const records = "file:///var/lib/airlock/audit"

func head(writer int, seq int64) audit.Head {
	var u ulid.ULID
	_ = u.SetTime(uint64(writer) + 1)
	return audit.Head{Writer: u.String(), Seq: seq, Hash: fmt.Sprintf("%064x", seq), ID: "exec_01JD5Z6Q8V0000000000000000"}
}

func open(t *testing.T, state, of string, key []byte) *anchors.Store {
	t.Helper()
	s, err := anchors.Open(t.Context(), state, of,
		anchors.Config{Key: key, Now: func() time.Time { return time.Unix(1, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t *testing.T, s *anchors.Store) map[string]int64 {
	t.Helper()
	a, there, err := s.Read(t.Context())
	if err != nil || !there {
		t.Fatal(there, err)
	}
	out := map[string]int64{}
	for _, h := range a.Heads {
		out[h.Writer] = h.Seq
	}
	return out
}

func TestHeadsAreOnlyRaised(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, records, nil)
	if _, there, err := s.Read(t.Context()); there || err != nil {
		t.Fatal("there is an anchor before the first", err)
	}
	for _, heads := range [][]audit.Head{{head(1, 5), head(2, 1)}, {head(1, 3)}, {head(3, 2), head(2, 4)}, nil} {
		if err := s.Raise(t.Context(), heads); err != nil {
			t.Fatal(err)
		}
	}
	got := read(t, open(t, dir, records+"?spool=/x", nil))
	if len(got) != 3 {
		t.Errorf("%v", got)
	}
	for n, want := range []int{0, 5, 4, 2} {
		if seq := got[head(n, 0).Writer]; n > 0 && int(seq) != want {
			t.Errorf("writer %d is at %d, want %d", n, seq, want)
		}
	}
	forged := head(1, 5)
	forged.Hash = strings.Repeat("f", 64)
	if err := s.Raise(t.Context(), []audit.Head{forged}); err != nil {
		t.Fatal(err)
	}
	if a, _, _ := s.Read(t.Context()); a.Heads[0].Hash == forged.Hash {
		t.Error("a head was replaced by another of the same number")
	}
	if _, there, err := open(t, dir, "file:///elsewhere", nil).Read(t.Context()); there || err != nil {
		t.Error("other records have the same anchor", err)
	}
}

func TestGatewaysRaiseTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var work sync.WaitGroup
	for n := range 8 {
		work.Go(func() {
			s := open(t, dir, records, nil)
			for seq := range int64(20) {
				if err := s.Raise(t.Context(), []audit.Head{head(n, seq+1), head(100, seq+1)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	got := read(t, open(t, dir, records, nil))
	for writer, seq := range got {
		if seq != 20 {
			t.Errorf("%s is at %d", writer, seq)
		}
	}
	if len(got) != 9 {
		t.Errorf("%d writers", len(got))
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "anchors", "*.new-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestDamagedAnchorsAreRefused(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(doc string) string{
		"cut off":          func(doc string) string { return doc[:len(doc)/2] },
		"emptied":          func(string) string { return "" },
		"a lowered number": func(doc string) string { return strings.Replace(doc, " 5 ", " 4 ", 1) },
	} {
		for _, key := range [][]byte{nil, []byte("a chain key of the tests")} {
			dir := t.TempDir()
			s := open(t, dir, records, key)
			if err := s.Raise(t.Context(), []audit.Head{head(1, 5)}); err != nil {
				t.Fatal(err)
			}
			doc, err := os.ReadFile(s.Place())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(s.Place(), []byte(damage(string(doc))), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, _, err := s.Read(t.Context()); !errors.Is(err, anchors.ErrUnreadable) {
				t.Errorf("%s: %v", name, err)
			}
			if err := s.Raise(t.Context(), []audit.Head{head(1, 9)}); !errors.Is(err, anchors.ErrUnreadable) {
				t.Errorf("%s: it is replaced: %v", name, err)
			}
		}
	}
	dir := t.TempDir()
	if err := open(t, dir, records, []byte("a chain key of the tests")).Raise(t.Context(),
		[]audit.Head{head(1, 5)}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := open(t, dir, records, []byte("another key of the tests")).Read(t.Context()); !errors.Is(err,
		anchors.ErrUnreadable) {
		t.Errorf("another chain key: %v", err)
	}
}
