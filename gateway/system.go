package gateway

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/declarations"
	"github.com/airlock-run/airlock/gateway/meter"
	"github.com/airlock-run/airlock/gateway/queue"
	"github.com/airlock-run/airlock/gateway/results"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
)

// system serves what the gateway says about itself.
type system struct {
	invoker Invoker
	records Records
	state   State // may be nil
	health  []Health
	tiers   func() []policy.Tier
	fleet   func() meter.Fleet // nil if the functions are not processes of this machine
	// otherEngines returns the state of the engines besides QuickJS; nil if there are none.
	otherEngines func() []EngineState
	installed    func() []PackageState // nil if there are none
	ceiling      func(policy.Request) policy.Grants
	meter        *meter.Meter
	exposed      *meter.Exposition
	queue        *queue.Queue
	places       int
	depth        int
	results      *results.Store[results.Finished]
	started      time.Time
	now          clock
	logger       *slog.Logger
	draining     *atomic.Bool // the gateway is about to stop
}

type engine struct {
	Name       string `json:"name"`
	Available  bool   `json:"available"`
	Default    bool   `json:"default"`
	Executions int64  `json:"executions"`
	Note       string `json:"note,omitempty"`
	// Builds are those that executions have run on since the start, by name.
	Builds []engineBuild `json:"builds,omitempty"`
	*EngineState
}

// An EngineState is what is known of an engine that runs in processes of its own.
type EngineState struct {
	Name  string   `json:"-"`
	Build string   `json:"build"`
	JIT   bool     `json:"jit"`
	Walls []string `json:"walls"`
	// Processes counts the processes since the start, and Live those that exist.
	Processes int64 `json:"processes"`
	Live      int64 `json:"live"`
	// TemplateBytes is the memory that all processes of the engine share. ProcessBytes is the memory of one waiting
	// process on top of it.
	TemplateBytes int64 `json:"templateBytes"`
	ProcessBytes  int64 `json:"processBytes"`
}

type engineBuild struct {
	Name       string `json:"name"`
	Executions int64  `json:"executions"`
}

// engines serves GET /api/engines.
func (s *system) engines(c *fiber.Ctx) error {
	totals := s.meter.Totals()
	used := totals.ByEngine
	var builds []engineBuild
	for _, name := range slices.Sorted(maps.Keys(totals.ByEngineBuild)) {
		if strings.HasPrefix(name, policy.QuickJS) {
			builds = append(builds, engineBuild{name, totals.ByEngineBuild[name]})
		}
	}
	all := []engine{{
		Name: policy.QuickJS, Available: true, Default: true, Executions: used[policy.QuickJS],
		Note: "QuickJS in WebAssembly, a new instance for every execution", Builds: builds,
	}}
	var states []EngineState
	if s.otherEngines != nil {
		states = s.otherEngines()
	}
	for _, name := range policy.KnownEngines()[1:] {
		e := engine{Name: name, Executions: used[name], Note: "the setting ENGINES turns it on where it exists"}
		for i := range states {
			if states[i].Name == name {
				e.Available, e.EngineState = true, &states[i]
				e.Note = "a locked process of its own for every execution; one bug in the engine leaves only the kernel's walls"
			}
		}
		all = append(all, e)
	}
	return api.Send(c, api.List[engine]{Items: all})
}

// A PackageState is an npm package that code may import.
type PackageState struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// Range is what the operator asked for.
	Range string `json:"range,omitempty"`
	// Dependencies counts the packages that it depends on, and Bytes is the size of all archives.
	Dependencies int   `json:"dependencies"`
	Bytes        int64 `json:"bytes"`
	// Tiers are the policies whose code may import it.
	Tiers []string `json:"tiers"`
	// Level is the danger level that the scan found.
	Level string `json:"level,omitempty"`
	// Image reports whether runs start from an image in which it is evaluated. Why says why not.
	Image bool   `json:"image"`
	Why   string `json:"why,omitempty"`
	// InstallScripts lists packages with install scripts, which never ran.
	InstallScripts []string `json:"installScripts,omitempty"`
	// Exports and Default are what declarations.Package has.
	Exports []string `json:"-"`
	Default []string `json:"-"`
}

