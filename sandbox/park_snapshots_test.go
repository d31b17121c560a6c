package sandbox_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
	"github.com/airlock-run/airlock/sandbox/internal/snapshot"
)

// TestRefusedSnapshots checks that a snapshot or an answer that does not fit is refused by name, before anything runs.
func TestRefusedSnapshots(t *testing.T) {
	e := newEngine(t)
	script := sandbox.Script{Code: "await airlock.approve({title: 'Go?', schema: {type: 'boolean'}})"}
	r := run(t, e, script, waitGrants)
	if r.Parked == nil {
		t.Fatal(r.Error)
	}
	good, yes := r.Parked.Snapshot, sandbox.Answer{Seq: 1, Value: json.RawMessage("true")}
	changed := func(at int) []byte { b := append([]byte(nil), good...); b[at] ^= 1; return b }
	small := waitGrants
	small.Waits.MaxImageBytes = 1000
	edited := func(edit func(*snapshot.State)) []byte {
		b, err := e.EditSnapshot(good, edit)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, c := range []struct {
		name    string
		from    []byte
		answers []sandbox.Answer
		script  sandbox.Script
		grants  sandbox.Grants
		want    error
	}{
		{"empty", nil, nil, script, waitGrants, sandbox.ErrSnapshot},
		{"no snapshot", []byte("something else that is long enough to be a snapshot's head"), nil, script, waitGrants,
			sandbox.ErrSnapshot},
		{"cut", good[:len(good)-1], nil, script, waitGrants, sandbox.ErrSnapshot},
		{"the head alone", good[:59], nil, script, waitGrants, sandbox.ErrSnapshot},
		{"a changed body", changed(len(good) - 9), nil, script, waitGrants, sandbox.ErrSnapshot},
		{"a changed length", changed(51), nil, script, waitGrants, sandbox.ErrSnapshot},
		{"a huge length", changed(58), nil, script, waitGrants, sandbox.ErrSnapshot},
		{"another version", changed(17), nil, script, waitGrants, sandbox.ErrEngineChanged},
		{"another engine", changed(30), nil, script, waitGrants, sandbox.ErrEngineChanged},
		{"another script", good, nil, sandbox.Script{Code: "1"}, waitGrants, sandbox.ErrSnapshot},
		{"too large", good, nil, script, small, sandbox.ErrSnapshot},
		{"memory that is too small", edited(func(s *snapshot.State) { s.Guest.Size = 65536 }), nil, script, waitGrants,
			sandbox.ErrSnapshot},
		{"memory of no pages", edited(func(s *snapshot.State) { s.Guest.Size++ }), nil, script, waitGrants,
			sandbox.ErrSnapshot},
		{"changes beyond memory", edited(func(s *snapshot.State) { s.Guest.Changes = []byte{255, 255, 255, 255, 1, 1} }), nil,
			script, waitGrants, sandbox.ErrSnapshot},
		{"facts", edited(func(s *snapshot.State) { s.Facts = []byte("{") }), nil, script, waitGrants, sandbox.ErrSnapshot},
		{"random numbers", edited(func(s *snapshot.State) { s.Clock.Stream = []byte("x") }), nil, script, waitGrants,
			sandbox.ErrSnapshot},
		{"an answer to nothing", good, []sandbox.Answer{{Seq: 2}}, script, waitGrants, sandbox.ErrNotPending},
		{"two answers to one", good, []sandbox.Answer{yes, yes}, script, waitGrants, sandbox.ErrNotPending},
		{"an answer of another shape", good, []sandbox.Answer{{Seq: 1, Value: json.RawMessage("7")}}, script, waitGrants,
			sandbox.ErrAnswer},
		{"an answer that is no JSON", good, []sandbox.Answer{{Seq: 1, Value: json.RawMessage("{")}}, script, waitGrants,
			sandbox.ErrAnswer},
		{"a call where none waits", good, []sandbox.Answer{{Seq: 1, Call: true}}, script, waitGrants, sandbox.ErrAnswer},
	} {
		r, err := e.Resume(t.Context(), c.from, c.answers, c.script, c.grants)
		if !errors.Is(err, c.want) || r.Value != nil {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	for range 2 { // a snapshot can be used again
		if r := resume(t, e, r, script, waitGrants, yes); string(r.Value) != "true" {
			t.Errorf("%s %s", r.Value, r.Error)
		}
	}
	large := run(t, e, sandbox.Script{Code: "const a = new Uint8Array(9e4).fill(7); await airlock.sleep(1e6); a[1]"},
		sandbox.Grants{Waits: sandbox.Waits{MaxPending: 1, MaxImageBytes: 80 << 10}})
	if large.Limit != sandbox.LimitWaits || large.Parked != nil || !strings.Contains(large.Error, "80 KiB") {
		t.Errorf("a large state: limit %q, %s", large.Limit, large.Error)
	}
}

// TestScribbledMemory resumes guests whose whole memory was overwritten. A guest may do that at any time and must gain
// nothing by parking: the run ends within its limits, and the next run is unharmed. A guest whose code is overwritten
// may end in any way, even with a result.
func TestScribbledMemory(t *testing.T) {
	e := newEngine(t)
	script := sandbox.Script{Code: "await airlock.sleep('1 day'); for (;;) {}"}
	grants := waitGrants
	grants.Limits = sandbox.Limits{Wall: 100 * time.Millisecond, MemoryBytes: 16 << 20}
	parked := run(t, e, script, grants)
	if parked.Parked == nil {
		t.Fatal(parked.Error)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		text, err := e.EditSnapshot(parked.Parked.Snapshot, func(s *snapshot.State) {
			s.Guest.Changes = scribbled(random, s.Guest.Changes, s.Guest.Size, i)
			s.Guest.Rejected = []uint64{random.Uint64(), 0xffffffff<<32 | random.Uint64N(1<<22)}
			s.Guest.Overflow, s.Guest.CollectAt = random.Uint64(), random.Uint64()
		})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		r, err := e.Resume(t.Context(), text, []sandbox.Answer{{Seq: 1}}, script, grants)
		if err != nil {
			t.Fatalf("scribble %d: %v", i, err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("scribble %d took %v", i, took)
		}
		if r.Usage.MemoryBytes > grants.Limits.MemoryBytes {
			t.Errorf("scribble %d used %d bytes, over the limit of %d", i, r.Usage.MemoryBytes, grants.Limits.MemoryBytes)
		}
	}
	if r := run(t, e, sandbox.Script{Code: "[1, 2].map((x) => x * 2)"}, sandbox.Grants{}); string(r.Value) != "[2,4]" {
		t.Errorf("a guest afterwards: %s %s", r.Value, r.Error)
	}
}

// scribbled returns changes with bytes of them flipped, with random words all over memory, or with all of it random.
func scribbled(random *rand.Rand, changes []byte, size uint32, i int) []byte {
	out := append([]byte(nil), changes...)
	word := func(out []byte, gap uint64) []byte {
		for ; gap >= 0x80; gap >>= 7 {
			out = append(out, byte(gap)|0x80)
		}
		out = append(out, byte(gap), 1)
		for range 8 {
			out = append(out, byte(random.Uint32()))
		}
		return out
	}
	switch i % 3 {
	case 0: // the values of some words; their number and places stay
		for range 1 + i/3 {
			at := len(out) - 1 - random.IntN(6)
			out[at] ^= byte(1 + random.IntN(255))
		}
		return out
	case 1:
		out = nil
		for at := uint64(0); ; {
			gap := random.Uint64N(200)
			if at += gap + 1; at*8 > uint64(size) {
				return out
			}
			out = word(out, gap)
		}
	}
	out = nil
	for range size / 8 {
		out = word(out, 0)
	}
	return out
}
