package sandbox

import (
	"strings"
	"time"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/profile"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/stdlib"
)

const (
	maxReported = 10_000 // steps
	sampleDepth = 64     // frames
)

// inspector makes the reports that Grants.Debug asks for.
type inspector struct {
	asked   Debug
	asking  bool // the guest is being asked for its position
	profile profile.Profile
	report  DebugReport
}

// stack asks the library for the guest's stack. It may be called only while the engine is between two instructions.
func (d *inspector) stack(r *run, in *quickjs.Instance) string {
	if d.asking || r.image == nil {
		return ""
	}
	d.asking = true
	defer func() { d.asking = false }()
	v, err := in.Apply(r.image.Root(stdlib.RootStack))
	if err != nil {
		return ""
	}
	text, _ := in.Str(v, maxErrorText)
	frames, _ := r.source.Trace(text)
	return strings.TrimPrefix(frames, "\n")
}

// sample records the guest's stack when a sample is due.
func (d *inspector) sample(r *run, in *quickjs.Instance) {
	if !d.asked.Profile || !in.Interrupted() || !d.profile.Due(in.Ticks()) || d.asking {
		return
	}
	ticks := in.Ticks()
	d.profile.Add(ticks, d.stack(r, in))
}

// logged records where the last console call came from.
func (d *inspector) logged(r *run, in *quickjs.Instance) error {
	if !d.asked.StackTraces {
		return nil
	}
	stack := d.stack(r, in)
	d.report.StackTraces = append(d.report.StackTraces, LogTrace{len(r.result.Logs) - 1, stack})
	return r.memory.Charge(int64(len(stack)))
}

// step records a statement that is about to run.
func (d *inspector) step(a []quickjs.Value, at time.Duration) (quickjs.Value, error) {
	line, ok := a[0].Int()
	switch {
	case !ok || !d.asked.Steps:
	case len(d.report.Steps) >= maxReported:
		d.report.StepsTruncated = true
	default:
		d.report.Steps = append(d.report.Steps, Step{int(line), milliseconds(at)})
	}
	return quickjs.Undefined, nil
}

// op returns the operation by which a statement reports that it is about to run.
func (d *inspector) op(o *outside) hostops.Op {
	return func(_ *hostops.Call, a []quickjs.Value) (quickjs.Value, error) { return d.step(a, o.elapsed()) }
}

// reported returns the report of a run that has ended, nil if none was asked for.
func (d *inspector) reported(in *quickjs.Instance) *DebugReport {
	if d.asked == (Debug{}) {
		return nil
	}
	if d.asked.Profile && in != nil {
		d.report.Profile = d.profile.Speedscope(in.Ticks())
	}
	return &d.report
}
