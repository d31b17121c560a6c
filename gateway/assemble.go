package gateway

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/access"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/dashboard"
	"github.com/airlock-run/airlock/gateway/hooks"
	"github.com/airlock-run/airlock/gateway/idempotency"
	"github.com/airlock-run/airlock/gateway/interpreter"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/gateway/mcp"
	"github.com/airlock-run/airlock/gateway/meter"
	"github.com/airlock-run/airlock/gateway/openapi"
	"github.com/airlock-run/airlock/gateway/piston"
	"github.com/airlock-run/airlock/gateway/queue"
	"github.com/airlock-run/airlock/gateway/records"
	"github.com/airlock-run/airlock/gateway/registry"
	"github.com/airlock-run/airlock/gateway/results"
	"github.com/airlock-run/airlock/gateway/sessions"
	"github.com/airlock-run/airlock/gateway/stream"
	"github.com/airlock-run/airlock/policy"
)

// assemble makes the handlers from the configuration and the dependencies, in the order in which they need each other.
func (s *Server) assemble() (*handlers, error) {
	if s.deps.Functions.Writes == nil {
		s.deps.Functions.Writes = meter.NewWrites()
	}
	cfg, deps := s.cfg, s.deps
	h := &handlers{checkData: s.checkData, middleware: &middleware{
		base: s.base, newID: deps.NewID, tracer: deps.Tracer, open: deps.Auth.Open(), origins: cfg.CORSOrigins,
		now: deps.Now, requests: meter.NewRequests(), work: meter.NewWork(), accessLog: deps.AccessLog,
	}}
	counts := meter.New()
	s.problems = &problems{
		meter: counts, maxBodyBytes: cfg.MaxBodyBytes, newID: deps.NewID, routes: s.Routes, logger: deps.Logger,
	}
	var err error
	if h.access, err = access.New(deps.Auth, deps.Limits, cfg.Hooks.Rate, deps.Now); err != nil {
		return nil, err
	}
	if h.admission, err = newAdmission(cfg, deps); err != nil {
		return nil, err
	}
	h.tools = h.admission.remoteTools
	e, err := newExecutor(cfg, deps, h.admission, s.activity, counts)
	if err != nil {
		return nil, err
	}
	if h.keys, err = newKeys(cfg, deps); err != nil {
		return nil, err
	}
	if err := s.assembleJobs(h, e); err != nil {
		return nil, err
	}
	s.verifier = records.NewVerifier(deps.Verify, deps.Records, deps.Now, deps.Logger, s.activity.Changed)
	h.records = &records.Handlers{Records: deps.Records, Replayer: e, Verifier: s.verifier, Now: deps.Now}
	h.system = &system{
		invoker: deps.Invoker, records: deps.Records, state: deps.State, health: deps.Health, tiers: deps.Policy.Tiers,
		fleet: deps.Functions.Fleet, otherEngines: deps.Functions.Engines, meter: counts, queue: e.queue,
		installed: deps.Functions.Packages, ceiling: deps.Policy.Ceiling, places: cfg.Places, depth: cfg.QueueDepth,
		results: e.results, started: deps.Now(), now: deps.Now, logger: deps.Logger,
		draining: &s.draining,
	}
	if h.pages, err = s.newPages(h); err != nil {
		return nil, err
	}
	if err := h.system.expose(h.middleware.requests, h.pages.PolicyReports); err != nil {
		return nil, err
	}
	if err := h.system.exposed.Add(s.places); err != nil {
		return nil, err
	}
	for _, c := range []prometheus.Collector{h.middleware.work, deps.Functions.Writes} {
		if err := h.system.exposed.Add(c); err != nil {
			return nil, err
		}
	}
	s.metrics = h.system.exposed
	return h, s.assembleAgents(h, e)
}

