package sandbox_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/sandbox"
)

// TestParkedProgramsGoOn runs the programs that are compared with Node's, parks them at random between two callbacks,
// and continues each in another guest. They end as if they had never waited.
func TestParkedProgramsGoOn(t *testing.T) {
	e := newEngine(t)
	grants := sandbox.Grants{Files: sandbox.FilesWrite, Modules: []string{"*"}, Waits: waits,
		Limits: sandbox.Limits{Wall: 30 * time.Second, LogChars: 1 << 16}}
	parked := 0
	eachProgram(t, func(t *testing.T, p *program) {
		seed := int64(1)
		script := sandbox.Script{Code: p.code, Seed: &seed}
		want := run(t, e, script, grants)
		random := rand.New(rand.NewPCG(3, uint64(len(p.code))))
		often := grants
		often.ParkWhen(func() bool { return random.IntN(2) == 0 })
		got := run(t, e, script, often)
		for n := 0; got.Parked != nil && n < 100; n++ {
			parked++
			got = resume(t, e, got, script, often)
		}
		type outcome struct {
			Value, Output, Error string
			Files                map[string][]byte
			Logs                 int
			Dropped              int
		}
		of := func(r sandbox.Result) outcome {
			return outcome{string(r.Value), r.Output, r.Error, r.Files, len(r.Logs), r.Usage.LogsDropped}
		}
		if diff := cmp.Diff(of(want), of(got)); diff != "" {
			t.Error(diff)
		}
	})
	if parked < 50 {
		t.Errorf("the programs were parked %d times", parked)
	}
}
