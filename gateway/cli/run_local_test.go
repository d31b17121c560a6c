package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/runner"
	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
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

// slow is a policy, a sandbox and a record store that take their time.
type slow struct {
	stuck
	scan, run, store time.Duration
}

func (s slow) Decide(ask policy.Request) policy.Decision {
	time.Sleep(s.scan)
	return policy.Default().Decide(ask)
}

func (s slow) Run(context.Context, sandbox.Script, sandbox.Grants) (sandbox.Result, error) {
	time.Sleep(s.run)
	return sandbox.Result{}, nil
}

func (s slow) Append(context.Context, audit.Record) error {
	time.Sleep(s.store)
	return nil
}

// A run that is late in its scan or in its code ends the process. Writing its record may take longer.
func TestWhatIsLate(t *testing.T) {
	t.Parallel()
	const long = 3 * time.Second
	for _, c := range []struct {
		name string
		slow slow
		code string
		late bool
	}{
		{"nothing", slow{}, "1", false},
		{"scan", slow{scan: long}, "1", true},
		{"code", slow{run: long}, "1", true},
		{"record", slow{store: long}, "1", false},
		{"record of blocked code", slow{store: long}, "require('child_process').execSync('id')", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				exited := false
				p := punctual{c.slow, &bytes.Buffer{}, func(int) { exited = true }, &current{}}
				r, err := runner.New(runner.Config{Sandbox: p, Policy: punctualPolicy{c.slow, p}, Records: c.slow})
				if err != nil {
					t.Fatal(err)
				}
				request := execution.Request{Code: c.code, Timeout: 100}
				if _, err := executeLocally(&local{Runner: r, timely: p})(t.Context(), request, nil); err != nil {
					t.Fatal(err)
				}
				if exited != c.late {
					t.Errorf("the process ended: %t, want %t", exited, c.late)
				}
			})
		})
	}
}
