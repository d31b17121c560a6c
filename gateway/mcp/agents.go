package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/mcp"
	"github.com/airlock-run/airlock/policy/audit"
)

// agents is what the tools of package mcp are made of.
type agents struct{ s *Server }

var (
	_ mcp.Executor  = agents{}
	_ mcp.Functions = agents{}
)

// ServeMCP answers one client of the Model Context Protocol over a transport such as stdio, until it leaves or ctx ends.
// The client may do everything: it started this process.
func (s *Server) ServeMCP(ctx context.Context, transport sdk.Transport) error {
	return s.mcp.Serve(ctx, transport, mcp.Caller{
		Identity: authn.Local(),
	})
}

// serveMCP is POST, GET and DELETE /mcp. As the protocol demands, a web page of an origin that is not configured is
// refused whatever credentials it has. The protocol knows no Idempotency-Key; here one makes sure that a message which is
// sent again, to the byte, is acted upon once and answered as before.
func (s *Server) serveMCP() fiber.Handler {
	serve := s.bridge(s.mcp, func(c *fiber.Ctx, ctx context.Context, cl *claim) context.Context {
		return mcp.WithCaller(ctx, mcp.Caller{
			Identity: callerOf(c), IP: utils.CopyString(c.IP()), TraceParent: traceOf(c), Refused: cl.abandon,
		})
	})
	return func(c *fiber.Ctx) error {
		if origin := c.Get(fiber.HeaderOrigin); origin != "" {
			host := string(c.Request().Host())
			known := slices.Contains(s.cfg.CORSOrigins, origin) || slices.Contains(s.cfg.CORSOrigins, "*")
			if !known && origin != "http://"+host && origin != "https://"+host {
				return foreign()
			}
		}
		if caller := callerOf(c); !caller.May(authn.Execute) && !caller.May(authn.AuditRead) {
			return lacks(authn.Execute)
		}
		leave, err := enter(c, s.places.mcpStreams, bounds.MCPStreams)
		if err != nil {
			return err
		}
		if err := s.serveAgent(c, serve, leave); err != nil {
			leave()
			return err
		}
		return nil
	}
}

// answerer answers a request under a claim, and calls leave when the answer has ended.
type answerer func(c *fiber.Ctx, cl *claim, leave func()) error

// serveAgent answers one request of an agent.
func (s *Server) serveAgent(c *fiber.Ctx, serve answerer, leave func()) error {
	if c.Method() != fiber.MethodPost {
		return s.inSession(c, func() error { return serve(c, &claim{}, leave) })
	}
	if err := plainJSON(c); err != nil {
		return err
	}
	// A batch would be any number of calls for the price of one request; the protocol has done without since 2025-06-18.
	if bytes.HasPrefix(bytes.TrimLeft(c.Request().Body(), " \t\r\n"), []byte("[")) {
		return bad("", "batches are not taken here; send one message in a request")
	}
	cl, err := s.claim(c, callerOf(c).Owner(), false)
	if err != nil {
		return err
	}
	if cl.saved != nil {
		leave()
		return sayAgain(c, cl.saved)
	}
	if err := s.inSession(c, func() error { return serve(c, cl, leave) }); err != nil {
		cl.abandon()
		return err
	}
	return nil
}

const mcpSession = "Mcp-Session-Id"

// inSession counts the session that a request begins, uses or ends. Whether it begins one shows in the answer.
func (s *Server) inSession(c *fiber.Ctx, serve func() error) error {
	sessions := s.places.mcpSessions
	if id := utils.CopyString(c.Get(mcpSession)); id != "" {
		sessions.Touch(id)
		err := serve()
		if err == nil && c.Method() == fiber.MethodDelete && c.Response().StatusCode() < 300 {
			sessions.End(id)
		}
		return err
	}
	if c.Method() != fiber.MethodPost || mcp.Sessionless(c.Get("Mcp-Protocol-Version")) {
		return serve()
	}
	leave, err := enter(c, sessions, bounds.MCPSessions)
	if err != nil {
		return err
	}
	err = serve()
	if id := string(c.Response().Header.Peek(mcpSession)); id != "" && err == nil {
		sessions.Hold(id, leave)
	} else {
		leave()
	}
	return err
}

// explain says of an error what a tool's caller may know: what a problem document would.
func (s *Server) explain(err error) mcp.Problem {
	p := problemOf(err)
	known := mcp.Problem{Code: p.code, Field: p.field, Error: p.detail, RetryAfter: seconds(p.retryAfter)}
	code, detail := outcome(p.status)
	if known.Code == "" {
		known.Code = code
	}
	if known.Error == "" {
		known.Error = detail
	}
	if p.status >= 500 {
		s.deps.Logger.Warn("a tool call failed", "status", p.status, "code", known.Code, "error", err)
	}
	s.meter.Refuse(known.Code)
	return known
}

