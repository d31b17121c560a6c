package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/governance"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/records"
	"github.com/airlock-run/airlock/gateway/registry"
	"github.com/airlock-run/airlock/gateway/results"
	"github.com/airlock-run/airlock/policy/audit"
)

// Agents carries out the calls of agents in this gateway. It implements Executor, Functions, Tools, Approvals and
// Sessions.
type Agents struct {
	Executions api.Executor
	// Verdict returns what POST /api/analyze responds with.
	Verdict func(ctx context.Context, s api.Submission) (any, error)
	// Registry has the saved functions, and Page lists them after a cursor. Both are nil where the gateway keeps no
	// state. Paused is nil there, too; Steps is nil where executions cannot wait.
	Registry    *registry.Registry
	Page        func(ctx context.Context, tenant, cursor string, limit int) (any, error)
	Paused      Paused
	Steps       Steps
	RemoteTools *RemoteTools
	Results     *results.Store[results.Finished]
	Records     records.Store
	// Base ends when a shutdown has waited long enough; runs are then stopped.
	Base context.Context
	Now  func() time.Time
}

// Paused are the stored executions, which may pause.
type Paused interface {
	// Page lists those that wait, after a cursor.
	Page(ctx context.Context, caller authn.Identity, after string, limit int) (any, error)
	// Find returns what GET /api/executions/{id} responds with; nil if no such execution is stored. whole is false for
	// the result of an execution that has never paused.
	Find(ctx context.Context, caller authn.Identity, id string) (body []byte, whole bool, err error)
	// MayDecideOwn reports whether callers may decide about their own executions of a tier.
	MayDecideOwn(tier string) bool
	// Decide returns what POST /api/executions/{id}/resume responds with.
	Decide(ctx context.Context, caller authn.Identity, ip, id string, decisions []api.Decision) ([]byte, error)
}

// Steps are the sessions of callers, as package sessions has them.
type Steps interface {
	Make(ctx context.Context, from api.Submission, o api.SessionOptions) (any, error)
	Page(ctx context.Context, caller authn.Identity, after string, limit int) (any, error)
	End(ctx context.Context, caller authn.Identity, ip, id string) error
	Begin(ctx context.Context, id string, s *api.Submission) (release func(), err error)
}

var (
	_ Approvals = (*Agents)(nil)
	_ Executor  = (*Agents)(nil)
	_ Functions = (*Agents)(nil)
	_ Sessions  = (*Agents)(nil)
	_ Tools     = (*Agents)(nil)
)

// pageSize is the number of items that a tool lists at once.
const pageSize = 50

// need returns the error of a caller without a scope.
func need(caller Caller, scope string) error {
	if !caller.Identity.May(scope) {
		return api.MissingScope(scope)
	}
	return nil
}

// Execute implements Executor.
func (a *Agents) Execute(
	ctx context.Context, caller Caller, request execution.Request, onLog func(execution.Log),
) (execution.Result, error) {
	if err := api.CheckPriority(caller.Identity, request); err != nil {
		return execution.Result{}, err
	}
	return a.run(ctx, caller, onLog, func(s *api.Submission) error {
		s.Request = request
		return nil
	})
}

// submission returns the submission of a call, without its request.
func (a *Agents) submission(caller Caller) api.Submission {
	return api.Submission{
		Caller: caller.Identity, IP: caller.IP, Via: execution.ViaMCP, TraceParent: caller.TraceParent,
		ReceivedAt: a.Now().UTC(), Waits: true,
	}
}

