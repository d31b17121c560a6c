package gateway

import (
	"strings"

	"github.com/gofiber/fiber/v2/middleware/cors"

	"github.com/airlock-run/airlock/gateway/authn"
)

// routes is every endpoint and the order of what stands in front of it.
func (s *Server) routes() {
	s.app.Use(s.dressed, s.traced, s.guard)
	if len(s.cfg.CORSOrigins) > 0 {
		s.app.Use(cors.New(cors.Config{
			AllowOrigins:  strings.Join(s.cfg.CORSOrigins, ","),
			AllowMethods:  "GET,POST,PUT,DELETE",
			AllowHeaders:  "Authorization,Cache-Control,Content-Type,Idempotency-Key,Last-Event-ID,Mcp-Method,Mcp-Name,Mcp-Protocol-Version,Mcp-Session-Id,Prefer,Traceparent,Tracestate,X-API-Key,X-Request-Id",
			ExposeHeaders: "Idempotency-Replayed,Location,Mcp-Session-Id,RateLimit-Limit,RateLimit-Policy,RateLimit-Remaining,RateLimit-Reset,Retry-After,Traceparent,X-Execution-Id,X-Request-Id",
			MaxAge:        600,
		}))
	}
	s.app.Get("/healthz", s.healthz)
	s.app.Get("/readyz", s.readyz)
	s.app.Get("/openapi.json", s.openAPI)
	s.app.Get("/docs", s.docs)

	s.pages()

	s.app.Get("/metrics", s.authenticate, s.metrics)

	api := s.app.Group("/api", s.session, s.authenticate, s.limit)
	api.Post("/execute", need(authn.Execute), s.idempotent(s.executeOrAccept))
	api.Post("/execute/stream", need(authn.Execute), s.executeStream)
	api.Post("/analyze", need(authn.Execute), s.idempotent(s.analyze))
	api.Get("/result/:id", need(authn.Execute), s.resultOrJob)
	api.Delete("/result/:id", need(authn.Execute), s.cancelResult)
	api.Get("/engines", s.engines)
	api.Get("/tools", need(authn.Execute), s.listTools)
	api.Get("/tools.d.ts", need(authn.Execute), s.declareTools)
	api.Get("/policies", s.policies)
	api.Get("/stats", s.stats)
	api.Get("/metrics/executions", s.executionMetrics)
	api.Get("/metrics/series", need(authn.AuditRead), s.metricsSeries)
	api.Get("/audit/executions", need(authn.AuditRead), s.auditList)
	api.Get("/audit/execution/:id", need(authn.AuditRead), s.auditRecord)
	api.Post("/audit/execution/:id/replay", need(authn.AuditRead), need(authn.Execute), s.idempotent(s.replay))
	api.Get("/audit/security-summary", need(authn.AuditRead), s.securitySummary)
	api.Get("/audit/stats", need(authn.AuditRead), s.auditStats)
	api.Get("/audit/verification", need(authn.AuditRead), s.verification)
	api.Post("/audit/verification", need(authn.AuditReadAll), s.idempotent(s.verify))
	api.Get("/live", need(authn.AuditRead), s.live)
	api.Get("/reports/execution/:id", need(authn.AuditRead), s.report)

	functions := api.Group("/functions", s.stateful)
	functions.Get("", need(authn.Execute), s.listFunctions)
	functions.Put("/:name", need(authn.Functions), s.putFunction)
	functions.Get("/:name", need(authn.Execute), s.getFunction)
	functions.Delete("/:name", need(authn.Functions), s.deleteFunction)
	functions.Post("/:name/invoke", need(authn.Execute), s.idempotent(s.invokeFunction))
	functions.Post("/:name/rollback", need(authn.Functions), s.changing(s.rollbackFunction))
	functions.Post("/:name/hook/dry-run", need(authn.Functions), s.idempotent(s.dryRun))
	functions.Post("/:name/hook/redeliver", need(authn.Functions), s.changing(s.redeliver))
	functions.Get("/:name/diff", need(authn.Execute), s.diffFunction)
	functions.Get("/:name/versions", need(authn.Execute), s.listVersions)
	functions.Get("/:name/versions/:version", need(authn.Execute), s.getVersion)
	functions.Get("/:name/aliases", need(authn.Execute), s.listAliases)
	functions.Get("/:name/aliases/:alias", need(authn.Execute), s.getAlias)
	functions.Put("/:name/aliases/:alias", need(authn.Functions), s.putAlias)
	functions.Delete("/:name/aliases/:alias", need(authn.Functions), s.deleteAlias)

	s.app.Post("/hooks/:name", s.stateful, s.hook)
	s.app.Post("/hooks/:tenant/:name", s.stateful, s.hook)

	agents := s.serveMCP()
	s.app.Post("/mcp", s.authenticate, s.limit, agents)
	s.app.Get("/mcp", s.authenticate, s.limit, agents)
	s.app.Delete("/mcp", s.authenticate, s.limit, agents)
}
