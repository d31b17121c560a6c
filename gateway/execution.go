package gateway

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/meter"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/policy/threat"
)

// run is one execution on its way through the gateway.
type run struct {
	job      Job
	id       string
	now      func() time.Time
	decision policy.Decision
	queued   time.Duration
	custody  []audit.Step
	key      string // of what it is reused by; "" when it is not
	reused   string // the execution whose result this one has
}

// begin gives a job its id and has the policy decide. With an error nothing is decided, and the run may only be recorded.
func (s *Server) begin(ctx context.Context, job Job) (*run, error) {
	if job.ID == "" {
		job.ID = s.deps.NewID()
	}
	if job.Function != nil && job.Content == "" {
		job.Content = job.Request.Sources().Sum()
	}
	r := &run{job: job, id: job.ID, now: s.deps.Now}
	r.custody = append(r.custody, audit.Step{Step: audit.Received})
	var err error
	if r.decision, err = s.decider.decide(ctx, askOf(job)); err != nil {
		r.decision = undecided(job.Request)
		return r, err
	}
	r.step(audit.Decided)
	return r, nil
}

// decided is begin for a run that has ended: what cannot be decided any more is left open.
func (s *Server) decided(ctx context.Context, job Job) *run {
	r, _ := s.begin(ctx, job) // with an error it is undecided
	return r
}

// undecided grants nothing and says that nothing is known of the code.
func undecided(request execution.Request) policy.Decision {
	return policy.Decision{
		Tier: cmp.Or(request.Policy, policy.DefaultTier), Violations: []string{},
		Analysis:  threat.Analysis{Level: threat.Safe, Findings: []threat.Finding{}, Unanalysed: true},
		Telemetry: threat.Telemetry{AccessedIdentifiers: []string{}},
	}
}

func (r *run) step(name string) {
	r.custody = append(r.custody, audit.Step{Step: name, AtMs: milliseconds(r.now().Sub(r.job.ReceivedAt))})
}

// admitted tells whoever waits that the execution is on its way.
func (r *run) admitted() {
	if r.job.Admitted != nil {
		r.job.Admitted()
	}
}

// askOf puts a request to the policy.
func askOf(job Job) policy.Request {
	q, sum := job.Request, job.Content
	if sum == "" {
		sum = q.Sources().Sum()
	}
	f := q.Facts()
	return policy.Request{
		Code: q.Main(), Entry: q.Entry, Language: q.MainLanguage(), Files: f.Files, Sum: sum, Saved: job.Function != nil, Tier: q.Policy,
		Limits: policy.Limits{
			Timeout: f.Timeout, CPU: f.CPU, MemoryBytes: f.MemoryBytes,
			OutputBytes: q.Limits.OutputBytes, LogEntries: q.Limits.LogEntries, APICalls: q.Limits.APICalls,
		},
		Hosts: q.Hosts, Secrets: q.Secrets, Tools: f.Tools, Globals: f.Globals,
		Subject: job.Caller.Subject, Tenant: job.Caller.Tenant, Scopes: job.Caller.Scopes,
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// blocked is the result of a run that the policy refused.
func (r *run) blocked() execution.Result {
	line := "blocked by policy"
	if len(r.decision.Violations) > 0 {
		line += ": " + r.decision.Violations[0]
	}
	return execution.Result{Status: execution.Blocked, Error: &line, Violations: r.decision.Violations}
}

// cancelled is the result of a run whose caller went away.
func (r *run) cancelled() execution.Result {
	line := "the execution was cancelled: the caller hung up, or the service is shutting down"
	return execution.Result{Status: execution.Cancelled, Error: &line}
}

// completed fills in what whoever made the result did not know, and never leaves a list null.
func (r *run) completed(result execution.Result) execution.Result {
	result.ID, result.Function = r.id, r.job.Function
	if result.Policy == "" {
		result.Policy = r.decision.Tier
	}
	if result.Engine == "" {
		result.Engine = "quickjs"
	}
	if result.Logs == nil {
		result.Logs = []execution.Log{}
	}
	if result.Violations == nil {
		result.Violations = []string{}
	}
	if len(result.DangerAnalysis) == 0 {
		result.DangerAnalysis = raw(r.decision.Analysis)
	}
	if result.DurationMs == 0 && result.Status == execution.Blocked {
		result.DurationMs = milliseconds(r.now().Sub(r.job.ReceivedAt))
	}
	result.Usage.QueueMs = max(result.Usage.QueueMs, milliseconds(r.queued))
	return result
}

// decided is what the policy said, for an invoker that writes the record.
func (r *run) decided() execution.Decision {
	d := &r.decision
	return execution.Decision{
		Grants: raw(d.Grants), DangerAnalysis: raw(d.Analysis), ASTTelemetry: raw(d.Telemetry), Reasons: d.ReasonLines(),
	}
}

// record is the account of a run that no function recorded.
func (r *run) record(result execution.Result, keepCode bool) audit.Record {
	source := r.job.Request.Main()
	sum := sha256.Sum256([]byte(source))
	u := result.Usage
	record := audit.Record{
		ID: r.id, Time: r.job.ReceivedAt.UTC(), DurationMs: result.DurationMs,
		Caller: audit.Caller{Subject: r.job.Caller.Subject, Tenant: r.job.Caller.Tenant, IP: r.job.IP}, Via: r.job.Via,
		CodeSHA256: hex.EncodeToString(sum[:]), CodeBytes: len(source), Language: r.job.Request.MainLanguage(),
		Policy: result.Policy, Engine: result.Engine, Grants: raw(r.decision.Grants), Reasons: r.decision.ReasonLines(),
		DangerAnalysis: result.DangerAnalysis, ASTTelemetry: raw(r.decision.Telemetry),
		Status: string(result.Status), OutputBytes: int64(len(result.Output)), Seed: r.job.Request.Seed,
		Usage: audit.Usage(u), Reused: r.reused,
	}
	if f := r.job.Function; f != nil {
		record.Function = &audit.FunctionRef{Name: f.Name, Version: f.Version}
	}
	if result.Limit != nil {
		record.Limit = *result.Limit
	}
	if result.Error != nil {
		record.Error = *result.Error
	}
	if r.reused != "" {
		// Nothing ran, so nothing was used.
		record.Usage, record.DurationMs = audit.Usage{}, milliseconds(r.now().Sub(r.job.ReceivedAt))
		record.Reasons = append(record.Reasons, "the result of "+r.reused+" was given again: an identical request, and a pure execution")
	}
	if len(result.Result) > 0 {
		sum := sha256.Sum256(result.Result)
		record.ResultSHA256 = hex.EncodeToString(sum[:])
	}
	if keepCode {
		record.Code, record.Request = source, raw(r.job.Request)
	}
	r.step(audit.Recorded)
	record.Custody = r.custody
	return record
}

// raw encodes what always encodes: the policy's own plain types.
func raw(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}

// sample is what the meter is told of a result.
func sample(result execution.Result) meter.Sample {
	s := meter.Sample{
		Status: string(result.Status), Policy: result.Policy, Engine: result.Engine, Cached: result.Cached, DurationMs: result.DurationMs,
	}
	if result.Limit != nil {
		s.Limit = *result.Limit
	}
	return s
}
