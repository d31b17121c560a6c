package gateway

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/governance"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/meter"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/policy/scan"
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
	sources  string // the hash of the sources
	reuseKey string // "" if the result may not be reused
	reused   string // the id of the execution whose result this one gets
}

// begin sets the ID of a submission and asks the policy for a decision. With an error there is no decision, and the
// run may only be recorded.
func (e *executor) begin(ctx context.Context, s api.Submission) (*run, error) {
	r := e.undecided(s)
	if s.RequestLost {
		return r, nil
	}
	if s.Function != nil && s.Content == "" {
		r.Content = s.Request.Sources().Sum()
	}
	ask := policyRequest(r.Submission)
	r.sources = ask.Sum
	decision, err := e.admission.decide(ctx, ask)
	if err != nil {
		return r, err
	}
	r.decision = decision
	if r.decision.Effect == policy.Allow {
		// If what was granted before is damaged, nothing is granted, and the function ends the execution.
		r.decision.Grants, _, _ = governance.Narrowed(r.decision.Grants, invocationOf(r.Submission).Segments)
	}
	r.step(audit.Decided)
	return r, nil
}

// undecided returns the run of a submission about which nothing has been decided.
func (e *executor) undecided(s api.Submission) *run {
	s.ID = cmp.Or(s.ID, e.newID())
	return &run{
		Submission: s, now: e.now, custody: []audit.Step{{Step: audit.Received}}, decision: undecided(s.Request),
	}
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

// cancelledResult returns the result of a run whose caller disconnected.
func cancelledResult() execution.Result {
	line := "the execution was cancelled: the caller disconnected, or the service is shutting down"
	return execution.Result{Status: execution.Cancelled, Failure: execution.Failure{Error: &line}}
}

// unfinished returns what is known of a run that ends with an error: its ID and the decision, without a status.
func (r *run) unfinished() execution.Result { return r.complete(execution.Result{}) }

// complete fills in the fields that the maker of a result did not know. No list of a complete result is nil.
func (r *run) complete(result execution.Result) execution.Result {
	result.ID, result.Function = r.ID, r.Function
	if r.Session != nil {
		result.Session = &r.Session.SessionRef
	}
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

// invocationOf returns the part of an invocation that a submission determines.
func invocationOf(s api.Submission) execution.Invocation {
	return execution.Invocation{
		Airlock: execution.InvocationVersion, ID: s.ID, Request: s.Request, Via: s.Via,
		Caller:     execution.Caller{Subject: s.Caller.Subject, Tenant: s.Caller.Tenant, IP: s.IP},
		ReceivedAt: s.ReceivedAt, Scopes: authn.RestrictingScopes(s.Caller.Scopes), TraceParent: s.TraceParent,
		Function: s.Function, Content: s.Content,
		Segments: execution.Segments{Waits: s.Waits, Resume: s.Resume, Session: s.Session},
	}
}

// startBefore returns the time until which a function may begin the run now; zero means no bound.
func (r *run) startBefore() time.Time {
	if r.StartBefore == nil {
		return time.Time{}
	}
	return r.StartBefore()
}

// late reports whether a function that is invoked at a time would refuse to begin the run.
func (r *run) late(at time.Time) bool {
	until := r.startBefore()
	return !until.IsZero() && at.After(until)
}

// invocation returns what a function is invoked with.
func (r *run) invocation() execution.Invocation {
	inv := invocationOf(r.Submission)
	inv.StartBefore = r.startBefore()
	inv.Servers, inv.QueueMs = execution.ServersOf(r.Request.Tools), api.Milliseconds(r.queued)
	inv.CallTool = bounded(r.CallTool)
	// An invoker writes the record of an execution that its function lost.
	decided := sync.OnceValue(func() execution.Decision { return governance.Decided(&r.decision) })
	inv.Decision = decided
	if in := r.decision.Scanned; in != nil && r.decision.Effect == policy.Allow {
		inv.Scanned = func() []byte { return scan.Hand(*in, decided().DangerAnalysis) }
	}
	return inv
}

// record returns the audit record of a run that no function recorded.
func (r *run) record(result execution.Result, keepCode bool) audit.Record {
	sum := governance.Hash([]byte(r.Request.Main()))
	record := governance.Record(invocationOf(r.Submission), &r.decision, result, sum, keepCode)
	record.OutputBytes, record.Seed, record.Reused = int64(len(result.Output)), r.Request.Seed, r.reused
	if r.RequestLost {
		record.CodeSHA256, record.Request = "", nil
		record.Reasons = append(record.Reasons,
			"the store has lost the request, so the record has neither the code nor the tier that was asked for")
	}
	if r.reused != "" { // nothing ran, so nothing was used
		record.Usage, record.DurationMs = audit.Usage{}, api.Milliseconds(r.now().Sub(r.ReceivedAt))
		record.Reasons = append(record.Reasons,
			"the result of "+r.reused+" was reused: the request is identical, and that execution was pure")
	}
	r.step(audit.Recorded)
	record.Custody = r.custody
	return record
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