// packages serves GET /api/packages.
func (s *system) packages(c *fiber.Ctx) error {
	all := []PackageState{}
	if s.installed != nil {
		all = append(all, s.installed()...)
	}
	tiers := s.tiers()
	for i := range all {
		all[i].Tiers = []string{}
		for _, t := range tiers {
			if slices.Contains(t.Packages, all[i].Name) {
				all[i].Tiers = append(all[i].Tiers, t.Name)
			}
		}
	}
	return api.Send(c, api.List[PackageState]{Items: all})
}

// packageDeclarations serves GET /api/packages.d.ts: the exports of the packages that the caller's code may import
// under a policy.
func (s *system) packageDeclarations(c *fiber.Ctx) error {
	given, err := api.Query(c, "policy")
	if err != nil {
		return err
	}
	tier := cmp.Or(given["policy"], policy.DefaultTier)
	if !slices.ContainsFunc(s.tiers(), func(t policy.Tier) bool { return t.Name == tier }) {
		return api.Invalid("policy", "is no policy of this gateway; GET /api/policies lists them")
	}
	caller := api.CallerOf(c)
	grants := s.ceiling(policy.Request{Tier: tier, Tenant: caller.Tenant,
		Scopes: authn.RestrictingScopes(caller.Scopes)})
	var all []declarations.Package
	if s.installed != nil {
		for _, p := range s.installed() {
			if slices.Contains(grants.Packages, p.Name) {
				all = append(all, declarations.Package{Name: p.Name, Exports: p.Exports, Default: p.Default})
			}
		}
	}
	text := declarations.Packages(all)
	if api.NotModified(c, api.Tag([]byte(text))) {
		return c.SendStatus(fiber.StatusNotModified)
	}
	c.Set(fiber.HeaderContentType, "application/typescript; charset=utf-8")
	return c.SendString(text)
}

// policies serves GET /api/policies.
func (s *system) policies(c *fiber.Ctx) error {
	type tiers struct {
		api.List[policy.Tier]
		Default string `json:"default"`
	}
	return api.Send(c, tiers{api.List[policy.Tier]{Items: s.tiers()}, policy.DefaultTier})
}

// load is the load of the queue at one moment.
type load struct {
	Running int `json:"running"`
	Waiting int `json:"waiting"`
	Places  int `json:"places"`
	Depth   int `json:"depth"`
}

func (s *system) load() load {
	running, waiting := s.queue.Load()
	return load{running, waiting, s.places, s.depth}
}

// fleetNow returns the state of the function processes, or nil if they are not processes of this machine.
func (s *system) fleetNow() *meter.Fleet {
	if s.fleet == nil {
		return nil
	}
	now := s.fleet()
	return &now
}

// stats serves GET /api/stats.
func (s *system) stats(c *fiber.Ctx) error {
	type size struct {
		Count int `json:"count"`
		Bytes int `json:"bytes"`
	}
	return api.Send(c, struct {
		StartedAt time.Time `json:"startedAt"`
		UptimeMs  int64     `json:"uptimeMs"`
		meter.Totals
		Queue   load `json:"queue"`
		Results size `json:"results"`
		// Functions is null if the functions are not processes of this machine.
		Functions *meter.Fleet `json:"functions"`
	}{
		s.started.UTC(), s.now().Sub(s.started).Milliseconds(), s.meter.Totals(), s.load(),
		size{s.results.Len(), s.results.Bytes()}, s.fleetNow(),
	})
}

// metrics serves GET /metrics. It asks for a credential, if there are any, but for no scope, and it is not limited: a
// scraper reads it every few seconds. Tenants other than the caller's are for those who may read the records of all.
func (s *system) metrics(c *fiber.Ctx) error {
	caller := api.CallerOf(c)
	text, err := s.exposed.TextFor(func(tenant string) bool {
		return tenant == caller.Tenant || caller.May(authn.AuditReadAll)
	})
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, meter.ExpositionType)
	return c.Send(text)
}

// healthz serves GET /healthz: the process responds.
func (s *system) healthz(c *fiber.Ctx) error { return api.Send(c, map[string]string{"status": "ok"}) }

