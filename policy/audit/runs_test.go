package audit_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/airlock-run/airlock/policy/audit"
)

// chainOf returns n records of one writer.
func chainOf(t *testing.T, n int) []audit.Sealed {
	t.Helper()
	last := audit.Head{Writer: "w"}
	all := make([]audit.Sealed, n)
	for i := range all {
		s, err := audit.Seal(audit.Record{ID: fmt.Sprint("exec_", i), Time: time.Unix(int64(i), 0)}, last, nil)
		if err != nil {
			t.Fatal(err)
		}
		all[i], last = s, s.Head()
	}
	return all
}

// faults verifies lines, and returns the problems without their places, sorted.
func faults(lines []audit.Sealed, head audit.Head, gaps ...audit.Gap) (list []string) {
	v := audit.NewVerifier(nil)
	for _, g := range gaps {
		v.Pruned(g)
	}
	v.Bounds(head, "", head)
	for _, s := range lines {
		_, _ = v.Line(s.Line, "", "") // it is in the report
	}
	for _, p := range v.Report(true).Problems {
		list = append(list, fmt.Sprint(p.Fault, " ", p.Seq))
	}
	slices.Sort(list)
	return list
}

// Records that wait for an early one are not kept: only the ends of each run are.
func TestMemoryOfWaitingRecords(t *testing.T) {
	all := chainOf(t, 50_000)
	v := audit.NewVerifier(nil)
	inUse := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := inUse()
	for i, s := range all {
		if i == 0 || i == 30_000 {
			continue
		}
		if _, err := v.Line(s.Line, "a folder/a file", ""); err != nil {
			t.Fatal(err)
		}
	}
	if after := inUse(); after > before+1<<20 {
		t.Errorf("%d KiB are kept", (after-before)>>10)
	}
	r := v.Report(false)
	if len(r.Problems) != 2 || r.Problems[0].Seq != 1 || r.Problems[1].Seq != 30_001 {
		t.Errorf("%+v", r.Problems)
	}
	runtime.KeepAlive(all)
}

// In whatever order records come, verify finds the same.
func TestOrderOfRecords(t *testing.T) {
	t.Parallel()
	all := chainOf(t, 2000)
	other, err := audit.Seal(audit.Record{ID: "exec_other"}, audit.Head{Writer: "w", Seq: 699, Hash: "0000"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	lines := append(slices.Delete(slices.Clone(all), 99, 101), all[400], all[1999]) // 100 and 101 are missing
	lines[500].Line = slices.Clone(lines[500].Line)
	lines[500].Line[20]++                                                                       // 503 is altered
	lines[700-3] = other                                                                        // 700 is of another chain
	gap := audit.Gap{From: 1, Head: audit.Head{Writer: "w", Seq: 50, Hash: all[49].Chain.Hash}} // not removed yet
	want := faults(lines, all[1999].Head(), gap)
	if len(want) < 6 {
		t.Errorf("found %v", want)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		if got := faults(lines, all[1999].Head(), gap); !slices.Equal(got, want) {
			t.Fatalf("found %v, want %v", got, want)
		}
	}
}
