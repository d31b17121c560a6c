package invoketest

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

func (s Suite) cancel(t *testing.T) {
	o := usual()
	o.Processes, o.MaxExecution, o.Grace = 1, 1500*time.Millisecond, 500*time.Millisecond
	if !s.CancelReaches { // the two cancelled executions keep their processes until their deadlines
		o.Processes = 3
	}
	v := s.New(t, o)

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := v.Invoke(gone, Invocation(1, "echo"), nil); err != nil || r.Result.Status != execution.Cancelled ||
		r.Recorded {
		t.Errorf("cancelled before it began: %s, recorded %v, %v", r.Result.Status, r.Recorded, err)
	}

	// The log must arrive while the function still waits: that is streaming.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := v.Invoke(ctx, Invocation(2, "wait"), func(execution.Log) { cancel() })
	if err != nil || r.Result.Status != execution.Cancelled || r.Recorded != s.CancelReaches {
		t.Errorf("cancelled while it ran: %s, recorded %v, %v", r.Result.Status, r.Recorded, err)
	}
	if r.Result.Output != "last words\n" {
		t.Errorf("cancelled while it ran: the output is %q", r.Result.Output)
	}
	echoes(t, v, 3)

	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	r, err = v.Invoke(ctx, Invocation(4, "deaf"), func(execution.Log) { cancel() })
	if err != nil || r.Result.Status != execution.Cancelled || r.Recorded {
		t.Errorf("cancelled and did not listen: %s, recorded %v, %v", r.Result.Status, r.Recorded, err)
	}
	echoes(t, v, 5)
}

// deaths checks the reply of an execution whose process dies before its answer: by its deadline, or by itself long
// before.
func (s Suite) deaths(t *testing.T) {
	patient, hurried := usual(), usual()
	patient.Processes, patient.MaxExecution, patient.MaxMemory = 1, time.Minute, 256<<20
	hurried.Processes, hurried.MaxExecution, hurried.Grace = 1, 2500*time.Millisecond, 200*time.Millisecond
	early := []death{
		{"exit 0", execution.Failed, "", nil},
		{"exit 3", execution.Failed, "", nil},
		{"deaf", execution.Failed, "", (*os.Process).Kill},
	}
	if s.Memory {
		early = append(early, death{"hog", execution.Failed, execution.LimitMemory, nil})
	}
	die(t, s.New(t, patient), early)
	v := s.New(t, hurried)
	die(t, v, []death{
		{"deaf", execution.TimedOut, execution.LimitWall, nil},
		{"freeze", execution.TimedOut, execution.LimitWall, nil},
	})
	// An earlier deadline of the caller counts too.
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	r, err := v.Invoke(ctx, Invocation(300, "deaf"), nil)
	if err != nil || r.Result.Status != execution.TimedOut || deref(r.Result.Limit) != execution.LimitWall {
		t.Errorf("past the caller's deadline: %s, %v", r.Result.Status, err)
	}
}

// die checks that a process which dies is replaced each time.
func die(t *testing.T, v Invoker, deaths []death) {
	t.Helper()
	before := 0
	for i, d := range deaths {
		pid, err := strconv.Atoi(string(run(t, v, i, "pid", nil).Result.Result))
		if err != nil || pid == before {
			t.Fatalf("%s: the process before it was used again (%v)", d.code, err)
		}
		before = pid
		d.check(t, v, 100+i, pid)
		echoes(t, v, 200+i)
	}
}

// A death is one way for a process to end before its answer.
type death struct {
	code   string
	status execution.Status
	limit  string
	slay   func(*os.Process) error // called with the process once it has printed something
}

func (d death) check(t *testing.T, v Invoker, n, pid int) {
	t.Helper()
	var seen []execution.Log
	r := run(t, v, n, d.code, func(l execution.Log) {
		seen = append(seen, l)
		if d.slay == nil {
			return
		}
		p, err := os.FindProcess(pid)
		if err == nil {
			err = d.slay(p)
		}
		if err != nil {
			t.Errorf("%s: %v", d.code, err)
		}
	})
	if r.Recorded {
		t.Errorf("%s: claims to be recorded", d.code)
	}
	if r.Result.ID != id(n) || r.Result.Status != d.status || deref(r.Result.Limit) != d.limit {
		t.Errorf("%s: %s, limit %q, of %s", d.code, r.Result.Status, deref(r.Result.Limit), r.Result.ID)
	}
	if text := deref(r.Result.Error); text == "" || strings.Contains(text, "\n") {
		t.Errorf("%s: the error is %q, not one line", d.code, text)
	}
	if r.Result.DurationMs <= 0 || r.Result.Usage.WallMs <= 0 {
		t.Errorf("%s: took %v ms", d.code, r.Result.DurationMs)
	}
	// A process that ends at once may lose its last output; one that stays does not.
	if d.code == "deaf" && len(seen) != 1 || !slices.Equal(seen, r.Result.Logs) {
		t.Errorf("%s: %d logs were streamed and %d returned", d.code, len(seen), len(r.Result.Logs))
	}
	if want := strings.Repeat("last words\n", len(seen)); r.Result.Output != want {
		t.Errorf("%s: the output is %q, want %q", d.code, r.Result.Output, want)
	}
}

// crowd runs far more concurrent calls than there are processes.
func (s Suite) crowd(t *testing.T) {
	v := s.New(t, usual())
	var wg sync.WaitGroup
	for n := range 200 {
		wg.Go(func() {
			logs := 0
			r, err := v.Invoke(t.Context(), Invocation(n, "logs "+strconv.Itoa(n%7)), func(execution.Log) { logs++ })
			if err != nil || r.Result.ID != id(n) {
				t.Errorf("call %d: %s, %v", n, r.Result.ID, err)
			}
			if logs != n%7 || len(r.Result.Logs) != n%7 {
				t.Errorf("call %d: %d logs were streamed and %d returned, want %d", n, logs, len(r.Result.Logs), n%7)
			}
		})
	}
	wg.Wait()
}

// neighbours checks that calls succeed while processes of other calls die.
func (s Suite) neighbours(t *testing.T) {
	o := usual()
	o.Processes, o.MaxExecution, o.Grace = 3, 2*time.Second, 100*time.Millisecond
	v := s.New(t, o)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			for i := n; ; i += 4 {
				select {
				case <-stop:
					return
				default:
					echoes(t, v, i)
				}
			}
		})
	}
	for i, code := range []string{"exit 1", "freeze", "panic", "deaf", "exit 0", "fail internal", "freeze"} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		r, err := v.Invoke(ctx, Invocation(1000+i, code), nil)
		cancel()
		var e *execution.Error
		if err == nil && r.Result.Status == execution.Completed {
			t.Errorf("%s completed", code)
		}
		if err != nil && !errors.As(err, &e) {
			t.Errorf("%s: %v", code, err)
		}
	}
	close(stop)
	wg.Wait()
}
