package wiring

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/meter"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
	"github.com/airlock-run/airlock/infra/invoke/handover"
	"github.com/airlock-run/airlock/infra/invoke/lambdainvoke"
	"github.com/airlock-run/airlock/infra/invoke/localinvoke"
	"github.com/airlock-run/airlock/policy"
)

var (
	_ gateway.Invoker = (*localinvoke.Pool)(nil)
	_ gateway.Invoker = (*lambdainvoke.Client)(nil)
)

// A Fleet runs executions: function processes of this machine, or a function on Lambda.
type Fleet struct {
	gateway.Invoker
	places int
	spare  int    // further places, as queue.Config defines them
	pool   *Pool  // nil on Lambda
	Where  string // describes the fleet to people

	renewals atomic.Uint64
}

// OpenFleet opens the fleet that INVOKER names. It must be closed.
func (in *Inputs) OpenFleet(ctx context.Context) (*Fleet, error) {
	set := in.Settings
	if set.Invoker == "lambda" {
		cfg := lambdaConfig(set.Lambda, in.Rules)
		if set.Lambda.Handover != "" {
			store, err := handover.Open(ctx, set.Lambda.Handover, set.Records.S3Endpoint)
			if err != nil {
				return nil, settings.Wrong(fmt.Errorf("HANDOVER_STORE: %w", err))
			}
			cfg.Handover = store
		}
		client, err := lambdainvoke.New(ctx, cfg)
		if err != nil {
			return nil, settings.Wrong(fmt.Errorf("INVOKER: %w", err))
		}
		where := fmt.Sprintf("Lambda function %s, at most %d executions at a time", set.Lambda.Function,
			set.Lambda.Concurrency)
		spare := spare(set.Auth, set.Lambda.Concurrency)
		return &Fleet{Invoker: client, places: set.Lambda.Concurrency - spare, spare: spare, Where: where}, nil
	}
	pool, err := in.OpenPool(ctx, set.AuditStore, nil)
	if err != nil {
		return nil, fmt.Errorf("functions: %w; airlock doctor says what to do", err)
	}
	places := len(pool.Stats().Processes) - reserve(set.Auth)
	spareProcesses := spare(set.Auth, places)
	if set.Processes == 0 {
		spareProcesses = spareByDefault(set.Auth)
	}
	where := fmt.Sprintf("%d processes, one execution each at a time", places)
	if set.Auth.Tenanted() {
		where += fmt.Sprintf(", each of one tenant for its life; up to %d more stay warm for tenants", warm(set.Auth))
	}
	return &Fleet{Invoker: pool.Pool, places: places - spareProcesses, spare: spareProcesses, pool: pool, Where: where},
		nil
}

// A Pool is a pool of function processes with the stores that their records go to.
type Pool struct {
	*localinvoke.Pool
	records *writers
	writes  *meter.Writes
	engines *process.EngineFleet // nil if there is only QuickJS
}

// OpenPool starts function processes whose records go to store. change, which may be nil, adjusts the configuration
// last. The pool must be closed.
func (in *Inputs) OpenPool(ctx context.Context, store string, change func(*localinvoke.Config)) (*Pool, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	if err := process.CheckCache(process.CacheDir(in.Getenv, executable), executable); err != nil {
		return nil, err
	}
	cfg, err := in.poolConfig(ctx)
	if err != nil {
		return nil, err
	}
	if change != nil {
		change(&cfg)
	}
	others, err := process.ReadEngines(in.Getenv)
	if err != nil {
		return nil, err
	}
	engines, err := process.OpenEngines(ctx, others, in.Log)
	if err != nil {
		return nil, err
	}
	if engines != nil {
		cfg.Sealed.Engines = engines
	}
	processes := cfg.Processes
	if processes == 0 {
		processes = maxWriters
	}
	records, err := openWriters(ctx, in.Settings.Records, store, processes, in.Log)
	if err != nil {
		engines.Close()
		return nil, err
	}
	writes := meter.NewWrites()
	cfg.Sealed.Records = writes.Measure(records)
	pool, err := localinvoke.New(ctx, cfg)
	if err != nil {
		engines.Close()
		return nil, errors.Join(err, records.close())
	}
	return &Pool{pool, records, writes, engines}, nil
}

