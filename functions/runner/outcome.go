package runner

import (
	"cmp"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/governance"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/sandbox"
)

// outcome collects the facts of one execution; the result and the record are made from it.
type outcome struct {
	inv      execution.Invocation
	now      func() time.Time
	keepCode bool
	// maxMemory is the memory that this function gives to any tier, or 0.
	maxMemory int64
	// codeSHA256 is the hash of the code that runs.
	codeSHA256 string
	// began is when an execution began that another function may run again later, and is otherwise zero.
	began    time.Time
	decision policy.Decision
	custody  []audit.Step
	seed     int64
	journal  *sandbox.Journal // nil if the guest received nothing from outside
	packages []sandbox.PackageID
}

func (o *outcome) step(name string) {
	at := max(o.now().Sub(o.inv.ReceivedAt), 0)
	o.custody = append(o.custody, audit.Step{Step: name, AtMs: float64(at.Microseconds()) / 1000})
}

// narrow narrows the decision about a segment that continues an execution, or about a step of a session. It takes the
// grants off the snapshot of a segment.
func (o *outcome) narrow() (err error) {
	var snapshot []byte
	o.decision.Grants, snapshot, err = governance.Narrowed(o.decision.Grants, o.inv.Segments)
	if o.inv.Resume != nil {
		resume := *o.inv.Resume
		resume.Snapshot, o.inv.Resume = snapshot, &resume
	}
	return err
}

func (o *outcome) base() execution.Result {
	return execution.Result{
		ID: o.inv.ID, Logs: []execution.Log{},
		Environment: execution.Environment{
			Policy: o.decision.Tier, Engine: cmp.Or(o.decision.Grants.Engine, policy.QuickJS),
		},
		DangerAnalysis: governance.Encode(o.decision.Analysis), Violations: []string{},
		Usage: execution.Usage{QueueMs: o.inv.QueueMs},
	}
}

func (o *outcome) blocked() execution.Result {
	r, refused := o.base(), governance.Blocked(&o.decision)
	r.Status, r.Error, r.Violations = refused.Status, refused.Error, refused.Violations
	r.DurationMs = float64(max(o.now().Sub(o.inv.ReceivedAt), 0).Microseconds()) / 1000
	return r
}

func (o *outcome) result(out sandbox.Result) execution.Result {
	r := o.base()
	r.Result, r.Output, r.Pure, r.DurationMs = out.Value, out.Output, out.Pure, out.Usage.WallMs
	r.EngineBuild = out.EngineBuild
	o.packages = out.Packages
	r.Status = status(out)
	if p := out.Parked; r.Status == execution.Paused {
		kept := o.decision.Grants
		if o.maxMemory > 0 {
			kept.MemoryBytes = min(kept.MemoryBytes, o.maxMemory)
		}
		r.Waiting, r.Snapshot = waiting(p), governance.WithGrants(p.Snapshot, kept)
	}
	if s := o.inv.Session; s != nil {
		r.Session, r.Pure = &s.SessionRef, false
		if r.Status == execution.Completed {
			r.Snapshot = out.Snapshot
		}
	}
	for _, l := range out.Logs {
		r.Logs = append(r.Logs, logOf(l))
	}
	r.ExitCode = out.ExitCode
	if out.Error != "" {
		r.Error = &out.Error
	}
	if ex := out.Exception; ex != nil {
		r.Exception = &execution.Exception{Name: ex.Name, Message: ex.Message, Stack: ex.Stack, Line: ex.Line,
			Column: ex.Column}
		if o.inv.Request.Files[ex.File] != nil {
			r.Exception.File = ex.File
		}
	}
	if out.Debug != nil {
		r.Debug = governance.Encode(out.Debug)
	}
	if o.inv.Function != nil && (out.Warm || out.Cold != "") {
		r.Warm, r.ColdReason = &out.Warm, out.Cold
	}
	for name, content := range out.Files {
		if r.FilesOut == nil {
			r.FilesOut = make(map[string]execution.File, len(out.Files))
		}
		r.FilesOut[name] = content
	}
	if out.Limit != "" {
		limit := string(out.Limit)
		r.Limit = &limit
	}
	u := out.Usage
	r.Usage = execution.Usage{
		WallMs: u.WallMs, CPUMs: u.CPUMs, Ticks: u.Ticks, MemoryBytes: u.MemoryBytes, OutputBytes: u.OutputBytes,
		APICalls: u.APICalls, QueueMs: o.inv.QueueMs, LogsDropped: u.LogsDropped,
	}
	r.APICallCount = u.APICalls
	r.Adjusted = governance.Adjusted(o.inv.Request, o.decision.Grants)
	return r
}

func packagesOf(ids []sandbox.PackageID) (out []audit.Package) {
	for _, id := range ids {
		out = append(out, audit.Package(id))
	}
	return out
}

func status(out sandbox.Result) execution.Status {
	switch {
	case out.Cancelled:
		return execution.Cancelled
	case out.Limit == sandbox.LimitWall || out.Limit == sandbox.LimitCPU:
		return execution.TimedOut
	case out.Parked != nil:
		return execution.Paused
	case !out.Completed():
		return execution.Failed
	}
	return execution.Completed
}

func logOf(l sandbox.Log) execution.Log {
	return execution.Log{Level: l.Level, Message: l.Message, AtMs: l.AtMs}
}

// record returns the audit record of result r. Its last custody step is the storing itself.
func (o *outcome) record(r execution.Result) audit.Record {
	o.step(audit.Recorded)
	decided := &o.decision
	if o.inv.Scanned != nil {
		decided = nil // the owner of this process records its own decision
	}
	record := governance.Record(o.inv, decided, r, o.codeSHA256, o.keepCode)
	record.OutputBytes, record.Custody = record.Usage.OutputBytes, o.custody
	record.Packages = packagesOf(o.packages)
	if r.Status != execution.Blocked {
		seed := o.seed
		record.Seed = &seed
		if o.journal != nil {
			record.Journal = governance.Encode(o.journal)
		}
	}
	return record
}
