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

// A run, a resumed run or a step that no limit stops ends with the process, as a limit.
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
			if err := run(punctual{release, &errs, func(c int) { code = c; close(release) }}); err != nil {
				t.Fatal(err)
			}
			if code != exit.Limit || !strings.Contains(errs.String(), "did not end at its limit") {
				t.Errorf("exit %d: %s", code, &errs)
			}
		})
	}
}