// Engines returns the state of the engines besides QuickJS.
func (p *Pool) Engines() []process.EngineState { return p.engines.States() }

// Close ends the processes and then closes the stores.
func (p *Pool) Close(ctx context.Context) error {
	defer p.engines.Close()
	return errors.Join(p.Pool.Close(ctx), p.records.close())
}

// lambdaConfig lists every tier, the default tier first, if each tier has a function of its own.
func lambdaConfig(set settings.Lambda, rules *Rules) lambdainvoke.Config {
	cfg := lambdainvoke.Config{Function: set.Function, Endpoint: set.Endpoint, Tenants: set.PerTenant}
	if !strings.Contains(set.Function, "{policy}") {
		return cfg
	}
	cfg.Policies = []string{policy.DefaultTier}
	for _, t := range rules.Tiers() {
		if t.Name != policy.DefaultTier {
			cfg.Policies = append(cfg.Policies, t.Name)
		}
	}
	return cfg
}

// spare returns how many of a number of places are kept spare if tokens tell tenants apart: from three places on, one
// for tenants that have no place, and from eight on, one more for tenants that want no more than their share.
func spare(auth settings.Auth, places int) int {
	switch {
	case !auth.Tenanted() || places < 3:
		return 0
	case places < 8:
		return 1
	}
	return 2
}

// spareByDefault returns the number of spare processes beyond the machine's default.
func spareByDefault(auth settings.Auth) int { return spare(auth, 8) }

// reserve returns how many processes stand by for a tenant that has none.
func reserve(auth settings.Auth) int {
	if auth.Tenanted() {
		return 1
	}
	return 0
}

// Warm processes are as many as have warmBytes each in an eighth of the machine's memory, and at most maxWarm. An idle
// one has 20 MiB of its own, and up to 60 for some minutes after a guest of 100 MiB. If all processes have more than a
// quarter of the machine's memory, warm ones end.
const (
	warmBytes = 48 << 20
	maxWarm   = 64
)

// warm returns how many further processes stay idle for tenants that pause.
func warm(auth settings.Auth) int {
	if !auth.Tenanted() {
		return 0
	}
	memory, err := machineMemory()
	if err != nil {
		return 0
	}
	return int(min(memory/8/warmBytes, maxWarm))
}

// warmMemory returns the memory in bytes beyond which warm processes end; 0 if the machine's is unknown.
func warmMemory() int64 {
	memory, err := machineMemory()
	if err != nil {
		return 0
	}
	return int64(memory / 4)
}

// Close ends the fleet's processes.
func (f *Fleet) Close(ctx context.Context) error {
	if f.pool == nil {
		return nil
	}
	return f.pool.Close(ctx)
}

// renew replaces function processes as they fall idle, so that they start with the policy in force.
func (f *Fleet) renew() {
	if f.pool != nil {
		f.pool.Renew()
	}
	f.renewals.Add(1) // from now on, no execution begins in an older process
}

// described returns where executions run and, once the first process has reported, behind which walls.
func (f *Fleet) described(confined *WallWatch) string {
	if f.pool == nil {
		return f.Where
	}
	return f.Where + ", " + confined.First(time.Second) + f.pool.otherEngines()
}

// functions returns what the functions of this machine report.
func (f *Fleet) functions() gateway.Functions {
	out := gateway.Functions{Fleet: f.state(), Engines: f.engines(), Generation: f.renewals.Load, Outlive: f.pool == nil}
	if f.pool != nil {
		out.Writes = f.pool.writes
	}
	return out
}

// state returns what the dashboard shows of the processes; nil on Lambda.
func (f *Fleet) state() func() meter.Fleet {
	if f.pool == nil {
		return nil
	}
	return func() meter.Fleet {
		now := f.pool.Stats()
		out := meter.Fleet{Executions: now.Executions, Crashed: now.Crashed, Killed: now.Killed, Waiting: now.Waiting}
		for _, p := range now.Processes {
			out.Processes = append(out.Processes, meter.Process(p))
		}
		return out
	}
}

// engines returns the engines besides QuickJS for GET /api/engines; nil if there are none.
func (f *Fleet) engines() func() []gateway.EngineState {
	if f.pool == nil || f.pool.engines == nil {
		return nil
	}
	return func() []gateway.EngineState {
		var all []gateway.EngineState
		for _, e := range f.pool.Engines() {
			all = append(all, gateway.EngineState{Name: e.Name, Build: e.Build, JIT: e.JIT, Walls: e.Walls, Processes: e.Made,
				Live: e.Live, TemplateBytes: e.TemplateBytes, ProcessBytes: e.ProcessBytes})
		}
		return all
	}
}