// Execute implements mcp.Executor.
func (a agents) Execute(ctx context.Context, caller mcp.Caller, request execution.Request, onLog func(execution.Log)) (execution.Result, error) {
	if request.Priority == "high" && !caller.Identity.May(authn.Priority) {
		return execution.Result{}, lacks(authn.Priority)
	}
	return a.run(ctx, caller, onLog, func(job *Job) error {
		job.Request = request
		return nil
	})
}

// run runs what fill puts into a job.
func (a agents) run(ctx context.Context, caller mcp.Caller, onLog func(execution.Log), fill func(*Job) error) (execution.Result, error) {
	job := Job{Caller: caller.Identity, IP: caller.IP, Via: execution.ViaMCP, TraceParent: caller.TraceParent, ReceivedAt: a.s.deps.Now().UTC(), OnLog: onLog}
	if !caller.Identity.May(authn.Execute) {
		return execution.Result{}, lacks(authn.Execute)
	}
	if err := fill(&job); err != nil {
		return execution.Result{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.s.base, cancel)()
	return a.s.Execute(ctx, job)
}

// ListFunctions implements mcp.Functions.
func (a agents) ListFunctions(ctx context.Context, caller mcp.Caller, cursor string) (json.RawMessage, error) {
	if !caller.Identity.May(authn.Execute) {
		return nil, lacks(authn.Execute)
	}
	page, err := a.s.functionPage(ctx, caller.Identity.Tenant, cursor, 50)
	if err != nil {
		return nil, err
	}
	return encode(page)
}

// InvokeFunction implements mcp.Functions.
func (a agents) InvokeFunction(ctx context.Context, caller mcp.Caller, call mcp.Invocation, onLog func(execution.Log)) (execution.Result, error) {
	return a.run(ctx, caller, onLog, func(job *Job) error {
		return a.s.Bind(ctx, Call(call), job)
	})
}

// Analyze implements mcp.Executor.
func (a agents) Analyze(ctx context.Context, caller mcp.Caller, request execution.Request) (json.RawMessage, error) {
	if !caller.Identity.May(authn.Execute) {
		return nil, lacks(authn.Execute)
	}
	verdict, err := a.s.judge(ctx, Job{Request: request, Caller: caller.Identity})
	if err != nil {
		return nil, err
	}
	return encode(verdict)
}

// recalled is an execution read back: the fields of its result, and its record.
type recalled struct {
	execution.Result
	Record *audit.Record `json:"record"`
}

// Execution implements mcp.Executor.
func (a agents) Execution(ctx context.Context, caller mcp.Caller, id string) (json.RawMessage, error) {
	if !execution.ValidID(id) {
		return nil, bad("id", `must be the id of an execution: "exec_" and 10 to 64 letters or digits`)
	}
	var answer recalled
	found := false
	if k, ok := a.s.kept.Get(id); ok && caller.Identity.May(authn.Execute) && (k.owner == caller.Identity.Owner() || caller.Identity.May(authn.AuditReadAll)) {
		if err := json.Unmarshal(k.body, &answer.Result); err != nil {
			return nil, &problem{status: 500, cause: err}
		}
		found = true
	}
	if caller.Identity.May(authn.AuditRead) {
		record, err := a.s.deps.Records.Get(ctx, id)
		tenant := tenantOf(caller.Identity)
		switch {
		case errors.Is(err, audit.ErrNotFound):
		case err != nil:
			return nil, unreadable(err)
		case tenant == "" || record.Caller.Tenant == tenant:
			record = seen(record, tenant)
			answer.Record = &record
			if !found {
				answer.Result = told(record)
			}
			found = true
		}
	}
	if !found {
		return nil, &problem{status: 404, detail: "there is no execution with this id"}
	}
	return encode(answer)
}

// told is what a record knows of a result that is kept no more; the value itself it never had.
func told(r audit.Record) execution.Result {
	result := execution.Result{
		ID: r.ID, Status: execution.Status(r.Status), Engine: r.Engine, Policy: r.Policy, DurationMs: r.DurationMs, Logs: []execution.Log{},
		Usage: execution.Usage(r.Usage), DangerAnalysis: r.DangerAnalysis, Violations: []string{}, APICallCount: r.Usage.APICalls,
	}
	if r.Error != "" {
		result.Error = &r.Error
	}
	if r.Limit != "" {
		result.Limit = &r.Limit
	}
	return result
}
