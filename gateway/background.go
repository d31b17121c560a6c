package gateway

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/callbacks"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/gateway/meter"
	"github.com/airlock-run/airlock/gateway/records"
	"github.com/airlock-run/airlock/gateway/registry"
	"github.com/airlock-run/airlock/gateway/schedule"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
)

// background runs what nobody waits for: jobs, their callbacks and schedules. It is nil for a gateway without state.
type background struct {
	jobs     *jobs.Queue
	schedule *schedule.Clock
	sender   *callbacks.Sender
}

// suspendedGrace is how late a scheduled run may be if due work runs every minute, and sometimes a minute is skipped.
const suspendedGrace = 5 * time.Minute

func newBackground(
	cfg Config, deps Deps, e *executor, detail func(error) string, work *meter.Work,
) (*background, error) {
	b := &background{sender: callbacks.NewSender(cfg.Callbacks.OpenedHosts, deps.Now)}
	runner := &jobs.ExecutionRunner{
		Executor: e, Records: deps.Records, Detail: detail, Logger: deps.Logger, Callback: b.sender.Send,
		Append: e.append, Keys: cfg.SnapshotKeys, Now: deps.Now, StartBefore: deps.State.StartBefore,
	}
	var functions jobs.Functions
	if deps.Functions.Outlive {
		functions = jobs.Functions{Longest: longest(tierOf(deps.Policy)), HasRecord: runner.HasRecord}
	}
	var err error
	b.jobs, err = jobs.New(jobs.Config{
		Store: deps.State, Workers: cfg.Places + cfg.SparePlaces, Runner: runner, Functions: functions,
		Queues: deps.Wake.Queues,
		Waits: jobs.Waits{
			Keys: cfg.SnapshotKeys, MaxAge: maxAge(deps.Policy), Record: e.append, NewID: deps.NewID,
			Paused: pausedRecords(deps.Records),
		},
		Now: deps.Now, Random: rand.Float64, Logger: deps.Logger, Work: work,
	})
	return b, err
}

// longest returns a func that returns how long a function takes a job at most: the time of its tier, or its own if that
// is shorter, and the grace for the record.
func longest(tier func(name string) (policy.Tier, bool)) func(job execution.Job) time.Duration {
	return func(job execution.Job) time.Duration {
		wall := longestFunction
		if t, ok := tier(cmp.Or(job.Request.Policy, policy.DefaultTier)); ok {
			wall = t.Timeout
		}
		if own := time.Duration(job.Request.Timeout * float64(time.Millisecond)); own > 0 {
			wall = min(wall, own)
		}
		return wall + execution.Grace
	}
}

// longestFunction is the most that Lambda gives a function, for a job whose tier is gone.
const longestFunction = 15 * time.Minute

// maxPauses bounds the pauses that one look reads.
const maxPauses = 20_000

// pausedRecords returns a func that passes the records of pauses to fn whose executions began from since to until. It
// returns nil for records without an index, in which these cannot be found at once.
func pausedRecords(
	store Records,
) func(ctx context.Context, since, until time.Time, fn func(audit.Record) error) error {
	if _, indexed := store.(records.Index); !indexed {
		return nil
	}
	return func(ctx context.Context, since, until time.Time, fn func(audit.Record) error) error {
		q := audit.Query{Status: string(execution.Paused), Since: since, Until: until, Limit: 500}
		for seen := 0; seen < maxPauses; {
			page, err := store.List(ctx, q)
			if err != nil {
				return err
			}
			for _, r := range page.Items {
				if err := fn(r); err != nil {
					return err
				}
			}
			if page.Next == "" {
				return nil
			}
			seen, q.Cursor = seen+len(page.Items), page.Next
		}
		return nil
	}
}

// maxAge returns a func that returns how long a paused execution of a tier may exist. A tier that is gone, or that no
// longer lets executions wait, leaves them a week.
func maxAge(policies Decider) func(tier string) time.Duration {
	const fallback = 7 * 24 * time.Hour
	return func(name string) time.Duration {
		for _, t := range policies.Tiers() {
			if t.Name == name && t.Waits.MaxAge > 0 {
				return t.Waits.MaxAge
			}
		}
		return fallback
	}
}

// tierOf returns a func that returns a tier by its name.
func tierOf(policies Decider) func(name string) (policy.Tier, bool) {
	return func(name string) (policy.Tier, bool) {
		tiers := policies.Tiers()
		n := slices.IndexFunc(tiers, func(t policy.Tier) bool { return t.Name == name })
		if n < 0 {
			return policy.Tier{}, false
		}
		return tiers[n], true
	}
}

// fourEyes returns a func that reports whether a tier refuses approvals by who started the execution.
func fourEyes(policies Decider) func(tier string) bool {
	return func(name string) bool {
		return slices.ContainsFunc(policies.Tiers(), func(t policy.Tier) bool {
			return t.Name == name && t.Waits.ApproverIsNotRequester
		})
	}
}

// addSchedules makes the clock that submits the functions whose time has come.
func (b *background) addSchedules(
	cfg Config, deps Deps, functions *registry.Registry, submit func(context.Context, api.Submission) error,
) (err error) {
	grace := schedule.Grace
	if cfg.NoBackgroundWork {
		grace = suspendedGrace
	}
	b.schedule, err = schedule.New(schedule.Config{
		Store: deps.State, Grace: grace, Now: deps.Now, Logger: deps.Logger,
		Submit: func(ctx context.Context, f execution.SavedFunction, id string, at time.Time) error {
			s, err := functions.BindSchedule(ctx, f, id, at)
			if err != nil {
				return err
			}
			return submit(ctx, s)
		},
	})
	return err
}

// start begins to work. What runs stops when running ends.
func (b *background) start(running context.Context) {
	if b != nil {
		b.jobs.Start(running)
		b.schedule.Start(running)
	}
}

// stop claims nothing more and waits for what runs.
func (b *background) stop() error {
	if b == nil {
		return nil
	}
	b.schedule.Stop()
	err := b.jobs.Stop(context.Background())
	b.sender.Close()
	return err
}

// runDue does what is due now.
func (b *background) runDue(ctx context.Context, id string) error {
	if b == nil {
		return errors.New("gateway: without state, no work is due")
	}
	var err error
	if id == "" {
		err = b.schedule.RunDue(ctx)
	}
	return errors.Join(err, b.jobs.RunDue(ctx, id))
}

// requireState refuses requests to routes that need state. It is middleware.
func (b *background) requireState(c *fiber.Ctx) error {
	if b == nil {
		return api.Stateless()
	}
	return c.Next()
}