// otherEngines describes the engines besides QuickJS to people; "" if there are none.
func (p *Pool) otherEngines() string {
	text := ""
	for _, e := range p.Engines() {
		text += fmt.Sprintf("; engine %s (%s) in processes of its own, behind %s", e.Name, e.Build,
			strings.Join(e.Walls, ", "))
	}
	return text
}

// forwarded are the only variables that function processes inherit. None is a secret: keys, credentials and the record
// store's address stay in this process.
var forwarded = []string{"AIRLOCK_CACHE_DIR", "EGRESS_ALLOW", "ENGINES", "ENGINE_BUILD", "ENGINE_FALLBACK",
	"ENGINE_JIT", "ENGINE_JSC", "ENGINE_V8", "HOME", "SANDBOX_MEMORY_MB", "XDG_CACHE_HOME"}

// recordVariables say how records and large requests are stored.
var recordVariables = []string{"AUDIT_CHAIN_KEY", "AUDIT_CODE", "AUDIT_REDACT", "AUDIT_SYNC", "HANDOVER_STORE",
	"S3_ENDPOINT"}

// poolConfig returns the configuration of the pool, without what stores records.
func (in *Inputs) poolConfig(ctx context.Context) (localinvoke.Config, error) {
	set := in.Settings
	// GOGC=off lasts until process.Serve sets its own: collecting garbage during package initialisation takes a fifth
	// of the start, and much more on a busy machine.
	cfg := localinvoke.Config{Env: []string{"GOGC=off"}, Processes: set.Processes, Logger: in.Log}
	packages := process.PackagesDir(in.Getenv)
	if packages == "" {
		packages = "none"
	} else if absolute, err := filepath.Abs(packages); err == nil {
		packages = absolute
	}
	cfg.Env = append(cfg.Env, process.PackagesVariable+"="+packages)
	cfg.EnvNow = func() []string { return append(in.Tools.environment(), in.Rules.environment()...) }
	if set.Processes == 0 {
		cfg.Spare = spareByDefault(set.Auth)
	}
	for _, name := range forwarded {
		if v := in.Getenv(name); v != "" {
			cfg.Env = append(cfg.Env, name+"="+v)
		}
	}
	secret := process.Secrets(in.Getenv)
	memory, err := process.MemoryBytes(in.Getenv)
	if err != nil {
		return cfg, err
	}
	cfg.Sealed = &localinvoke.Sealed{
		KeepCode: set.Records.KeepCode, PerTenant: set.Auth.Tenanted(), Reserve: reserve(set.Auth),
		Warm: warm(set.Auth), WarmBytes: warmMemory(),
		Redact:  (&redaction{in: in, secret: secret}).apply,
		Outside: process.Outside{Rules: in.Rules, RemoteTools: in.Tools.remote, Secret: secret, MemoryBytes: memory},
	}
	if at, err := process.Handover(in.Getenv); err == nil && at != "" {
		store, err := handover.Open(ctx, at, set.Records.S3Endpoint)
		if err != nil {
			return cfg, fmt.Errorf("HANDOVER_STORE: %w", err)
		}
		cfg.Sealed.Fetch = store.Get
	}
	return cfg, nil
}

// ExecutionEnv returns getenv without the variables that concern serving: an agent's own gateway listens nowhere and
// asks for no credentials.
func ExecutionEnv(getenv func(string) string) func(string) string {
	others := []string{
		"AIRLOCK_POLICY_FILE", "AIRLOCK_STATE", "AUDIT_STORE", "FUNCTION_PROCESSES", "INVOKER", process.PackagesVariable,
		process.RemoteToolsVariable,
	}
	return func(name string) string {
		if slices.Contains(forwarded, name) || slices.Contains(recordVariables, name) ||
			slices.Contains(settings.AWSVariables, name) ||
			slices.Contains(others, name) || strings.HasPrefix(name, "LAMBDA_") ||
			strings.HasPrefix(name, process.SecretPrefix) {
			return getenv(name)
		}
		return ""
	}
}
