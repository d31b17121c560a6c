package localinvoke

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// answer puts together what a function streams. A function process may have been taken over by its guest, so nothing is
// believed that the contract does not allow.
type answer struct {
	id    string
	onLog func(execution.Log)

	rest   []byte // the beginning of a line
	logs   []execution.Log
	last   *execution.Event // the result or error
	broken error            // the first breach of the contract
}

// maxLogs is more than any tier allows.
const maxLogs = 10_000

// take reads the next piece of the stream.
func (a *answer) take(data []byte) {
	for a.broken == nil && len(data) > 0 {
		line, after, whole := bytes.Cut(data, []byte("\n"))
		if !whole {
			a.rest = append(a.rest, line...)
			return
		}
		if len(a.rest) > 0 {
			line = append(a.rest, line...)
			a.rest = nil
		}
		a.broken = a.line(line)
		data = after
	}
}

func (a *answer) line(line []byte) error {
	var e execution.Event
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("a line of the answer does not decode: %w", err)
	}
	switch {
	case a.last != nil:
		return errors.New("the answer goes on after its end")
	case e.Result != nil && e.Log == nil && e.Error == nil:
		a.last = &e
		return a.check(e.Result)
	case e.Error != nil && e.Log == nil && e.Result == nil:
		a.last = &e
		return nil
	case e.Log == nil || e.Result != nil || e.Error != nil:
		return errors.New("a line of the answer is neither a log, a result nor an error")
	case len(a.logs) == maxLogs:
		return errors.New("the answer has too many logs")
	}
	a.logs = append(a.logs, *e.Log)
	if a.onLog != nil {
		a.onLog(*e.Log)
	}
	return nil
}

// check refuses a result that is not one of this execution, and fills in what must not be null.
func (a *answer) check(r *execution.Result) error {
	if r.ID != a.id {
		return errors.New("the result is of another execution")
	}
	switch r.Status {
	case execution.Completed, execution.Failed, execution.TimedOut, execution.Blocked, execution.Cancelled:
	default:
		return fmt.Errorf("the result has the unknown status %q", r.Status)
	}
	if r.Logs == nil {
		r.Logs = []execution.Log{}
	}
	if r.Violations == nil {
		r.Violations = []string{}
	}
	return nil
}

// reply gives what a whole answer came to.
func (a *answer) reply() (execution.Reply, error) {
	switch {
	case a.broken == nil && len(bytes.TrimSpace(a.rest)) > 0:
		a.broken = errors.New("the answer ends in the middle of a line")
	case a.broken == nil && a.last == nil:
		a.broken = errors.New("the answer has no result")
	}
	switch {
	case a.broken != nil:
		return execution.Reply{}, internal(a.broken)
	case a.last.Error != nil:
		return execution.Reply{}, public(*a.last.Error)
	}
	return execution.Reply{Result: *a.last.Result, Recorded: true}, nil
}

// cutShort puts a result together for an execution whose process ended without one.
func (a *answer) cutShort(inv execution.Invocation, end ending, took time.Duration) execution.Reply {
	var text strings.Builder
	for _, l := range a.logs {
		text.WriteString(l.Message)
		text.WriteByte('\n')
	}
	ms := float64(took.Microseconds()) / 1000
	r := execution.Result{
		ID:         inv.ID,
		Output:     text.String(),
		Logs:       append([]execution.Log{}, a.logs...),
		Engine:     or(inv.Request.Engine, "quickjs"),
		Policy:     or(inv.Request.Policy, "standard"),
		DurationMs: ms,
		Violations: []string{},
		Usage:      execution.Usage{WallMs: ms, OutputBytes: int64(text.Len()), QueueMs: inv.QueueMs},
	}
	var line, limit string
	switch end.cause {
	case deadline:
		r.Status, limit = execution.TimedOut, execution.LimitWall
		line = "the execution was killed at its time limit"
	case memory:
		r.Status, limit = execution.Failed, execution.LimitMemory
		line = "the execution was killed because it used too much memory"
	case cancelled:
		r.Status = execution.Cancelled
		line = "the execution was cancelled"
	case shutdown:
		r.Status = execution.Cancelled
		line = "the execution was cancelled because the service shuts down"
	default:
		r.Status = execution.Failed
		line = "the process that ran the code ended unexpectedly"
	}
	r.Error = &line
	if limit != "" {
		r.Limit = &limit
	}
	return execution.Reply{Result: r}
}
