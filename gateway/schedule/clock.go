package schedule

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/airlock-run/airlock/functions/execution"
)

// A Store keeps functions with their schedules. It is safe for concurrent use.
type Store interface {
	// Due returns functions whose next time has come.
	Due(ctx context.Context, now time.Time, limit int) ([]execution.SavedFunction, error)
	// Scheduled returns functions with a schedule that come after a tenant's name, in the order of tenants and names.
	Scheduled(ctx context.Context, tenant, name string, limit int) ([]execution.SavedFunction, error)
	// Change passes a function to fn and stores what fn makes of it in one transaction, unless fn fails.
	Change(
		ctx context.Context, tenant, name string, fn func(*execution.SavedFunction) (*execution.FunctionContent, error),
	) error
}

// Config configures a Clock. Only Grace is optional.
type Config struct {
	Store Store
	// Submit makes a job with this ID of a function and the time it was to run. A second job with the same ID is not
	// made.
	Submit func(ctx context.Context, f execution.SavedFunction, id string, at time.Time) error
	// Grace is how late a run may be without counting as missed. It must be longer than the time between two calls of
	// RunDue. Default [Grace].
	Grace  time.Duration
	Now    func() time.Time
	Logger *slog.Logger
}

// A Clock submits jobs when their times come.
type Clock struct {
	cfg  Config
	busy sync.WaitGroup

	mu   sync.Mutex
	stop context.CancelFunc // nil before Start and Stop

	looking sync.Mutex // guards the following: calls of RunDue may overlap
	last    time.Time  // the time of the last call
	behind  bool       // whether some schedules have not been checked against the clock
	tenant  string     // the last that was checked
	name    string
}

// New checks the configuration and starts nothing.
func New(cfg Config) (*Clock, error) {
	if cfg.Store == nil || cfg.Submit == nil || cfg.Now == nil || cfg.Logger == nil {
		return nil, errors.New("schedule: Store, Submit, Now and Logger must be set")
	}
	if cfg.Grace < 0 {
		return nil, errors.New("schedule: Grace must not be negative")
	}
	cfg.Grace = cmp.Or(cfg.Grace, Grace)
	return &Clock{cfg: cfg, behind: true}, nil
}

// Start watches the time until ctx ends or Stop is called, once, unless Stop came first.
func (c *Clock) Start(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop != nil {
		return
	}
	ctx, c.stop = context.WithCancel(ctx)
	c.busy.Go(func() {
		ticks := time.NewTicker(time.Second)
		defer ticks.Stop()
		for {
			if err := c.RunDue(ctx); err != nil && ctx.Err() == nil {
				c.cfg.Logger.Error("schedules cannot be run", "error", err)
			}
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
			}
		}
	})
}

// Stop ends the watch and waits for it.
func (c *Clock) Stop() {
	c.mu.Lock()
	if c.stop == nil {
		c.stop = func() {}
	}
	c.stop()
	c.mu.Unlock()
	c.busy.Wait()
}

// RunDue takes this many functions at a time, and at most this often. What is left is due at the next call.
const (
	together = 100
	rounds   = 10
)

// RunDue submits what is due now, tenant by tenant, so that a tenant with thousands of schedules does not delay the
// others. After the clock was set back, and at the start, it also looks for schedules that the old time moved too far
// ahead.
func (c *Clock) RunDue(ctx context.Context) error {
	now := c.cfg.Now()
	err := c.catchUp(ctx, now)
	seen := map[string]bool{} // one that fails is due again at the next call
	for range rounds {
		due, failed := c.cfg.Store.Due(ctx, now, together)
		err = first(err, failed)
		fresh := false
		for _, f := range due {
			if key := f.Tenant + "\x00" + f.Name; !seen[key] {
				seen[key], fresh = true, true
				err = first(err, c.fire(ctx, f))
			}
		}
		if len(due) < together || !fresh {
			break
		}
	}
	return err
}

// first returns the first error, because a thousand functions may fail for one reason.
func first(err, next error) error {
	if err != nil {
		return err
	}
	return next
}

// catchUp corrects what a clock that ran ahead has done, a few functions in each call: a schedule whose next time is
// later than the next one there is.
func (c *Clock) catchUp(ctx context.Context, now time.Time) error {
	c.looking.Lock()
	defer c.looking.Unlock()
	if now.Round(0).Before(c.last.Round(0)) { // by the time of day, not by the monotonic clock
		c.behind, c.tenant, c.name = true, "", ""
	}
	if c.last = now; !c.behind {
		return nil
	}
	some, err := c.cfg.Store.Scheduled(ctx, c.tenant, c.name, together)
	for _, f := range some {
		c.tenant, c.name = f.Tenant, f.Name
		next, wrong := Next(*f.Schedule, now)
		if wrong == nil && !next.IsZero() && f.Schedule.Next.After(next) {
			err = first(err, c.move(ctx, f, next))
		}
	}
	c.behind = err != nil || len(some) == together
	return err
}

// errMoved ends a change of a schedule that somebody else has changed.
var errMoved = errors.New("the schedule has moved on")

// fire submits first and moves the schedule on afterwards. A process that dies in between submits the same IDs again.
func (c *Clock) fire(ctx context.Context, f execution.SavedFunction) error {
	times, next, err := Due(*f.Schedule, c.cfg.Now(), c.cfg.Grace)
	if err != nil {
		return err
	}
	for _, at := range times {
		if err := c.cfg.Submit(ctx, f, jobID(f, at), at); err != nil {
			return err
		}
	}
	return c.move(ctx, f, next)
}

// move sets the next time of a schedule that nobody else has moved.
func (c *Clock) move(ctx context.Context, f execution.SavedFunction, next time.Time) error {
	was := f.Schedule.Next
	err := c.cfg.Store.Change(ctx, f.Tenant, f.Name, func(
		now *execution.SavedFunction,
	) (*execution.FunctionContent, error) {
		if now.Schedule == nil || !now.Schedule.Next.Equal(was) {
			return nil, errMoved
		}
		now.Schedule.Next = next
		return nil, nil // no new content
	})
	if errors.Is(err, errMoved) {
		return nil
	}
	return err
}

// jobID returns the same ID for the same function and time: a ULID of that time with a hash in place of random bytes. A
// function that was deleted and created again has other IDs.
func jobID(f execution.SavedFunction, at time.Time) string {
	sum := sha256.Sum256(
		[]byte(
			f.Tenant + "\x00" + f.Name + "\x00" + strconv.FormatInt(
				f.CreatedAt.UnixNano(), 10,
			) + "\x00" + strconv.FormatInt(at.Unix(), 10),
		),
	)
	return "exec_" + ulid.MustNew(ulid.Timestamp(at), bytes.NewReader(sum[:])).String()
}
