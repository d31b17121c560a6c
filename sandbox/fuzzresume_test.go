package sandbox_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
	"github.com/airlock-run/airlock/sandbox/internal/snapshot"
)

// FuzzResume checks that Resume and Step survive any bytes, and a well-formed snapshot with any state of guest and
// host: they return a named error or a run within its limits.
func FuzzResume(f *testing.F) {
	e := newEngine(f)
	script := sandbox.Script{Code: "const a = [1]; setInterval(() => a.push(1), 1); await airlock.sleep('1 day'); a",
		Files: map[string][]byte{"a/b": []byte("c")}}
	grants := waitGrants
	grants.Files, grants.Waits.MaxImageBytes = sandbox.FilesWrite, 4<<20
	grants.Limits = sandbox.Limits{Wall: 20 * time.Millisecond, MemoryBytes: 8 << 20}
	long := grants
	long.Limits.Wall = 10 * time.Second
	r := run(f, e, script, long)
	if r.Parked == nil {
		f.Fatal(r.Error)
	}
	good := r.Parked.Snapshot
	f.Add(good, []byte{}, uint64(1))
	f.Add(good[:70], []byte{1, 1, 2, 3, 4, 5, 6, 7, 8, 9}, uint64(2))
	f.Fuzz(func(t *testing.T, from, changes []byte, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 1))
		edited, err := e.EditSnapshot(good, func(s *snapshot.State) {
			s.Guest.Changes = append(s.Guest.Changes, changes...)
			if seed&1 == 1 {
				s.Guest.Changes = changes
			}
			s.Guest.Size += uint32(random.IntN(3)) << 16
			s.Guest.CollectAt, s.Guest.Overflow = random.Uint64(), random.Uint64()
			s.Guest.Rejected = []uint64{random.Uint64()}
			s.Waits[0].ID, s.Stage.Settled, s.Stage.HasValue = int32(random.Uint32()), seed&2 == 0, seed&4 == 0
			s.Lost = []int32{random.Int32()}
			s.Timers = append(s.Timers, snapshot.Timer{ID: random.Int32N(5), In: -time.Hour, Repeat: seed&8 == 0})
			s.Files = append(s.Files, snapshot.File{Path: string(changes), Data: changes, Own: seed&16 == 0})
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range [][]byte{from, edited} {
			r, err := e.Resume(t.Context(), b, []sandbox.Answer{{Seq: 1}}, script, grants)
			known := slices.ContainsFunc([]error{sandbox.ErrSnapshot, sandbox.ErrEngineChanged, sandbox.ErrNotPending},
				func(named error) bool { return errors.Is(err, named) })
			if err != nil && !known {
				t.Fatalf("an error without a name: %v", err)
			}
			if r.Usage.MemoryBytes > 8<<20 {
				t.Fatalf("used %+v", r.Usage)
			}
			if _, err := e.Step(t.Context(), b, script, grants); !errors.Is(err, sandbox.ErrSnapshot) &&
				!errors.Is(err, sandbox.ErrEngineChanged) {
				t.Fatalf("a step from a run that waits: %v", err)
			}
		}
	})
}
