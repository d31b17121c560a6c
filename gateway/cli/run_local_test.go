package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/sandbox"
)

// stuck is a sandbox whose runs end when it is released.
type stuck chan struct{}

func (s stuck) Run(context.Context, sandbox.Script, sandbox.Grants) (sandbox.Result, error) {
	<-s
	return sandbox.Result{}, nil
}

func (s stuck) Resume(
	ctx context.Context, _ []byte, _ []sandbox.Answer, script sandbox.Script, grants sandbox.Grants,
) (sandbox.Result, error) {
	return s.Run(ctx, script, grants)
}

func (s stuck) Step(ctx context.Context, _ []byte, script sandbox.Script, grants sandbox.Grants) (sandbox.Result,
	error) {
	return s.Run(ctx, script, grants)
}

// If no limit stops a run, a resumed run or a step, the process ends with the exit code of a limit.
func TestLateRunEndsTheProcess(t *testing.T) {
	t.Parallel()
	grants := sandbox.Grants{Limits: sandbox.Limits{Wall: time.Millisecond}}
	for name, run := range map[string]func(p punctual) error{
		"run": func(p punctual) error {
			_, err := p.Run(t.Context(), sandbox.Script{}, grants)
			return err
		},
		"resume": func(p punctual) error {
			_, err := p.Resume(t.Context(), nil, nil, sandbox.Script{}, grants)
			return err
		},
		"step": func(p punctual) error {
			_, err := p.Step(t.Context(), nil, sandbox.Script{}, grants)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var errs bytes.Buffer
			release, code := make(stuck), 0
			end := func(c int) { code = c; close(release) }
			if err := run(punctual{release, &errs, end, &current{began: time.Now()}}); err != nil {
				t.Fatal(err)
			}
			if code != exit.Limit || !strings.Contains(errs.String(), "did not end at its limit") {
				t.Errorf("exit %d: %s", code, &errs)
			}
		})
	}
}

// timely is a sandbox that tells how long its runs may take.
type timely struct{ stuck }

func (timely) Run(_ context.Context, _ sandbox.Script, g sandbox.Grants) (sandbox.Result, error) {
	return sandbox.Result{Usage: sandbox.Usage{WallMs: float64(g.MaxWall().Milliseconds())}}, nil
}

// What the scan of the code took is a part of the wall time of the run.
func TestScanIsPartOfTheTime(t *testing.T) {
	t.Parallel()
	grants := sandbox.Grants{Limits: sandbox.Limits{Wall: time.Minute}}
	for scanned, most := range map[time.Duration]float64{0: 60_000, 20 * time.Second: 40_000, time.Hour: 0} {
		p := punctual{timely{}, nil, nil, &current{began: time.Now().Add(-scanned)}}
		got, err := p.Run(t.Context(), sandbox.Script{}, grants)
		if err != nil || got.Usage.WallMs > most || got.Usage.WallMs < most-10_000 {
			t.Errorf("after %v of scanning a run may take %v ms, want at most %v (%v)", scanned, got.Usage.WallMs, most, err)
		}
	}
	again := punctual{timely{}, nil, nil, &current{}}
	if got, err := again.Run(t.Context(), sandbox.Script{}, grants); err != nil || got.Usage.WallMs != 60_000 {
		t.Errorf("a replay, which scans nothing, may take %v ms (%v)", got.Usage.WallMs, err)
	}
}
