package gateway

import (
	"cmp"
	"context"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/governance"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/mcp"
	"github.com/airlock-run/airlock/gateway/semaphore"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/threat"
)

// admission reads submissions and has the policy decide about them. It is safe for concurrent use.
type admission struct {
	*fairDecider
	remoteTools   *mcp.RemoteTools
	noCallerTools bool
	keepCode      int // bytes of the largest request that a record keeps; 0 if records keep none
}

func newAdmission(cfg Config, deps Deps) (*admission, error) {
	decider, err := newFairDecider(deps.Policy, deps.Scanner)
	if err != nil {
		return nil, err
	}
	calls, err := semaphore.New(mcp.CallsOfOne)
	if err != nil {
		return nil, err
	}
	a := &admission{fairDecider: decider, noCallerTools: cfg.Streams.NoCallerTools, keepCode: cfg.KeepCode}
	a.remoteTools = &mcp.RemoteTools{
		Source: deps.RemoteTools, Permitted: a.permitted, NoDiscovery: cfg.Streams.NoCallerTools, Calls: calls,
		MaxAnswers: int64(cfg.Streams.ToolAnswers),
	}
	return a, nil
}

// read reads the submission of POST /api/execute. It shares no memory with the connection.
func (a *admission) read(c *fiber.Ctx, now clock) (api.Submission, error) {
	received := now()
	if err := api.RequireJSON(c); err != nil {
		return api.Submission{}, err
	}
	request, err := api.Decode(c, a, execution.DecodeRequest)
	if err != nil {
		return api.Submission{}, err
	}
	if err := api.CheckPriority(api.CallerOf(c), request); err != nil {
		return api.Submission{}, err
	}
	return api.NewSubmission(c, request, received), nil
}

// validate refuses a submission that is not valid. It does not scan the code.
func (a *admission) validate(s api.Submission) error {
	if field, ok := a.policy.Validate(policyRequest(s)); ok {
		return api.Invalid(field.Field, field.Message)
	}
	return cmp.Or(a.Recordable(s.Request), a.reachCaller(s))
}

// Recordable implements registry.Policy: it refuses a request that is too large for a record that keeps it. The record
// must not lack it, because its caller could then keep what ran out of the records.
func (a *admission) Recordable(request execution.Request) error {
	if a.keepCode == 0 {
		return nil
	}
	if size := request.RecordedBytes(a.keepCode); size > a.keepCode {
		return &execution.Error{Code: execution.TooLarge, Message: fmt.Sprintf("the request takes at least %d bytes in its "+
			"audit record, with the code, the files and the input; at most %d are accepted where AUDIT_CODE=keep is set, "+
			"unless AUDIT_CODE_BYTES allows more", size, a.keepCode)}
	}
	return nil
}

// reachCaller refuses tools of the caller where there is no way to call them.
func (a *admission) reachCaller(s api.Submission) error {
	switch {
	case s.CallTool == nil:
		return execution.CheckCallerTools(s.Request.Tools, "is caller: such tools are called over the stream of POST "+
			"/api/execute/stream, and nowhere else; use that, or give the tool a url")
	case a.noCallerTools:
		return execution.CheckCallerTools(s.Request.Tools, "cannot be caller here: functions on AWS Lambda have no way back "+
			"to their caller while they run; give the tool a url")
	}
	return nil
}

// Analyze implements registry.Policy: it decides about code that does not run now.
func (a *admission) Analyze(ctx context.Context, s api.Submission) (policy.Decision, error) {
	decision, err := a.fairDecider.analyze(ctx, policyRequest(s))
	if err != nil {
		return decision, err
	}
	return decision, invalidField(decision)
}

// invalidField returns the error of a request with a field that is not valid, or nil.
func invalidField(decision policy.Decision) error {
	if field, ok := decision.BadField(); ok {
		return api.Invalid(field.Field, field.Message)
	}
	return nil
}

// permitted returns the remote tools that the policy lets a caller use.
func (a *admission) permitted(
	ctx context.Context, tools []execution.Tool, caller authn.Identity,
) []execution.Tool {
	if len(tools) == 0 {
		return nil
	}
	ask := policy.Request{Code: "0", Subject: caller.Subject, Tenant: caller.Tenant, Scopes: caller.Scopes}
	for _, t := range tools {
		ask.Tools = append(ask.Tools, t.Name)
	}
	denied := map[string]bool{}
	decision, err := a.fairDecider.decide(ctx, ask)
	if err != nil {
		return nil // the caller is gone, or the gateway is being stopped
	}
	for _, r := range decision.Reasons {
		if r.Rule == "tools" && r.Effect == policy.Deny {
			denied[r.Field] = true
		}
	}
	if len(denied) == 0 {
		return tools
	}
	var out []execution.Tool
	for i, t := range tools {
		if !denied[fmt.Sprintf("tools[%d]", i)] {
			out = append(out, t)
		}
	}
	return out
}

// policyRequest returns what a submission asks of the policy.
func policyRequest(s api.Submission) policy.Request { return governance.PolicyRequest(invocationOf(s)) }

// verdict is the response of POST /api/analyze.
type verdict struct {
	DangerAnalysis threat.Analysis  `json:"dangerAnalysis"`
	ASTTelemetry   threat.Telemetry `json:"astTelemetry"`
	Decision       struct {
		Allow   bool     `json:"allow"`
		Reasons []string `json:"reasons"`
	} `json:"decision"`
	Violations  []string            `json:"violations"`
	Policy      string              `json:"policy"`
	SyntaxError *threat.SyntaxError `json:"syntaxError"`
}

// verdict returns the policy's verdict on code, with the remote tools that the code would have.
func (a *admission) verdict(ctx context.Context, s api.Submission) (any, error) {
	decision, err := a.Analyze(ctx, a.remoteTools.AddTo(ctx, s))
	if err != nil {
		return nil, err
	}
	v := verdict{
		DangerAnalysis: decision.Analysis, ASTTelemetry: decision.Telemetry, Violations: decision.Violations,
		Policy: decision.Tier, SyntaxError: decision.SyntaxError,
	}
	v.Decision.Allow, v.Decision.Reasons = decision.Effect == policy.Allow, decision.ReasonLines()
	return v, nil
}

// analyze serves POST /api/analyze: the verdict of the policy on code, which does not run.
func (a *admission) analyze(c *fiber.Ctx) error {
	if err := api.RequireJSON(c); err != nil {
		return err
	}
	request, err := api.Decode(c, a, execution.DecodeRequest)
	if err != nil {
		return err
	}
	ctx, release := api.DisconnectContext(c)
	defer release()
	v, err := a.verdict(ctx, api.Submission{Request: request, Caller: api.CallerOf(c)})
	if err != nil {
		return err
	}
	return api.Send(c, v)
}
