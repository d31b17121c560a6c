package gateway

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/gateway/meter"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
)

// list is the shape of every list.
type list[T any] struct {
	Items []T     `json:"items"`
	Next  *string `json:"next"`
}

type engine struct {
	Name       string `json:"name"`
	Available  bool   `json:"available"`
	Default    bool   `json:"default"`
	Executions int64  `json:"executions"`
	Note       string `json:"note,omitempty"`
}

// engines is GET /api/engines.
func (s *Server) engines(c *fiber.Ctx) error {
	used := s.meter.Totals().ByEngine
	const absent = "known by name, not available in this build"
	return s.send(c, list[engine]{Items: []engine{
		{Name: "quickjs", Available: true, Default: true, Executions: used["quickjs"], Note: "QuickJS in WebAssembly, a new instance for every execution"},
		{Name: "v8", Note: absent},
		{Name: "jsc", Note: absent},
	}})
}

// policies is GET /api/policies.
func (s *Server) policies(c *fiber.Ctx) error {
	type tiers struct {
		list[policy.Tier]
		Default string `json:"default"`
	}
	return s.send(c, tiers{list[policy.Tier]{Items: s.deps.Policy.Tiers()}, policy.DefaultTier})
}

// load is the queue at one moment.
type load struct {
	Running int `json:"running"`
	Waiting int `json:"waiting"`
	Places  int `json:"places"`
	Depth   int `json:"depth"`
}

func (s *Server) load() load {
	running, waiting := s.queue.Load()
	return load{running, waiting, s.cfg.Places, s.cfg.QueueDepth}
}

// fleet is the state of the function processes; nil where they are not processes of this machine.
func (s *Server) fleet() *Fleet {
	if s.deps.Fleet == nil {
		return nil
	}
	state := s.deps.Fleet()
	return &state
}

// stats is GET /api/stats.
func (s *Server) stats(c *fiber.Ctx) error {
	type room struct {
		Count int `json:"count"`
		Bytes int `json:"bytes"`
	}
	now := s.deps.Now()
	return s.send(c, struct {
		StartedAt time.Time `json:"startedAt"`
		UptimeMs  int64     `json:"uptimeMs"`
		meter.Totals
		Queue   load `json:"queue"`
		Results room `json:"results"`
		// Functions is null where the functions are not processes of this machine.
		Functions *Fleet `json:"functions"`
	}{
		s.started.UTC(), now.Sub(s.started).Milliseconds(), s.meter.Totals(), s.load(), room{s.kept.Len(), s.kept.Bytes()}, s.fleet(),
	})
}

// healthz is GET /healthz: this process answers.
func (s *Server) healthz(c *fiber.Ctx) error {
	return s.send(c, map[string]string{"status": "ok"})
}

// readyz is GET /readyz: an execution could run and be recorded now.
func (s *Server) readyz(c *fiber.Ctx) error {
	ctx, cancel := context.WithTimeout(s.base, 2*time.Second)
	defer cancel()
	if err := s.deps.Invoker.Ready(ctx); err != nil {
		return &problem{status: 503, code: "not_ready", detail: "no function can take an execution", retryAfter: time.Second, cause: err}
	}
	if err := s.recordsReady(ctx); err != nil {
		return &problem{status: 503, code: "not_ready", detail: "the audit store cannot be reached", retryAfter: time.Second, cause: err}
	}
	parts := map[string]string{"status": "ready", "invoker": "ok", "records": "ok"}
	if s.state != nil {
		if err := s.state.Ready(ctx); err != nil {
			return &problem{status: 503, code: "not_ready", detail: stateDetail(err), retryAfter: time.Second, cause: err}
		}
		parts["state"] = "ok"
	}
	for _, part := range s.deps.Health {
		switch err := part.Ready(ctx); {
		case err == nil:
			parts[part.Name] = "ok"
		case part.Optional:
			parts[part.Name] = "degraded"
			s.deps.Logger.Warn("a part of the deployment is not ready", "part", part.Name, "error", err)
		default:
			return &problem{status: 503, code: "not_ready", detail: part.Name + " does not answer", retryAfter: time.Second, cause: err}
		}
	}
	return s.send(c, parts)
}

// stateDetail says what is wrong with the state, by the code that requests are answered with.
func stateDetail(err error) string {
	if p := ofState(err); p != nil {
		return "the store of functions and jobs: " + p.code
	}
	return "the store of functions and jobs cannot be reached"
}

// recordsReady asks the store itself where it can tell whether it could write, else whether it can be read.
func (s *Server) recordsReady(ctx context.Context) error {
	if r, ok := s.deps.Records.(interface{ Ready(context.Context) error }); ok {
		return r.Ready(ctx)
	}
	_, err := s.deps.Records.List(ctx, audit.Query{Limit: 1})
	return err
}
