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

// A run that no limit stops ends with the process, as a limit.
func TestLateRunEndsTheProcess(t *testing.T) {
	t.Parallel()
	var errs bytes.Buffer
	release, code := make(stuck), 0
	p := punctual{release, &errs, func(c int) { code = c; close(release) }}
	if _, err := p.Run(t.Context(), sandbox.Script{},
		sandbox.Grants{Limits: sandbox.Limits{Wall: time.Millisecond}}); err != nil {
		t.Fatal(err)
	}
	if code != exit.Limit || !strings.Contains(errs.String(), "did not end at its limit") {
		t.Errorf("exit %d: %s", code, &errs)
	}
}
