package gateway

import (
	"regexp"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/cors"

	"github.com/airlock-run/airlock/gateway/access"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/dashboard"
	"github.com/airlock-run/airlock/gateway/hooks"
	"github.com/airlock-run/airlock/gateway/idempotency"
	"github.com/airlock-run/airlock/gateway/interpreter"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/gateway/mcp"
	"github.com/airlock-run/airlock/gateway/openapi"
	"github.com/airlock-run/airlock/gateway/piston"
	"github.com/airlock-run/airlock/gateway/records"
	"github.com/airlock-run/airlock/gateway/registry"
	"github.com/airlock-run/airlock/gateway/sessions"
	"github.com/airlock-run/airlock/gateway/stream"
)

// handlers are the handlers of all routes, and what stands before them.
type handlers struct {
	middleware *middleware
	access     *access.Control
	checkData  fiber.Handler
	keys       *idempotency.Keys
	background *background

	admission *admission
	jobs      *jobs.Handlers
	streams   *stream.Handlers
	functions *registry.Handlers
	hooks     *hooks.Handlers
	sessions  *sessions.Handlers
	piston    *piston.Handlers
	e2b       *interpreter.Handlers
	records   *records.Handlers
	tools     *mcp.RemoteTools
	agents    *mcp.Handlers
	pages     *dashboard.Handlers
	docs      *openapi.Handlers
	system    *system
}

// What browsers of other origins may send, and what their scripts may read.
const (
	corsRequestHeaders = "Authorization,Cache-Control,Content-Type,Idempotency-Key,If-Match,If-None-Match,Last-Event-ID," +
		"Mcp-Method,Mcp-Name,Mcp-Protocol-Version,Mcp-Session-Id,Prefer,Traceparent,Tracestate,X-API-Key,X-Request-Id"
	corsResponseHeaders = "ETag,Idempotency-Replayed,Location,Mcp-Session-Id,RateLimit-Limit,RateLimit-Policy," +
		"RateLimit-Remaining,RateLimit-Reset,Retry-After,Traceparent,X-Execution-Id,X-Request-Id"
)

