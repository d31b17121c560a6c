package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/sandbox"
)

const engine = "quickjs"

// outcome collects the facts of one execution; the result and the record are made from it.
type outcome struct {
	inv      execution.Invocation
	now      func() time.Time
	keepCode bool
	// codeSHA256 is the hash of the code that runs.
	codeSHA256 string
	decision   policy.Decision
	custody    []audit.Step
	seed       int64
	journal    *sandbox.Journal // nil if the guest received nothing from outside
}

func (o *outcome) step(name string) {
	at := max(o.now().Sub(o.inv.ReceivedAt), 0)
	o.custody = append(o.custody, audit.Step{Step: name, AtMs: float64(at.Microseconds()) / 1000})
}

func (o *outcome) base() execution.Result {
	return execution.Result{
		ID: o.inv.ID, Logs: []execution.Log{}, Engine: engine, Policy: o.decision.Tier,
		DangerAnalysis: encoded(o.decision.Analysis), Violations: []string{}, Usage: execution.Usage{QueueMs: o.inv.QueueMs},
	}
}

func (o *outcome) blocked() execution.Result {
	line := "blocked by policy"
	if len(o.decision.Violations) > 0 {
		line += ": " + o.decision.Violations[0]
	}
	r := o.base()
	r.Status, r.Error, r.Violations = execution.Blocked, &line, o.decision.Violations
	r.DurationMs = float64(max(o.now().Sub(o.inv.ReceivedAt), 0).Microseconds()) / 1000
	return r
}

func (o *outcome) result(out sandbox.Result) execution.Result {
	r := o.base()
	r.Result, r.Output, r.Pure, r.DurationMs = out.Value, out.Output, out.Pure, out.Usage.WallMs
	r.EngineBuild = out.EngineBuild
	r.Status = status(out)
	for _, l := range out.Logs {
		r.Logs = append(r.Logs, logOf(l))
	}
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
		r.Debug = encoded(out.Debug)
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
		APICalls: u.APICalls, QueueMs: o.inv.QueueMs,
	}
	r.APICallCount = u.APICalls
	return r
}

func status(out sandbox.Result) execution.Status {
	switch {
	case out.Cancelled:
		return execution.Cancelled
	case out.Limit == sandbox.LimitWall || out.Limit == sandbox.LimitCPU:
		return execution.TimedOut
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
	q := o.inv.Request
	source := q.Main()
	rec := audit.Record{
		ID: o.inv.ID, Time: o.inv.ReceivedAt.UTC(), DurationMs: r.DurationMs,
		Caller: audit.Caller(o.inv.Caller), Via: o.inv.Via,
		CodeSHA256: o.codeSHA256, CodeBytes: len(source), Language: q.MainLanguage(),
		Policy: r.Policy, Engine: r.Engine, EngineBuild: r.EngineBuild, Grants: encoded(o.decision.Grants),
		Reasons:        o.decision.ReasonLines(),
		DangerAnalysis: r.DangerAnalysis, ASTTelemetry: encoded(o.decision.Telemetry),
		Status: string(r.Status), OutputBytes: r.Usage.OutputBytes, Usage: audit.Usage(r.Usage), Custody: o.custody,
	}
	if f := o.inv.Function; f != nil {
		rec.Function = &audit.FunctionRef{Name: f.Name, Version: f.Version}
	}
	if r.Error != nil {
		rec.Error = *r.Error
	}
	if r.Limit != nil {
		rec.Limit = *r.Limit
	}
	if r.Status != execution.Blocked {
		seed := o.seed
		rec.Seed = &seed
		if o.journal != nil {
			rec.Journal = encoded(o.journal)
		}
	}
	if len(r.Result) > 0 {
		sum := sha256.Sum256(r.Result)
		rec.ResultSHA256 = hex.EncodeToString(sum[:])
	}
	if o.keepCode {
		rec.Code, rec.Request = source, encoded(q)
	}
	return rec
}

// encoded returns v as JSON. Callers pass only types whose encoding cannot fail.
func encoded(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return b
}
