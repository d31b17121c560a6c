package gateway

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/threat"
)

// analyze is POST /api/analyze: what the policy says of code, without running it.
func (s *Server) analyze(c *fiber.Ctx) error {
	if err := plainJSON(c); err != nil {
		return err
	}
	request, err := decoded(s, c, execution.DecodeRequest)
	if err != nil {
		return err
	}
	ctx, release := s.attached(c)
	defer release()
	verdict, err := s.judge(ctx, Job{Request: request, Caller: callerOf(c)})
	if err != nil {
		return err
	}
	return s.send(c, verdict)
}

// verdict is what the policy says of a request.
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

// judge asks the policy.
func (s *Server) judge(ctx context.Context, job Job) (verdict, error) {
	decision, err := s.decider.analyze(ctx, askOf(s.attach(job)))
	if err != nil {
		return verdict{}, err
	}
	if bad, ok := decision.BadField(); ok {
		return verdict{}, &execution.Error{Code: execution.InvalidRequest, Field: bad.Field, Message: bad.Message}
	}
	v := verdict{
		DangerAnalysis: decision.Analysis, ASTTelemetry: decision.Telemetry, Violations: decision.Violations,
		Policy: decision.Tier, SyntaxError: decision.SyntaxError,
	}
	v.Decision.Allow, v.Decision.Reasons = decision.Effect == policy.Allow, decision.ReasonLines()
	return v, nil
}