func newExecutor(
	cfg Config, deps Deps, a *admission, activity *dashboard.Activity, counts *meter.Meter,
) (*executor, error) {
	e := &executor{
		admission: a, invoker: deps.Invoker,
		records: measuredRecords{deps.Records, deps.Functions.Writes.Measure(deps.Records)},
		redact:  deps.Redact, activity: activity, meter: counts, tracer: deps.Tracer,
		queueWait: cfg.QueueWait, overhead: cfg.Overhead,
		writing: make(chan struct{}, maxWriting), writeTimeout: cfg.WriteTimeout, keepCode: cfg.KeepCode > 0,
		now: deps.Now, newID: deps.NewID, logger: deps.Logger,
	}
	sizes := queue.Config{Places: cfg.Places, Spare: cfg.SparePlaces, Depth: cfg.QueueDepth, Now: deps.Now}
	if deps.Limits.Quotas != nil {
		sizes.Concurrent = deps.Limits.Quotas.Concurrent
	}
	var err error
	if e.queue, err = queue.New(sizes); err != nil {
		return nil, err
	}
	if e.results, err = results.New[results.Finished](cfg.Results.Most, cfg.Results.Bytes); err != nil {
		return nil, err
	}
	if e.pure, err = newPureResults(cfg, deps.Functions.Generation); err != nil {
		return nil, err
	}
	if deps.State != nil {
		e.registry, err = registry.New(deps.State, deps.Now)
	}
	return e, err
}

func newKeys(cfg Config, deps Deps) (*idempotency.Keys, error) {
	memory, err := results.NewOnce(bounds.Of(bounds.Keys).Most, cfg.Results.Bytes, deps.Now)
	if err != nil {
		return nil, err
	}
	keys := idempotency.Config{
		Memory: memory, MultiInstance: cfg.MultiInstance, Target: interpreter.SandboxID, Now: deps.Now, NewID: deps.NewID,
		Logger: deps.Logger,
	}
	if deps.State != nil {
		keys.Store = deps.State
	}
	return idempotency.New(keys), nil
}

// assembleJobs makes the handlers of everything that submits executions.
func (s *Server) assembleJobs(h *handlers, e *executor) error {
	cfg, deps := s.cfg, s.deps
	running, err := stream.NewRunning()
	if err != nil {
		return err
	}
	h.streams = &stream.Handlers{
		Executor: e, Turns: e, Read: e.read, Running: running, Results: e.results, Keys: h.keys,
		Places:  s.places.Streams,
		Problem: s.problems.document, ResumeWithin: cfg.Streams.ResumeWithin, Heartbeat: cfg.Streams.Heartbeat,
		WriteTimeout: cfg.WriteTimeout, NewID: deps.NewID, Logger: deps.Logger,
	}
	h.jobs = &jobs.Handlers{
		Executions: e, ExecuteNow: e.serve, Callbacks: cfg.Callbacks, Results: e.results, Streams: running,
		Keys: h.keys, Wake: deps.Wake.Job, FourEyes: fourEyes(deps.Policy), Now: deps.Now, Logger: deps.Logger,
	}
	h.functions = &registry.Handlers{
		Registry: e.registry, Policy: h.admission, Respond: e.respond, Accept: h.jobs.Accept, Now: deps.Now,
	}
	h.hooks = &hooks.Handlers{
		Functions: e.registry, Jobs: h.jobs, Executor: e, Turns: e, Store: deps.State, Records: deps.Records,
		Access: h.access, MaxEventBytes: 3*cfg.MaxDataBytes + 4*maxHeadBytes,
		Keys: h.keys, AnswerHeaders: cfg.Hooks.AnswerHeaders, Detail: s.problems.detail, Now: deps.Now, NewID: deps.NewID,
	}
	h.sessions = &sessions.Handlers{
		Read: e.read, Respond: e.respond, Validate: e.Validate, Tier: tierOf(deps.Policy),
		Ceiling: func(s api.Submission) policy.Grants { return deps.Policy.Ceiling(policyRequest(s)) },
	}
	h.e2b = &interpreter.Handlers{
		Sessions: h.sessions, Executor: e, Turns: e, Places: s.places.Streams, Problem: s.problems.document,
		WriteTimeout: cfg.WriteTimeout, Now: deps.Now, Logger: deps.Logger,
	}
	h.piston = &piston.Handlers{
		Executor: e, Turns: e, Validate: e.Validate, Tier: tierOf(deps.Policy), Now: deps.Now,
	}
	if deps.State == nil {
		return nil
	}
	if s.background, err = newBackground(cfg, deps, e, s.problems.detail, h.middleware.work); err != nil {
		return err
	}
	h.background, h.jobs.Queue = s.background, s.background.jobs
	if cfg.SnapshotKeys != nil {
		e.park = h.jobs.Queue.Park
		longest := cfg.QueueWait + cfg.Overhead + cfg.WriteTimeout
		h.sessions.Sessions = sessions.New(sessions.Config{
			Store: deps.State, Keys: cfg.SnapshotKeys, NewID: deps.NewID, Now: deps.Now, Logger: deps.Logger,
			Cancel: func(ctx context.Context, id string, by execution.Caller) error {
				_, _, err := h.jobs.Queue.Cancel(ctx, id, execution.Result{}, nil, by) // a session has always begun
				return err
			},
			RecordLapsed: func(ctx context.Context, job execution.Job) error {
				return jobs.RecordLapsed(ctx, h.jobs.Queue, job)
			},
			LongestStep: func(name string) time.Duration {
				tier, _ := h.sessions.Tier(name)
				return longest + tier.Timeout
			},
		})
	}
	return s.background.addSchedules(cfg, deps, e.registry, h.jobs.Submit)
}

