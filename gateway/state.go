package gateway

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/callbacks"
	"github.com/airlock-run/airlock/gateway/functions"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/gateway/schedule"
)

// State keeps what outlives the process: saved functions, jobs, accepted deliveries. It is safe for concurrent use.
type State interface {
	functions.Store
	jobs.Store
	schedule.Store
	Deliveries
	// Ready reports whether the state can be changed now.
	Ready(ctx context.Context) error
}

// Deliveries remembers webhook deliveries and requests with a key, so that none is taken twice.
type Deliveries interface {
	// Begin takes a key until a time. When it is taken already begun is false, and the mark and the answer (nil while it is
	// being answered) are those of the first. When the process that took it has died without an answer begun is true, and
	// the mark is still the first.
	Begin(ctx context.Context, key execution.Key, mark string, now, until time.Time) (begun bool, firstMark string, answer []byte, err error)
	// Finish keeps the answer to the key of a name.
	Finish(ctx context.Context, key string, answer []byte) error
	// Abandon gives a key back.
	Abandon(ctx context.Context, key string) error
	// KeepEvent keeps what was delivered under the execution that it began; the newest of a function are kept for a while.
	KeepEvent(ctx context.Context, tenant, function, id string, event []byte, at time.Time) error
	// Event gives one that is kept, or execution.ErrNotFound.
	Event(ctx context.Context, tenant, function, id string) ([]byte, error)
}

// state is what the server makes of its State; nil without one.
type state struct {
	State
	book   *functions.Book
	jobs   *jobs.Queue
	clock  *schedule.Clock
	sender *callbacks.Sender
}

// frozenGrace is how late a scheduled run may be where turns come every minute, and one or another does not come at all.
const frozenGrace = 5 * time.Minute

func (s *Server) newState() (*state, error) {
	if s.deps.State == nil {
		return nil, nil // a server without state is one that refuses what needs it
	}
	st := &state{State: s.deps.State, sender: callbacks.NewSender(s.cfg.OpenedHosts, s.deps.Now)}
	var err error
	if st.book, err = functions.New(s.deps.State, s.deps.Now); err != nil {
		return nil, err
	}
	st.jobs, err = jobs.New(jobs.Config{
		Store: s.deps.State, Runner: runner{s}, Workers: s.cfg.Places + s.cfg.SparePlaces, Now: s.deps.Now, Random: rand.Float64, Logger: s.deps.Logger,
	})
	if err != nil {
		return nil, err
	}
	grace := schedule.Grace
	if s.cfg.Frozen {
		grace = frozenGrace
	}
	st.clock, err = schedule.New(schedule.Config{Store: s.deps.State, Submit: s.submitScheduled, Grace: grace, Now: s.deps.Now, Logger: s.deps.Logger})
	return st, err
}

func (s *Server) startState(running context.Context) {
	if st := s.state; st != nil && !s.cfg.Frozen {
		st.jobs.Start(running)
		st.clock.Start(running)
	}
}

// submit keeps a job, which has a result one day when the error is nil.
func (s *Server) submit(ctx context.Context, job execution.Job) error {
	if err := s.state.jobs.Submit(ctx, job); err != nil || s.deps.Wake == nil {
		return err
	}
	waking, cancel := context.WithTimeout(ctx, wakeTime)
	defer cancel()
	if err := s.deps.Wake(waking, job.ID); err != nil {
		s.deps.Logger.Warn("nobody was woken for a job; it waits for the next turn", "execution", job.ID, "error", err)
	}
	return nil
}

// wakeTime is how long a caller waits for somebody to be woken.
const wakeTime = 5 * time.Second

// Turn does what goes on in the background elsewhere, for a server that is Frozen: with an id it runs that job, without one
// it submits what schedules say, runs what is queued, makes callbacks, takes over what other processes left when they died
// and forgets what is old. It begins no job shortly before ctx ends, and returns when everything that it began has ended.
// Turns of several processes may go on at once.
func (s *Server) Turn(ctx context.Context, id string) error {
	if s.state == nil {
		return errors.New("gateway: there is no state to work on")
	}
	var err error
	if id == "" {
		err = s.state.clock.Turn(ctx)
	}
	return errors.Join(err, s.state.jobs.Turn(ctx, id))
}

// stop claims nothing more and waits for what runs.
func (st *state) stop() error {
	if st == nil {
		return nil
	}
	st.clock.Stop()
	err := st.jobs.Stop(context.Background())
	st.sender.Close()
	return err
}

// stateful refuses what cannot be kept.
func (s *Server) stateful(c *fiber.Ctx) error {
	if s.state == nil {
		return &problem{status: 501, code: "stateless", detail: "this gateway keeps no state: it has neither saved functions nor jobs"}
	}
	return c.Next()
}

// ofState is the outcome of what the state refused, or nil when it is something else.
func ofState(err error) *problem {
	var (
		missing  *functions.Missing
		conflict *functions.Conflict
		quota    *execution.QuotaError
		fault    *execution.StoreError
	)
	switch {
	case errors.As(err, &missing):
		return &problem{status: 404, detail: missing.What}
	case errors.As(err, &conflict):
		return &problem{status: 409, detail: conflict.Reason}
	case errors.As(err, &quota):
		return ofQuota(quota)
	case errors.As(err, &fault):
		return ofFault(fault)
	case errors.Is(err, execution.ErrNotKept):
		return &problem{status: 501, code: "stateless", detail: "this gateway keeps neither jobs nor schedules: nobody is there to run them later"}
	case errors.Is(err, execution.ErrFull):
		return &problem{status: 503, code: "queue_full", detail: "too many jobs are waiting; try again", retryAfter: 5 * time.Second}
	case errors.Is(err, jobs.ErrEnded):
		return &problem{status: 409, code: "ended", detail: "the execution has ended; there is nothing to cancel"}
	}
	return nil
}