// readyz serves GET /readyz: an execution could run and be recorded now.
func (s *system) readyz(c *fiber.Ctx) error {
	if s.draining.Load() {
		return notReady("the gateway is about to stop", nil)
	}
	ctx, cancel := context.WithTimeout(c.UserContext(), 2*time.Second)
	defer cancel()
	if err := s.invoker.Ready(ctx); err != nil {
		return notReady("no function can take an execution", err)
	}
	if err := s.recordsReady(ctx); err != nil {
		return notReady("the audit store cannot be reached", err)
	}
	parts := map[string]string{"status": "ready", "invoker": "ok", "records": "ok"}
	if s.state != nil {
		if err := s.state.Ready(ctx); err != nil {
			return notReady(stateDetail(err), err)
		}
		parts["state"] = "ok"
	}
	for _, part := range s.health {
		switch err := part.Ready(ctx); {
		case err == nil:
			parts[part.Name] = "ok"
		case part.Optional:
			parts[part.Name] = "degraded"
			s.logger.Warn("a part of the deployment is not ready", "part", part.Name, "error", err)
		default:
			return notReady(part.Name+" does not answer", err)
		}
	}
	return api.Send(c, parts)
}

func notReady(detail string, cause error) error {
	return &api.Problem{Status: 503, Code: "not_ready", Detail: detail, RetryAfter: time.Second, Cause: cause}
}

// stateDetail names what is wrong with the state by the code of the problem that requests get.
func stateDetail(err error) string {
	if p := stateProblem(err); p != nil {
		return "the store of functions and jobs: " + p.Code
	}
	return "the store of functions and jobs cannot be reached"
}

// recordsReady asks the store whether it could write, if the store can tell, and otherwise reads from it.
func (s *system) recordsReady(ctx context.Context) error {
	if r, ok := s.records.(interface{ Ready(context.Context) error }); ok {
		return r.Ready(ctx)
	}
	_, err := s.records.List(ctx, audit.Query{Limit: 1})
	return err
}

// expose registers what Prometheus reads besides the counters.
func (s *system) expose(requests *meter.Requests, pageReports func() int64) error {
	running := func() float64 { n, _ := s.queue.Load(); return float64(n) }
	waiting := func() float64 { _, n := s.queue.Load(); return float64(n) }
	var err error
	s.exposed, err = meter.NewExposition(s.meter,
		meter.Gauge{Name: "airlock_executions_running", Help: "Executions that have a place.", Value: running},
		meter.Gauge{Name: "airlock_executions_waiting", Help: "Executions in line for a place.", Value: waiting},
		meter.Gauge{
			Name: "airlock_places", Help: "Executions that can run at once.",
			Value: func() float64 { return float64(s.places) },
		},
		meter.Gauge{
			Name:  "airlock_csp_reports",
			Help:  "Violations of the web pages' policy that browsers reported since the start.",
			Value: func() float64 { return float64(pageReports()) },
		},
		meter.Gauge{
			Name: "airlock_results_kept", Help: "Results that can be read back.",
			Value: func() float64 { return float64(s.results.Len()) },
		},
		meter.Gauge{
			Name: "airlock_results_kept_bytes", Help: "Bytes of the results that can be read back.",
			Value: func() float64 { return float64(s.results.Bytes()) },
		},
	)
	if err != nil {
		return err
	}
	for _, c := range []prometheus.Collector{requests, meter.NewBuildInfo(api.Version())} {
		if err := s.exposed.Add(c); err != nil {
			return err
		}
	}
	if s.fleet != nil {
		if err := s.exposed.Add(meter.FleetCollector(s.fleet)); err != nil {
			return err
		}
	}
	if state, ok := s.state.(interface {
		Backlog(ctx context.Context) (execution.Backlog, error)
	}); ok {
		err := s.exposed.Add(meter.BacklogCollector{Backlog: state.Backlog, Now: s.now, Logger: s.logger})
		if err != nil {
			return err
		}
	}
	if state, ok := s.state.(interface {
		Stats(ctx context.Context) (execution.StorageStats, error)
	}); ok {
		return s.exposed.Add(meter.StorageCollector{Stats: state.Stats, Logger: s.logger})
	}
	return nil
}