// route adds every route and the middleware before it, in order.
func (h *handlers) route(app *fiber.App, origins []string) {
	app.Use(h.middleware.prepare, h.middleware.observe, h.middleware.trace, h.middleware.guard)
	if len(origins) > 0 {
		app.Use(cors.New(cors.Config{
			AllowOrigins: strings.Join(origins, ","), AllowMethods: "GET,POST,PUT,DELETE",
			AllowHeaders: corsRequestHeaders, ExposeHeaders: corsResponseHeaders, MaxAge: 600,
		}))
	}
	authenticate, limit, need := h.access.Authenticate, h.access.Limit, api.Need
	once, onceLasting := h.keys.Once, h.keys.OnceLasting

	app.Get("/healthz", h.system.healthz)
	app.Get("/readyz", h.system.readyz)
	app.Get("/openapi.json", h.docs.JSON)
	h.pages.Route(app)
	app.Get("/metrics", authenticate, h.system.metrics)

	// Its own limit comes first: the first answer to a call costs nothing.
	app.Post("/api/executions/:id/calls/:seq", h.pages.Session, authenticate, h.streams.Limited(limit), h.checkData,
		need(authn.Execute), once(h.streams.Answer))

	app.Use("/api/e2b", h.e2b.Credentials)
	g := app.Group("/api", h.pages.Session, authenticate, limit, h.checkData)
	g.Post("/execute", need(authn.Execute), once(h.jobs.Execute))
	g.Post("/execute/stream", need(authn.Execute), h.streams.Execute)
	g.Post("/analyze", need(authn.Execute), once(h.admission.analyze))
	g.Get("/result/:id", need(authn.Execute), h.jobs.Result)
	g.Delete("/result/:id", need(authn.Execute), h.jobs.Cancel)
	g.Get("/executions", need(authn.Execute), h.jobs.List)
	g.Get("/executions/:id", need(authn.Execute), h.jobs.Get)
	g.Delete("/executions/:id", need(authn.Execute), h.jobs.Cancel)
	g.Post("/executions/:id/resume", need(authn.Approve), onceLasting(h.jobs.Resume))
	g.Post("/executions/:id/events/:name", need(authn.Execute), onceLasting(h.jobs.Event))
	g.Get("/engines", h.system.engines)
	g.Get("/tools", need(authn.Execute), h.tools.List)
	g.Get("/tools.d.ts", need(authn.Execute), h.tools.Declarations)
	g.Get("/packages", need(authn.Execute), h.system.packages)
	g.Get("/packages.d.ts", need(authn.Execute), h.system.packageDeclarations)
	g.Get("/policies", h.system.policies)
	g.Get("/stats", h.system.stats)
	g.Get("/metrics/executions", h.records.Metrics)
	g.Get("/metrics/series", need(authn.AuditRead), h.records.Series)
	g.Get("/audit/executions", need(authn.AuditRead), h.records.List)
	g.Get("/audit/execution/:id", need(authn.AuditRead), h.records.Get)
	g.Post("/audit/execution/:id/replay", need(authn.AuditRead), need(authn.Execute), once(h.records.Replay))
	g.Get("/audit/security-summary", need(authn.AuditRead), h.records.SecuritySummary)
	g.Get("/audit/stats", need(authn.AuditRead), h.records.Stats)
	g.Get("/audit/verification", need(authn.AuditRead), h.records.Verification)
	g.Post("/audit/verification", need(authn.AuditReadAll), once(h.records.Verify))
	g.Get("/live", need(authn.AuditRead), h.pages.Live)
	g.Get("/reports/execution/:id", need(authn.AuditRead), h.records.Report)

	ss := g.Group("/sessions", h.background.requireState, h.sessions.Available)
	ss.Post("", need(authn.Execute), onceLasting(h.sessions.Create))
	ss.Get("", need(authn.Execute), h.sessions.List)
	ss.Get("/:id", need(authn.Execute), h.sessions.Get)
	ss.Delete("/:id", need(authn.Execute), h.sessions.Delete)
	ss.Post("/:id/execute", need(authn.Execute), once(h.sessions.Execute))
	ss.Post("/:id/fork", need(authn.Execute), onceLasting(h.sessions.Fork))

	i := g.Group("/e2b", h.background.requireState, h.sessions.Available)
	i.Post("/v2/sandboxes", need(authn.Execute), h.e2b.Tokens, onceLasting(h.e2b.CreateSandbox))
	i.Post("/sandboxes", need(authn.Execute), h.e2b.Tokens, onceLasting(h.e2b.CreateSandbox))
	i.Delete("/sandboxes/:id", need(authn.Execute), h.e2b.DeleteSandbox)
	i.Post("/contexts", need(authn.Execute), onceLasting(h.e2b.CreateContext))
	i.Get("/contexts", need(authn.Execute), h.e2b.ListContexts)
	i.Delete("/contexts/:id", need(authn.Execute), h.e2b.Delete)
	i.Post("/contexts/:id/restart", need(authn.Execute), once(h.e2b.Restart))
	i.Post("/execute", need(authn.Execute), once(h.e2b.Execute))

	g.Get("/v2/runtimes", need(authn.Execute), h.piston.Runtimes)
	g.Post("/v2/execute", need(authn.Execute), once(h.piston.Execute))

	f := g.Group("/functions", h.background.requireState)
	f.Get("", need(authn.Execute), h.functions.List)
	f.Put("/:name", need(authn.Functions), h.functions.Put)
	f.Get("/:name", need(authn.Execute), h.functions.Get)
	f.Delete("/:name", need(authn.Functions), h.functions.Delete)
	f.Post("/:name/invoke", need(authn.Execute), once(h.functions.Invoke))
	f.Post("/:name/rollback", need(authn.Functions), onceLasting(h.functions.Rollback))
	f.Get("/:name/hook", need(authn.Execute), h.functions.GetHook)
	f.Put("/:name/hook", need(authn.Functions), h.functions.PutHook)
	f.Delete("/:name/hook", need(authn.Functions), h.functions.DeleteHook)
	f.Post("/:name/hook/dry-run", need(authn.Functions), once(h.hooks.DryRun))
	f.Post("/:name/hook/redeliver", need(authn.Functions), onceLasting(h.hooks.Redeliver))
	f.Get("/:name/diff", need(authn.Execute), h.functions.Diff)
	f.Get("/:name/versions", need(authn.Execute), h.functions.ListVersions)
	f.Get("/:name/versions/:version", need(authn.Execute), h.functions.GetVersion)
	f.Get("/:name/aliases", need(authn.Execute), h.functions.ListAliases)
	f.Get("/:name/aliases/:alias", need(authn.Execute), h.functions.GetAlias)
	f.Put("/:name/aliases/:alias", need(authn.Functions), h.functions.PutAlias)
	f.Delete("/:name/aliases/:alias", need(authn.Functions), h.functions.DeleteAlias)

	app.Post(hooks.PathPrefix+"/:name", h.middleware.countDelivery, h.background.requireState, h.hooks.Deliver)
	app.Post(hooks.PathPrefix+"/:tenant/:name", h.middleware.countDelivery, h.background.requireState, h.hooks.Deliver)

	app.Post("/mcp", authenticate, h.agents.Limited(limit), h.checkData, h.agents.Serve)
	app.Get("/mcp", authenticate, limit, h.agents.Serve)
	app.Delete("/mcp", authenticate, limit, h.agents.Serve)
}

var pathParameter = regexp.MustCompile(`:(\w+)`)

// Routes returns the API that is served, as "GET /api/result/{id}", in order. It leaves out HEAD, which every GET
// has, and the routes that only browsers use.
func (s *Server) Routes() []string {
	var routes []string
	for _, r := range s.app.GetRoutes(true) {
		if r.Method != fiber.MethodHead && r.Name != dashboard.RouteName {
			routes = append(routes, r.Method+" "+pathParameter.ReplaceAllString(r.Path, "{$1}"))
		}
	}
	slices.Sort(routes)
	return slices.Compact(routes)
}