// run runs the submission that fill completes.
func (a *Agents) run(
	ctx context.Context, caller Caller, onLog func(execution.Log), fill func(*api.Submission) error,
) (execution.Result, error) {
	if err := need(caller, authn.Execute); err != nil {
		return execution.Result{}, err
	}
	s := a.submission(caller)
	s.OnLog = onLog
	if err := fill(&s); err != nil {
		return execution.Result{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.Base, cancel)()
	return a.Executions.Execute(ctx, s)
}

// ListFunctions implements Functions.
func (a *Agents) ListFunctions(ctx context.Context, caller Caller, cursor string) (json.RawMessage, error) {
	if err := need(caller, authn.Execute); err != nil {
		return nil, err
	}
	page, err := a.Page(ctx, caller.Identity.Tenant, cursor, pageSize)
	if err != nil {
		return nil, err
	}
	return api.Encode(page)
}

// InvokeFunction implements Functions.
func (a *Agents) InvokeFunction(
	ctx context.Context, caller Caller, call registry.Call, onLog func(execution.Log),
) (execution.Result, error) {
	return a.run(ctx, caller, onLog, func(s *api.Submission) error { return a.Registry.Bind(ctx, call, s) })
}

// Analyze implements Executor.
func (a *Agents) Analyze(ctx context.Context, caller Caller, request execution.Request) (json.RawMessage, error) {
	if err := need(caller, authn.Execute); err != nil {
		return nil, err
	}
	verdict, err := a.Verdict(ctx, api.Submission{Request: request, Caller: caller.Identity})
	if err != nil {
		return nil, err
	}
	return api.Encode(verdict)
}

// ListPaused implements Approvals.
func (a *Agents) ListPaused(ctx context.Context, caller Caller, cursor string) (json.RawMessage, error) {
	if err := need(caller, authn.Approve); err != nil {
		return nil, err
	}
	if cursor != "" && !execution.ValidID(cursor) {
		return nil, api.Invalid("cursor", "is not one that this service issued")
	}
	page, err := a.Paused.Page(ctx, caller.Identity, cursor, pageSize)
	if err != nil {
		return nil, err
	}
	return api.Encode(page)
}

// Asks implements Approvals.
func (a *Agents) Asks(caller Caller, tier string) bool {
	return caller.Identity.May(authn.Approve) && a.Paused.MayDecideOwn(tier)
}

// ResumeExecution implements Approvals.
func (a *Agents) ResumeExecution(
	ctx context.Context, caller Caller, id string, decisions []api.Decision,
) (json.RawMessage, error) {
	if err := need(caller, authn.Approve); err != nil {
		return nil, err
	}
	return a.Paused.Decide(ctx, caller.Identity, caller.IP, id, decisions)
}

// SearchTools implements Tools.
func (a *Agents) SearchTools(ctx context.Context, caller Caller, q ToolQuery) (json.RawMessage, error) {
	if err := need(caller, authn.Execute); err != nil {
		return nil, err
	}
	if q.Limit < 0 || q.Limit > maxFound {
		return nil, api.BadLimit(maxFound)
	}
	found := a.RemoteTools.search(ctx, caller.Identity, q)
	for i := range found.Items {
		found.Items[i].InputSchema = nil // the declaration says the same
	}
	return api.Encode(found)
}

// Namespaces implements Tools.
func (a *Agents) Namespaces(ctx context.Context, caller Caller) Attached {
	return a.RemoteTools.namespaces(ctx, caller.Identity)
}

// Offers implements Tools.
func (a *Agents) Offers(ctx context.Context, caller Caller) ([]execution.Offers, error) {
	if err := need(caller, authn.Execute); err != nil {
		return nil, err
	}
	return a.RemoteTools.offers(ctx, caller.Identity), nil
}

// foundExecution is an execution that is read back: the fields of its result, and its record.
type foundExecution struct {
	execution.Result
	Record *audit.Record `json:"record"`
}

// Execution implements Executor.
func (a *Agents) Execution(ctx context.Context, caller Caller, id string) (json.RawMessage, error) {
	if !execution.ValidID(id) {
		return nil, api.Invalid("id", `must be the id of an execution: "exec_" and 10 to 64 letters or digits`)
	}
	result, whole, err := a.result(ctx, caller.Identity, id)
	if err != nil || whole {
		return result, err
	}
	var answer foundExecution
	found := result != nil
	if found {
		if err := json.Unmarshal(result, &answer.Result); err != nil {
			return nil, &api.Problem{Status: 500, Cause: err}
		}
	}
	if caller.Identity.May(authn.AuditRead) {
		record, err := a.Records.Get(ctx, id)
		tenant := records.TenantOf(caller.Identity)
		switch {
		case errors.Is(err, audit.ErrNotFound):
		case err != nil:
			return nil, api.RecordsUnavailable(err)
		case tenant == "" || record.Caller.Tenant == tenant:
			record = records.ViewOf(record, tenant)
			answer.Record = &record
			if !found {
				answer.Result = governance.Result(record)
			}
			found = true
		}
	}
	if !found {
		return nil, api.NotFound("there is no execution with this id")
	}
	return api.Encode(answer)
}

// result returns the result of an execution, or nil. whole reports whether it says all, as [Paused.Find] has it.
func (a *Agents) result(ctx context.Context, caller authn.Identity, id string) (body []byte, whole bool, err error) {
	executes := caller.May(authn.Execute)
	if a.Paused != nil && (executes || caller.May(authn.Approve)) {
		if body, whole, err = a.Paused.Find(ctx, caller, id); err != nil || body != nil {
			return body, whole, err
		}
	}
	if kept, ok := a.Results.Get(id); ok && executes && kept.VisibleTo(caller) {
		return kept.Body, false, nil
	}
	return nil, false, nil
}

// CreateSession implements Sessions.
func (a *Agents) CreateSession(ctx context.Context, caller Caller, o api.SessionOptions) (json.RawMessage, error) {
	if err := need(caller, authn.Execute); err != nil {
		return nil, err
	}
	made, err := a.Steps.Make(ctx, a.submission(caller), o)
	if err != nil {
		return nil, err
	}
	return api.Encode(made)
}

// ListSessions implements Sessions.
func (a *Agents) ListSessions(ctx context.Context, caller Caller, cursor string) (json.RawMessage, error) {
	if err := need(caller, authn.Execute); err != nil {
		return nil, err
	}
	page, err := a.Steps.Page(ctx, caller.Identity, cursor, pageSize)
	if err != nil {
		return nil, err
	}
	return api.Encode(page)
}

// DeleteSession implements Sessions.
func (a *Agents) DeleteSession(ctx context.Context, caller Caller, id string) error {
	if err := need(caller, authn.Execute); err != nil {
		return err
	}
	return a.Steps.End(ctx, caller.Identity, caller.IP, id)
}

// ExecuteIn implements Sessions.
func (a *Agents) ExecuteIn(
	ctx context.Context, caller Caller, session string, request execution.Request, onLog func(execution.Log),
) (execution.Result, error) {
	if err := api.CheckPriority(caller.Identity, request); err != nil {
		return execution.Result{}, err
	}
	release := func() {}
	defer func() { release() }()
	return a.run(ctx, caller, onLog, func(s *api.Submission) error {
		s.Request = request
		end, err := a.Steps.Begin(ctx, session, s)
		if err == nil {
			release = end
		}
		return err
	})
}
