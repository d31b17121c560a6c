package gateway

import (
	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy"
)

// analyze is POST /api/analyze: what the policy says of code, without running it.
func (s *Server) analyze(c *fiber.Ctx) error {
	if err := plainJSON(c); err != nil {
		return err
	}
	request, err := execution.DecodeRequest(c.Request().Body())
	if err != nil {
		return err
	}
	decision := s.deps.Policy.Decide(askOf(Job{Request: request, Caller: callerOf(c)}))
	if bad, ok := decision.BadField(); ok {
		return &execution.Error{Code: execution.InvalidRequest, Field: bad.Field, Message: bad.Message}
	}
	type verdict struct {
		Allow   bool     `json:"allow"`
		Reasons []string `json:"reasons"`
	}
	return s.send(c, struct {
		DangerAnalysis policy.DangerAnalysis `json:"dangerAnalysis"`
		ASTTelemetry   policy.Telemetry      `json:"astTelemetry"`
		Decision       verdict               `json:"decision"`
		Violations     []string              `json:"violations"`
		Policy         string                `json:"policy"`
		SyntaxError    *policy.SyntaxError   `json:"syntaxError"`
	}{
		decision.Analysis, decision.Telemetry, verdict{decision.Effect == policy.Allow, decision.ReasonLines()},
		decision.Violations, decision.Tier, decision.SyntaxError,
	})
}
