package wiring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/infra/state/alarms"
	"github.com/airlock-run/airlock/infra/state/dynamostate"
	"github.com/airlock-run/airlock/infra/state/pgstate"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
	"github.com/airlock-run/airlock/infra/state/sqsqueue"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/sandbox"
)

var (
	_ gateway.State = (*sqlitestate.Store)(nil)
	_ gateway.State = (*pgstate.Store)(nil)
	_ gateway.State = (*dynamostate.Store)(nil)
)

// lambdaLease is how long after a sign of life of a gateway a function on Lambda may begin a job for it. Clocks may
// differ by a third of it. A start takes less than the rest: if one does not, the gateway tries again.
const lambdaLease = 15 * time.Second

// openState opens the state that AIRLOCK_STATE names, or returns nil if it names none.
func openState(ctx context.Context, set settings.Settings, quota func(tenant string) policy.Quota) (gateway.State,
	func() error, error) {
	if set.State == "" {
		return nil, func() error { return nil }, nil
	}
	storage := func(tenant string) execution.Storage { return execution.Storage(quota(tenant).Storage) }
	if settings.IsTable(set.State) {
		cfg := dynamostate.Config{Access: tableAccess(set.Records.S3Endpoint), Storage: storage, NoJobs: noJobs(set),
			MaxJobsPerTenant: bounds.Of(bounds.JobsOfEach).Most}
		if set.Invoker == "lambda" {
			cfg.Lease = lambdaLease
		}
		if set.OnLambda.Alarms != "" {
			opened, err := alarms.Open(ctx, set.OnLambda.Alarms, alarms.Config{})
			if err != nil {
				return nil, nil, fmt.Errorf("LAMBDA_ALARMS: %w", err)
			}
			cfg.Alarms = opened
		}
		state, err := dynamostate.Open(ctx, set.State, cfg)
		if err != nil {
			return nil, nil, fmt.Errorf("AIRLOCK_STATE: %w; check the table and the permissions for it", err)
		}
		return state, state.Close, nil
	}
	if settings.IsDatabase(set.State) {
		cfg := pgstate.Config{
			MaxJobs: bounds.Of(bounds.Jobs).Most, MaxJobsPerTenant: bounds.Of(bounds.JobsOfEach).Most, Storage: storage,
		}
		if set.Invoker == "lambda" {
			cfg.Lease = lambdaLease
		}
		state, err := pgstate.Open(ctx, set.State, cfg)
		if err != nil {
			return nil, nil, fmt.Errorf("AIRLOCK_STATE: %w; check %s", err, settings.StateName(set.State))
		}
		return state, state.Close, nil
	}
	cfg := sqlitestate.Config{
		MaxBytes: set.StateBytes,
		MaxJobs:  bounds.Of(bounds.Jobs).Most, MaxJobsPerTenant: bounds.Of(bounds.JobsOfEach).Most,
		Storage: storage,
	}
	if set.Invoker == "lambda" {
		cfg.Lease = lambdaLease
	}
	state, err := sqlitestate.Open(set.State, cfg)
	if err != nil {
		return nil, nil, fmt.Errorf("AIRLOCK_STATE: %w; set AIRLOCK_STATE to a folder that can be written", err)
	}
	return state, state.Close, nil
}

// noJobs reports whether nothing runs the jobs that a gateway on Lambda stores.
func noJobs(set settings.Settings) bool {
	return set.OnLambda.Front != "" && set.OnLambda.Front != settings.FrontJobs && set.OnLambda.JobsFunction == "" &&
		set.Queues.Jobs == ""
}

// openQueues opens the queues that JOBS_QUEUE and CALLBACKS_QUEUE name, if they are set.
func openQueues(ctx context.Context, set settings.Settings, logger *slog.Logger) (queues jobs.Queues, err error) {
	if set.Queues.Jobs == "" {
		return queues, nil
	}
	cfg := sqsqueue.Config{Logger: logger}
	for name, q := range map[string]struct {
		url string
		to  *jobs.Wakes
	}{"JOBS_QUEUE": {set.Queues.Jobs, &queues.Jobs}, "CALLBACKS_QUEUE": {set.Queues.Callbacks, &queues.Callbacks}} {
		opened, err := sqsqueue.Open(ctx, q.url, cfg)
		if err != nil {
			return queues, fmt.Errorf("%s: %w", name, err)
		}
		*q.to = opened
	}
	return queues, nil
}

// tableAccess returns the access to a table whose large contents are in a bucket at S3_ENDPOINT. The endpoint of
// DynamoDB is that of the AWS configuration, such as AWS_ENDPOINT_URL_DYNAMODB.
func tableAccess(s3Endpoint string) dynamostate.Access {
	return dynamostate.Access{Objects: s3objects.Access{Endpoint: s3Endpoint}}
}

// CheckState reports whether the shared state that set names can be changed. others is a sentence about its paused
// executions of engine builds other than the given one, or "".
func CheckState(ctx context.Context, set settings.Settings, build string) (others string, err error) {
	state, closeState, err := openState(ctx, set, func(string) policy.Quota { return policy.Quota{} })
	if err != nil {
		return "", err
	}
	return otherBuilds(ctx, state, build), errors.Join(state.Ready(ctx), closeState())
}

// CheckFolder returns what CheckState says about paused executions, of a folder, which may be in use. It changes
// nothing there.
func CheckFolder(ctx context.Context, dir, build string) (others string, err error) {
	counts, err := sqlitestate.PausedBuilds(ctx, dir)
	return aboutBuilds(counts, build), err
}

// countTime bounds the time in which paused executions are counted.
const countTime = 5 * time.Second

// otherBuilds returns a sentence about the paused executions of other engine builds than that of new runs, and what
// happens to them; "" if there are none, or the state cannot count them.
func otherBuilds(ctx context.Context, state gateway.State, build string) string {
	counter, ok := state.(interface {
		PausedBuilds(ctx context.Context) (map[string]int, error)
	})
	if !ok {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, countTime)
	defer cancel()
	counts, err := counter.PausedBuilds(ctx)
	if err != nil {
		return "paused executions cannot be counted: " + err.Error()
	}
	return aboutBuilds(counts, build)
}

// aboutBuilds returns the sentence for the numbers of snapshots of each build.
func aboutBuilds(counts map[string]int, build string) string {
	var kept, lost []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		text := fmt.Sprintf("%d of %s", counts[name], cmp.Or(name, "an unknown build"))
		switch {
		case name == build:
		case slices.Contains(sandbox.EngineBuilds(), name):
			kept = append(kept, text)
		default:
			lost = append(lost, text)
		}
	}
	var out []string
	if len(kept) > 0 {
		out = append(out, "executions and sessions of another engine build wait, and continue on that build: "+
			strings.Join(kept, ", "))
	}
	if len(lost) > 0 {
		out = append(out, "executions and sessions of engine builds that this program lacks wait, and end with "+
			"engine_changed when they continue: "+strings.Join(lost, ", "))
	}
	return strings.Join(out, "; ")
}
