package invoketest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

func (s Suite) results(t *testing.T) {
	v := s.New(t, usual())
	if err := v.Ready(t.Context()); err != nil {
		t.Fatalf("not ready: %v", err)
	}
	echoes(t, v, 1)
	for i, status := range []execution.Status{execution.Completed, execution.Failed, execution.TimedOut, execution.Blocked,
		execution.Cancelled} {
		r := run(t, v, i, "status "+string(status), nil)
		if r.Result.Status != status || !r.Recorded {
			t.Errorf("status %s came back as %s (recorded: %v)", status, r.Result.Status, r.Recorded)
		}
		if r.Result.Logs == nil || r.Result.Violations == nil {
			t.Errorf("status %s: logs and violations must be lists, never null", status)
		}
	}
}

func (s Suite) limits(t *testing.T) {
	v := s.New(t, usual())
	for i, limit := range []string{
		execution.LimitWall, execution.LimitCPU, execution.LimitMemory, execution.LimitStack,
		execution.LimitOutput, execution.LimitLogs, execution.LimitAPICalls,
	} {
		r := run(t, v, i, "limit "+limit, nil)
		if deref(r.Result.Limit) != limit || !r.Recorded {
			t.Errorf("limit %s came back as %q (recorded: %v)", limit, deref(r.Result.Limit), r.Recorded)
		}
	}
}

// late checks that an invocation that arrives after its latest start does not start.
func (s Suite) late(t *testing.T) {
	v := s.New(t, usual())
	for before, runs := range map[time.Duration]bool{time.Hour: true, -time.Second: false} {
		inv := Invocation(1, "echo")
		inv.StartBefore = time.Now().Add(before)
		_, err := v.Invoke(t.Context(), inv, nil)
		var e *execution.Error
		if runs != (err == nil) {
			t.Errorf("to begin within %v: %v", before, err)
		}
		if err != nil && (!errors.As(err, &e) || e.Code != execution.Throttled) {
			t.Errorf("to begin within %v: %v, want throttled", before, err)
		}
	}
}

func (s Suite) failures(t *testing.T) {
	v := s.New(t, usual())
	for i, code := range []execution.Code{
		execution.InvalidRequest, execution.Unavailable, execution.Throttled,
		execution.TooLarge, execution.Unrecorded, execution.Internal,
	} {
		_, err := v.Invoke(t.Context(), Invocation(i, "fail "+string(code)), nil)
		var e *execution.Error
		if !errors.As(err, &e) || e.Code != code {
			t.Errorf("failure %s came back as %v", code, err)
			continue
		}
		if code == execution.InvalidRequest && e.Field != "code" {
			t.Errorf("failure %s lost its field: %+v", code, e)
		}
		if strings.Contains(e.Message, "invalid argument") {
			t.Errorf("failure %s shows its cause: %q", code, e.Message)
		}
	}
	var e *execution.Error
	if _, err := v.Invoke(t.Context(), Invocation(1, "panic"), nil); !errors.As(err, &e) || e.Code != execution.Internal {
		t.Errorf("a panic in the function came back as %v", err)
	} else if strings.Contains(e.Message, "as asked") || strings.Contains(e.Message, ".go") {
		t.Errorf("a panic in the function shows its cause: %q", e.Message)
	}
	echoes(t, v, 2)
}

func (s Suite) sizes(t *testing.T) {
	v := s.New(t, usual())
	for i, n := range []int{2, 4 << 10, 64 << 10, 1 << 20, 5 << 20} {
		r := run(t, v, i, fmt.Sprintf("large %d", n), nil)
		if len(r.Result.Result) != n {
			t.Errorf("a result of %d bytes came back with %d", n, len(r.Result.Result))
		}
	}
	inv := Invocation(1, "echo")
	inv.Request.Input = []byte(`"` + strings.Repeat("ж", 1<<20) + `"`)
	if r, err := v.Invoke(t.Context(), inv, nil); err != nil || string(r.Result.Result) != string(inv.Request.Input) {
		t.Errorf("an input of 2 MiB did not come back: %v", err)
	}
	_, err := v.Invoke(t.Context(), Invocation(2, fmt.Sprintf("large %d", 21<<20)), nil)
	var e *execution.Error
	if !errors.As(err, &e) || e.Code != execution.TooLarge {
		t.Errorf("a result of 21 MiB came back as %.200v", err)
	}
	echoes(t, v, 3)
}

func (s Suite) streams(t *testing.T) {
	v := s.New(t, usual())
	var seen []execution.Log
	r := run(t, v, 1, "logs 100", func(l execution.Log) { seen = append(seen, l) })
	if len(seen) != 100 || len(r.Result.Logs) != 100 {
		t.Fatalf("%d logs were streamed and %d returned, want 100", len(seen), len(r.Result.Logs))
	}
	for i, l := range seen {
		if want := fmt.Sprintf("line %d", i+1); l.Message != want || l != r.Result.Logs[i] {
			t.Fatalf("log %d is %+v in the stream and %+v in the result", i, l, r.Result.Logs[i])
		}
	}
	if r := run(t, v, 2, "logs 3", nil); r.Result.Output != "line 1\nline 2\nline 3\n" {
		t.Errorf("without a listener: %q", r.Result.Output)
	}
}