func (s *Server) newPages(h *handlers) (*dashboard.Handlers, error) {
	return dashboard.New(dashboard.Config{
		Access: h.access, Records: s.deps.Records, Verifier: s.verifier, Activity: s.activity,
		Load: func() any { return h.system.load() }, Fleet: h.system.fleetNow, Tiers: s.deps.Policy.Tiers,
		Places: s.places.Live, Examples: s.deps.Examples, Detail: s.problems.detail,
		WriteTimeout: s.cfg.WriteTimeout, Now: s.deps.Now, Logger: s.deps.Logger,
	})
}

// assembleAgents makes the description of the API and the handlers of agents, whose tools it describes, too.
func (s *Server) assembleAgents(h *handlers, e *executor) error {
	document, err := openapi.New(api.Version())
	if err != nil {
		return err
	}
	h.docs = openapi.NewHandlers(document)
	agents := &mcp.Agents{
		Executions: e, Verdict: h.admission.verdict, Registry: e.registry, RemoteTools: h.tools, Results: e.results,
		Records: s.deps.Records, Base: s.base, Now: s.deps.Now,
		Page: func(ctx context.Context, tenant, cursor string, limit int) (any, error) {
			return h.functions.Page(ctx, tenant, cursor, limit)
		},
	}
	cfg := mcp.Config{
		Executor: agents, Explain: s.problems.explain, Schemas: document, Version: api.Version(),
		MaxBodyBytes: s.cfg.MaxBodyBytes, Logger: s.deps.Logger,
		Encode: func(r execution.Result) ([]byte, error) { return api.EncodeResult(e.results, r) },
		Tiers:  func() ([]policy.Tier, []string) { return s.deps.Policy.Tiers(), s.deps.Policy.Hosts() },
	}
	if s.deps.State != nil {
		agents.Paused, cfg.Functions = h.jobs, agents
	}
	if s.deps.State != nil && s.cfg.SnapshotKeys != nil {
		cfg.Approvals = agents
		agents.Steps, cfg.Sessions = h.sessions, agents
	}
	if s.deps.RemoteTools != nil {
		cfg.Tools = agents
	}
	if s.agents, err = mcp.New(cfg); err != nil {
		return err
	}
	h.agents = &mcp.Handlers{
		Server: s.agents, Keys: h.keys, Turns: e, Streams: s.places.MCPStreams, Sessions: s.places.MCPSessions,
		Origins: s.cfg.CORSOrigins, Heartbeat: s.cfg.Streams.Heartbeat, WriteTimeout: s.cfg.WriteTimeout,
		Logger: s.deps.Logger,
	}
	return nil
}
