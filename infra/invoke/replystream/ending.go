package replystream

import (
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// Ending is how an execution ended if its function died without an answer.
type Ending int

// The endings. The zero value claims least.
const (
	Crashed     Ending = iota // the process ended by itself, or nobody knows how
	TimedOut                  // it was killed at its deadline
	OutOfMemory               // it took too much memory
	Cancelled                 // the caller gave up
	Stopped                   // the service shuts down
)

// CutShort returns a reply that is not Recorded from what had arrived. used is the processor time; 0 if unknown.
func (a *Answer) CutShort(end Ending, took, used time.Duration) execution.Reply {
	var text strings.Builder
	for _, l := range a.logs {
		text.WriteString(l.Message)
		text.WriteByte('\n')
	}
	ms := float64(took.Microseconds()) / 1000
	r := execution.Result{
		ID:     a.inv.ID,
		Output: text.String(),
		Logs:   append([]execution.Log{}, a.logs...),
		Environment: execution.Environment{
			Engine: orElse(a.inv.Request.Engine, "quickjs"), Policy: orElse(a.inv.Request.Policy, "standard"),
		},
		DurationMs: ms,
		Violations: []string{},
		Usage: execution.Usage{WallMs: ms, CPUMs: float64(used.Microseconds()) / 1000, OutputBytes: int64(text.Len()),
			QueueMs: a.inv.QueueMs},
	}
	var line, limit string
	switch end {
	case TimedOut:
		r.Status, limit = execution.TimedOut, execution.LimitWall
		line = "the execution was killed at its time limit"
	case OutOfMemory:
		r.Status, limit = execution.Failed, execution.LimitMemory
		line = "the execution was killed because it used too much memory"
	case Cancelled:
		r.Status = execution.Cancelled
		line = "the execution was cancelled"
	case Stopped:
		r.Status = execution.Cancelled
		line = "the execution was cancelled because the service shuts down"
	default:
		r.Status = execution.Failed
		line = execution.ProcessLost
	}
	r.Error = &line
	if limit != "" {
		r.Limit = &limit
	}
	return execution.Reply{Result: r}
}

func orElse(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}
