package replystream

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/airlock-run/airlock/functions/execution"
)

// maxLogs is the limit of every tier, and one more for the line that counts what the logs lack.
const maxLogs = 10_000 + 1

// An Answer is an answer that is being received. It is not safe for concurrent use.
type Answer struct {
	inv   execution.Invocation
	onLog func(execution.Log)

	rest   []byte // the beginning of a line
	logs   []execution.Log
	last   *execution.Event // the result or error
	broken error            // the first breach of the contract
}

// New returns an Answer to inv. onLog, which may be nil, receives each log that Take reads.
func New(inv execution.Invocation, onLog func(execution.Log)) *Answer {
	return &Answer{inv: inv, onLog: onLog}
}

// Take reads the next piece of the stream. It does not keep data.
func (a *Answer) Take(data []byte) {
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

func (a *Answer) line(line []byte) error {
	var e execution.Event
	// encoding/json reads each line three times: a result of 7 MiB, 1 MiB of control characters twice, took it 70 ms.
	err := json.Unmarshal(line, &e, jsonv1.DefaultOptionsV1(), jsonv1.ReportErrorsWithLegacySemantics(false))
	if err != nil {
		return fmt.Errorf("a line of the answer does not decode: %w", err)
	}
	switch {
	case a.last != nil:
		return errors.New("the answer has data after its end")
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

// check returns an error if a result does not belong to this execution, and fills in fields that must not be null.
func (a *Answer) check(r *execution.Result) error {
	if r.ID != a.inv.ID {
		return errors.New("the result belongs to another execution")
	}
	switch r.Status {
	case execution.Completed, execution.Failed, execution.TimedOut, execution.Blocked, execution.Cancelled:
	case execution.Paused:
		replay := len(a.inv.Replay) > 0 // it does not continue from this pause
		may := replay || a.inv.Waits && a.inv.Session == nil && len(r.Snapshot) > 0
		if n := len(r.Waiting); !may || n == 0 || n > execution.MaxWaiting {
			return errors.New("the execution paused although it may not, or does not say what it waits for")
		}
	default:
		return fmt.Errorf("the result has the unknown status %q", r.Status)
	}
	r.Session = nil
	if s := a.inv.Session; s != nil {
		r.Session = &s.SessionRef
	}
	switch {
	case r.Status == execution.Completed && a.inv.Session != nil:
		r.Waiting = nil
	case r.Status != execution.Paused:
		r.Pause = execution.Pause{}
	}
	if r.Logs == nil {
		r.Logs = []execution.Log{}
	}
	if r.Violations == nil {
		r.Violations = []string{}
	}
	return nil
}

// Reply returns the reply of the whole answer. The error is an *execution.Error: the function's own, or Internal if
// the answer violates the contract.
func (a *Answer) Reply() (execution.Reply, error) {
	switch {
	case a.broken == nil && len(bytes.TrimSpace(a.rest)) > 0:
		a.broken = errors.New("the answer ends in the middle of a line")
	case a.broken == nil && a.last == nil:
		a.broken = errors.New("the answer has no result")
	}
	switch {
	case a.broken != nil:
		return execution.Reply{}, Internal(a.broken)
	case a.last.Error != nil:
		return execution.Reply{}, Public(*a.last.Error)
	}
	return execution.Reply{Result: *a.last.Result, Recorded: true}, nil
}
