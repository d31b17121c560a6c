package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/infra/invoke/handover"
	"github.com/airlock-run/airlock/infra/invoke/lambdainvoke"
	"github.com/airlock-run/airlock/infra/invoke/localinvoke"
	"github.com/airlock-run/airlock/policy"
)

var (
	_ gateway.Invoker = (*localinvoke.Pool)(nil)
	_ gateway.Invoker = (*lambdainvoke.Client)(nil)
)

// fleet is what runs executions: function processes of this machine, or a function on Lambda.
type fleet struct {
	gateway.Invoker
	places int
	spare  int               // places besides, as queue.Config says
	pool   *localinvoke.Pool // nil on Lambda
	// written stores what the pool's processes did; nil on Lambda.
	written *writers
	where   string // for people
}

// openFleet opens the one that INVOKER names. It must be closed.
func openFleet(ctx context.Context, getenv func(string) string, set settings, tiers *rules, log *slog.Logger) (*fleet, error) {
	if set.invoker == "lambda" {
		cfg := lambdaConfig(set.lambda, tiers)
		if set.lambda.handover != "" {
			store, err := handover.Open(ctx, set.lambda.handover, set.keeping.S3Endpoint)
			if err != nil {
				return nil, exit(exitUsage, fmt.Errorf("HANDOVER_STORE: %w", err))
			}
			cfg.Handover = store
		}
		client, err := lambdainvoke.New(ctx, cfg)
		if err != nil {
			return nil, exit(exitUsage, fmt.Errorf("INVOKER: %w", err))
		}
		where := fmt.Sprintf("Lambda function %s, at most %d executions at a time", set.lambda.function, set.lambda.places)
		spare := set.spare(set.lambda.places)
		return &fleet{Invoker: client, places: set.lambda.places - spare, spare: spare, where: where}, nil
	}
	pool, written, err := openPool(ctx, getenv, set, tiers, set.auditStore, log, nil)
	if err != nil {
		return nil, exit(exitPlatform, fmt.Errorf("functions: %w; airlock doctor says what to do", err))
	}
	places := len(pool.Stats().Processes) - set.reserve()
	spare := set.spare(places)
	if set.processes == 0 {
		spare = set.spareProcesses()
	}
	where := fmt.Sprintf("%d processes, one execution each at a time", places)
	if set.tenanted() {
		where += ", each of one tenant for its life"
	}
	return &fleet{Invoker: pool, places: places - spare, spare: spare, pool: pool, written: written, where: where}, nil
}

// openPool starts function processes whose records go to store. change, which may be nil, has the last word on the
// configuration. Both must be closed, the pool first.
func openPool(
	ctx context.Context, getenv func(string) string, set settings, tiers *rules, store string, log *slog.Logger, change func(*localinvoke.Config),
) (*localinvoke.Pool, *writers, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("find this program: %w", err)
	}
	if err := process.CheckCache(process.CacheDir(getenv, executable), executable); err != nil {
		return nil, nil, err
	}
	cfg, err := poolConfig(ctx, getenv, set, tiers, log)
	if err != nil {
		return nil, nil, err
	}
	if change != nil {
		change(&cfg)
	}
	processes := cfg.Processes
	if processes == 0 {
		processes = mostWriters
	}
	written, err := openWriters(ctx, set, store, processes, log)
	if err != nil {
		return nil, nil, err
	}
	cfg.Sealed.Records = written
	pool, err := localinvoke.New(ctx, cfg)
	if err != nil {
		return nil, nil, errors.Join(err, written.close())
	}
	return pool, written, nil
}

// lambdaConfig names every tier where each has a function of its own, the default tier first.
func lambdaConfig(set lambdaSettings, tiers *rules) lambdainvoke.Config {
	cfg := lambdainvoke.Config{Function: set.function, Endpoint: set.endpoint, Tenants: set.tenants}
	if !strings.Contains(set.function, "{policy}") {
		return cfg
	}
	cfg.Policies = []string{policy.DefaultTier}
	for _, t := range tiers.Tiers() {
		if t.Name != policy.DefaultTier {
			cfg.Policies = append(cfg.Policies, t.Name)
		}
	}
	return cfg
}

