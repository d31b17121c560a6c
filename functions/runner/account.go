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

// account is what is known of one execution; it becomes the result and the record.
type account struct {
	inv      execution.Invocation
	now      func() time.Time
	keepCode bool
	// codeSHA256 is the hash of what runs.
	codeSHA256 string
	decision   policy.Decision
	custody    []audit.Step
	seed       int64
	journal    *sandbox.Journal // nil when nothing reached the guest from outside
}

func (a *account) step(name string) {
	at := max(a.now().Sub(a.inv.ReceivedAt), 0)
	a.custody = append(a.custody, audit.Step{Step: name, AtMs: float64(at.Microseconds()) / 1000})
}

func (a *account) base() execution.Result {
	return execution.Result{
		ID: a.inv.ID, Logs: []execution.Log{}, Engine: engine, Policy: a.decision.Tier,
		DangerAnalysis: encoded(a.decision.Analysis), Violations: []string{}, Usage: execution.Usage{QueueMs: a.inv.QueueMs},
	}
}

func (a *account) blocked() execution.Result {
	line := "blocked by policy"
	if len(a.decision.Violations) > 0 {
		line += ": " + a.decision.Violations[0]
	}
	r := a.base()
	r.Status, r.Error, r.Violations = execution.Blocked, &line, a.decision.Violations
	r.DurationMs = float64(max(a.now().Sub(a.inv.ReceivedAt), 0).Microseconds()) / 1000
	return r
}

func (a *account) result(out sandbox.Result) execution.Result {
	r := a.base()
	r.Result, r.Output, r.Pure, r.DurationMs = out.Value, out.Output, out.Pure, out.Usage.WallMs
	r.Status = status(out)
	for _, l := range out.Logs {
		r.Logs = append(r.Logs, logOf(l))
	}
	if out.Error != "" {
		r.Error = &out.Error
	}
	if ex := out.Exception; ex != nil {
		r.Exception = &execution.Exception{Name: ex.Name, Message: ex.Message, Stack: ex.Stack, Line: ex.Line, Column: ex.Column}
		if a.inv.Request.Files[ex.File] != nil {
			r.Exception.File = ex.File
		}
	}
	if out.Debug != nil {
		r.Debug = encoded(out.Debug)
	}
	if a.inv.Function != nil && (out.Warm || out.Cold != "") {
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
		APICalls: u.APICalls, QueueMs: a.inv.QueueMs,
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

// record is the account as it is stored; its last step is the storing itself.
func (a *account) record(r execution.Result) audit.Record {
	a.step(audit.Recorded)
	q := a.inv.Request
	source := q.Main()
	rec := audit.Record{
		ID: a.inv.ID, Time: a.inv.ReceivedAt.UTC(), DurationMs: r.DurationMs,
		Caller: audit.Caller(a.inv.Caller), Via: a.inv.Via,
		CodeSHA256: a.codeSHA256, CodeBytes: len(source), Language: q.MainLanguage(),
		Policy: r.Policy, Engine: r.Engine, Grants: encoded(a.decision.Grants), Reasons: a.decision.ReasonLines(),
		DangerAnalysis: r.DangerAnalysis, ASTTelemetry: encoded(a.decision.Telemetry),
		Status: string(r.Status), OutputBytes: r.Usage.OutputBytes, Usage: audit.Usage(r.Usage), Custody: a.custody,
	}
	if f := a.inv.Function; f != nil {
		rec.Function = &audit.FunctionRef{Name: f.Name, Version: f.Version}
	}
	if r.Error != nil {
		rec.Error = *r.Error
	}
	if r.Limit != nil {
		rec.Limit = *r.Limit
	}
	if r.Status != execution.Blocked {
		seed := a.seed
		rec.Seed = &seed
		if a.journal != nil {
			rec.Journal = encoded(a.journal)
		}
	}
	if len(r.Result) > 0 {
		sum := sha256.Sum256(r.Result)
		rec.ResultSHA256 = hex.EncodeToString(sum[:])
	}
	if a.keepCode {
		rec.Code, rec.Request = source, encoded(q)
	}
	return rec
}

// encoded is v as JSON. Only types whose encoding cannot fail are given to it.
func encoded(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return b
}
