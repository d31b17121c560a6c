package gateway

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/meter"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/policy/threat"
)

// clock tells the time.
type clock func() time.Time

// run is the progress of one submission through the gateway.
type run struct {
	api.Submission
	now      clock
	decision policy.Decision
	queued   time.Duration
	custody  []audit.Step
	reuseKey string // "" if the result may not be reused
	reused   string // the id of the execution whose result this one gets
}

// begin sets the ID of a submission and asks the policy for a decision. With an error there is no decision, and the
// run may only be recorded.
func (e *executor) begin(ctx context.Context, s api.Submission) (*run, error) {
	s.ID = cmp.Or(s.ID, e.newID())
	if s.Function != nil && s.Content == "" {
		s.Content = s.Request.Sources().Sum()
	}
	r := &run{Submission: s, now: e.now, custody: []audit.Step{{Step: audit.Received}}}
	var err error
	if r.decision, err = e.admission.decide(ctx, s); err != nil {
		r.decision = undecided(s.Request)
		return r, err
	}
	r.step(audit.Decided)
	return r, nil
}

// undecided returns a decision that grants nothing and says that the code was not analysed.
func undecided(request execution.Request) policy.Decision {
	return policy.Decision{
		Tier: cmp.Or(request.Policy, policy.DefaultTier), Violations: []string{},
		Analysis:  threat.Analysis{Level: threat.Safe, Findings: []threat.Finding{}, Unanalysed: true},
		Telemetry: threat.Telemetry{AccessedIdentifiers: []string{}},
	}
}

func (r *run) step(name string) {
	r.custody = append(r.custody, audit.Step{Step: name, AtMs: api.Milliseconds(r.now().Sub(r.ReceivedAt))})
}

// admit notifies the caller that the execution has its place, or its result without one.
func (r *run) admit() {
	if r.Admitted != nil {
		r.Admitted()
	}
}

// blockedResult returns the result of a run that the policy refused.
func (r *run) blockedResult() execution.Result {
	line := "blocked by policy"
	if len(r.decision.Violations) > 0 {
		line += ": " + r.decision.Violations[0]
	}
	return execution.Result{Status: execution.Blocked, Error: &line, Violations: r.decision.Violations}
}

// cancelledResult returns the result of a run whose caller hung up.
func cancelledResult() execution.Result {
	line := "the execution was cancelled: the caller hung up, or the service is shutting down"
	return execution.Result{Status: execution.Cancelled, Error: &line}
}

// complete fills in the fields that the maker of a result did not know. No list of a complete result is nil.
func (r *run) complete(result execution.Result) execution.Result {
	result.ID, result.Function = r.ID, r.Function
	result.Policy = cmp.Or(result.Policy, r.decision.Tier)
	result.Engine = cmp.Or(result.Engine, "quickjs")
	if result.Logs == nil {
		result.Logs = []execution.Log{}
	}
	if result.Violations == nil {
		result.Violations = []string{}
	}
	if len(result.DangerAnalysis) == 0 {
		result.DangerAnalysis = api.Raw(r.decision.Analysis)
	}
	if result.DurationMs == 0 && result.Status == execution.Blocked {
		result.DurationMs = api.Milliseconds(r.now().Sub(r.ReceivedAt))
	}
	result.Usage.QueueMs = max(result.Usage.QueueMs, api.Milliseconds(r.queued))
	return result
}

// invocation returns what a function is invoked with.
func (r *run) invocation() execution.Invocation {
	d := &r.decision
	return execution.Invocation{
		Airlock: execution.InvocationVersion, ID: r.ID, Request: r.Request, Via: r.Via,
		Servers:    execution.ServersOf(r.Request.Tools),
		Caller:     execution.Caller{Subject: r.Caller.Subject, Tenant: r.Caller.Tenant, IP: r.IP},
		ReceivedAt: r.ReceivedAt, QueueMs: api.Milliseconds(r.queued), Scopes: authn.RestrictingScopes(r.Caller.Scopes),
		TraceParent: r.TraceParent, Function: r.Function, Content: r.Content, StartBefore: r.StartBefore,
		// An invoker writes the record of an execution that its function lost.
		Decision: func() execution.Decision {
			return execution.Decision{
				Grants: api.Raw(d.Grants), DangerAnalysis: api.Raw(d.Analysis), ASTTelemetry: api.Raw(d.Telemetry),
				Reasons: d.ReasonLines(),
			}
		},
	}
}

// record returns the audit record of a run that no function recorded.
func (r *run) record(result execution.Result, keepCode bool) audit.Record {
	source := r.Request.Main()
	record := audit.Record{
		ID: r.ID, Time: r.ReceivedAt.UTC(), DurationMs: result.DurationMs,
		Caller: audit.Caller{Subject: r.Caller.Subject, Tenant: r.Caller.Tenant, IP: r.IP}, Via: r.Via,
		CodeSHA256: hash([]byte(source)), CodeBytes: len(source), Language: r.Request.MainLanguage(),
		Policy: result.Policy, Engine: result.Engine, EngineBuild: result.EngineBuild, Grants: api.Raw(r.decision.Grants),
		Reasons:        r.decision.ReasonLines(),
		DangerAnalysis: result.DangerAnalysis, ASTTelemetry: api.Raw(r.decision.Telemetry),
		Status: string(result.Status), OutputBytes: int64(len(result.Output)), Seed: r.Request.Seed,
		Usage: audit.Usage(result.Usage), Reused: r.reused,
	}
	if f := r.Function; f != nil {
		record.Function = &audit.FunctionRef{Name: f.Name, Version: f.Version}
	}
	if result.Limit != nil {
		record.Limit = *result.Limit
	}
	if result.Error != nil {
		record.Error = *result.Error
	}
	if r.reused != "" { // nothing ran, so nothing was used
		record.Usage, record.DurationMs = audit.Usage{}, api.Milliseconds(r.now().Sub(r.ReceivedAt))
		record.Reasons = append(record.Reasons,
			"the result of "+r.reused+" was given again: an identical request, and a pure execution")
	}
	if len(result.Result) > 0 {
		record.ResultSHA256 = hash(result.Result)
	}
	if keepCode {
		record.Code, record.Request = source, api.Raw(r.Request)
	}
	r.step(audit.Recorded)
	record.Custody = r.custody
	return record
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// sampleOf returns what the meter counts of a result.
func sampleOf(result execution.Result) meter.Sample {
	s := meter.Sample{
		Status: string(result.Status), Policy: result.Policy, Engine: result.Engine, EngineBuild: result.EngineBuild,
		Cached:     result.Cached,
		DurationMs: result.DurationMs,
	}
	if result.Limit != nil {
		s.Limit = *result.Limit
	}
	return s
}