// spare is how many of so many places are spare ones: where tokens tell tenants apart one for those that have no place, if
// two are left, and another for those that want no more than all places, if six are.
func (s settings) spare(places int) int {
	switch {
	case len(s.auth.Keys)+len(s.providers) == 0 || places < 3:
		return 0
	case places < 8:
		return 1
	}
	return 2
}

// spareProcesses is how many processes there are for that besides those that the machine suits.
func (s settings) spareProcesses() int { return s.spare(8) }

func (f *fleet) close(ctx context.Context) error {
	if f.pool == nil {
		return nil
	}
	return errors.Join(f.pool.Close(ctx), f.written.close())
}

// renew has function processes start again with the policy as it is now.
func (f *fleet) renew() {
	if f.pool != nil {
		f.pool.Renew()
	}
}

// state is what the gateway shows of the processes; nil on Lambda.
func (f *fleet) state() func() gateway.Fleet {
	if f.pool == nil {
		return nil
	}
	return func() gateway.Fleet {
		now := f.pool.Stats()
		out := gateway.Fleet{Executions: now.Executions, Crashed: now.Crashed, Killed: now.Killed, Waiting: now.Waiting}
		for _, p := range now.Processes {
			out.Processes = append(out.Processes, gateway.Process(p))
		}
		return out
	}
}

// tenanted reports whether callers may be of different tenants: where tokens say which.
func (s settings) tenanted() bool { return len(s.auth.Keys)+len(s.providers) > 0 }

// reserve is how many processes stand by for a tenant that has none.
func (s settings) reserve() int {
	if s.tenanted() {
		return 1
	}
	return 0
}

// forwarded are the settings that function processes read; nothing else of the environment reaches them. None of them is a
// secret: keys, credentials and the place of the records stay here.
var forwarded = []string{"AIRLOCK_CACHE_DIR", "EGRESS_ALLOW", "HOME", "SANDBOX_MEMORY_MB", "XDG_CACHE_HOME"}

// keeping are the settings that say how records and large requests are kept.
var keeping = []string{"AUDIT_CHAIN_KEY", "AUDIT_CODE", "AUDIT_REDACT", "AUDIT_SYNC", "HANDOVER_STORE", "S3_ENDPOINT"}

// ofAWS are those that the AWS SDK finds credentials, region and certificates by.
var ofAWS = []string{
	"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE",
	"AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CA_BUNDLE", "AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME",
	"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
	"AWS_CONTAINER_AUTHORIZATION_TOKEN", "AWS_EC2_METADATA_DISABLED",
}

// poolConfig is the pool of function processes, without what stores their records.
func poolConfig(ctx context.Context, getenv func(string) string, set settings, tiers *rules, log *slog.Logger) (localinvoke.Config, error) {
	// GOGC=off holds until the process has started (process.Serve sets its own): collecting what its packages leave when they are
	// initialised takes a fifth of the start, and much more on a busy machine.
	cfg := localinvoke.Config{Env: []string{"GOGC=off"}, Processes: set.processes, Logger: log}
	cfg.EnvNow = func() []string { return append(set.attached.environment(), tiers.environment()...) }
	if set.processes == 0 {
		cfg.Spare = set.spareProcesses()
	}
	for _, name := range forwarded {
		if v := getenv(name); v != "" {
			cfg.Env = append(cfg.Env, name+"="+v)
		}
	}
	secret := process.Secrets(getenv)
	cfg.Sealed = &localinvoke.Sealed{
		KeepCode: set.keeping.KeepCode, PerTenant: set.tenanted(), Reserve: set.reserve(),
		Redact:  (&redaction{set: set, tiers: tiers, secret: secret}).apply,
		Outside: process.Outside{Rules: tiers, Attached: set.attached.servers, Secret: secret},
	}
	if at, err := process.Handover(getenv); err == nil && at != "" {
		store, err := handover.Open(ctx, at, set.keeping.S3Endpoint)
		if err != nil {
			return cfg, fmt.Errorf("HANDOVER_STORE: %w", err)
		}
		cfg.Sealed.Fetch = store.Get
	}
	return cfg, nil
}
