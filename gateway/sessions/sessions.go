package sessions

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/gateway/waits"
)

// A Store keeps sessions as paused jobs. It is safe for concurrent use.
type Store interface {
	// Submit stores a job. The error is an *execution.QuotaError if the tenant's quota is exceeded.
	Submit(ctx context.Context, job execution.Job) error
	// Job returns a job, or execution.ErrNotFound.
	Job(ctx context.Context, id string) (execution.Job, error)
	// JobState and ChangeJobState do what Job and ChangeJob do, without the snapshot, which stays as it is unless fn sets
	// another.
	JobState(ctx context.Context, id string) (execution.Job, error)
	ChangeJobState(ctx context.Context, id string, fn func(*execution.Job) error) (execution.Job, error)
	// ChangeJob passes a job to fn and stores the result in one transaction, unless fn fails.
	ChangeJob(ctx context.Context, id string, fn func(*execution.Job) error) (execution.Job, error)
	// Paused returns the paused jobs of a subject of a tenant whose ID is greater than after, in the order of their IDs.
	Paused(ctx context.Context, tenant, subject, after string, limit int) ([]execution.Job, error)
}

// Config configures Sessions. All fields are required.
type Config struct {
	Store Store
	Keys  *waits.Keys
	// Cancel ends a session and writes the record of its end. The error is jobs.ErrEnded if it has ended.
	Cancel func(ctx context.Context, id string, by execution.Caller) error
	// LongestStep returns how long a step of a tier may take, with its time in the queue.
	LongestStep func(tier string) time.Duration
	// RecordLapsed writes the record of the step of a session whose claim has lapsed, unless the step left one.
	RecordLapsed func(ctx context.Context, job execution.Job) error
	NewID        func() string
	Now          func() time.Time
	Logger       *slog.Logger
}

// Sessions makes sessions and runs their steps. It is safe for concurrent use.
type Sessions struct {
	cfg    Config
	making sync.Mutex // so that a token does not exceed its number of sessions
}

// New returns Sessions.
func New(cfg Config) *Sessions { return &Sessions{cfg: cfg} }

func ownerOf(job execution.Job) authn.Identity {
	return authn.Identity{Subject: job.Subject, Tenant: job.Tenant}
}

// over reports whether a job is not a session, or is a session that has ended or is ending.
func (s *Sessions) over(job execution.Job) bool {
	w := job.Wait
	return w == nil || w.Session == nil || w.Ending != nil || job.Ended() || !s.cfg.Now().Before(w.ExpiresAt)
}

// newJob returns a new session for the caller of a submission.
func (s *Sessions) newJob(from api.Submission, tier string, age time.Duration) execution.Job {
	now := s.cfg.Now().UTC()
	from.ID, from.Request = execution.SessionID(s.cfg.NewID()), execution.Request{Policy: tier}
	job := jobs.JobOf(from)
	job.Status = execution.Paused
	job.Wait = &execution.Wait{
		Run: job.ID, Since: now, Changed: now, ExpiresAt: now.Add(age), DueAt: now.Add(age), Tier: tier,
		Session: &execution.Session{},
	}
	return job
}

// store stores a new session unless its owner has too many.
func (s *Sessions) store(ctx context.Context, job execution.Job) error {
	s.making.Lock()
	defer s.making.Unlock()
	most := bounds.Of(bounds.Sessions).Most
	have, err := s.cfg.Store.Paused(ctx, job.Tenant, job.Subject, execution.FirstSession, most)
	if err != nil {
		return err
	}
	if len(have) >= most {
		return &api.Problem{
			Status: 507, Code: "storage_quota", Detail: "this token has its maximum number of sessions; delete one",
		}
	}
	return s.cfg.Store.Submit(ctx, job)
}

// fork stores a new session with the state of another after a step.
func (s *Sessions) fork(ctx context.Context, made, job execution.Job, step int) (execution.Job, error) {
	if step > 0 && !job.Wait.Session.Restarted {
		made.Wait.Segment, made.Wait.EngineBuild = step, job.Wait.EngineBuild
		made.Wait.Session.ForkOf = job.ID
		if of := job.Wait.Session.ForkOf; of != "" { // it has no step of its own
			made.Wait.Session.ForkOf = of
		}
		_, snapshot, err := s.read(ctx, job, step)
		if err != nil {
			return made, err
		}
		sealed, err := s.cfg.Keys.Seal(made, snapshot)
		if err != nil {
			return made, err
		}
		made.Snapshot = history{{step, sealed}}.encode()
	}
	return made, s.store(ctx, made)
}

// read returns the request of a session, and its snapshot after a step. The session was read without both.
func (s *Sessions) read(ctx context.Context, job execution.Job, step int) (execution.Request, []byte, error) {
	whole, err := s.cfg.Store.Job(ctx, job.ID)
	if errors.Is(err, execution.ErrNotFound) || err == nil && s.over(whole) {
		err = notFound()
	}
	if err != nil {
		return whole.Request, nil, err
	}
	snapshot, err := s.open(whole, step)
	if err != nil {
		return whole.Request, nil, unreadable(err)
	}
	return whole.Request, snapshot, nil
}

// open returns the snapshot of a session after a step.
func (s *Sessions) open(job execution.Job, step int) ([]byte, error) {
	all, err := decodeHistory(job.Snapshot, job.Wait.Segment)
	if err != nil {
		return nil, err
	}
	return s.cfg.Keys.OpenStep(job, all.of(step), step)
}

// unreadable returns the problem of a session whose snapshot does not open.
func unreadable(err error) error {
	if errors.Is(err, waits.ErrNoKey) {
		return api.NoSnapshotKey(err)
	}
	return &api.Problem{
		Status: 409, Code: "session_lost", Cause: err,
		Detail: "the stored state of the session is not valid; delete the session",
	}
}

// busy returns the problem of a session whose step is running.
func busy() error {
	return &api.Problem{
		Status: 409, Code: "session_busy", Detail: "a step of the session is running; a session runs one step at a time",
		RetryAfter: time.Second,
	}
}

// changed returns the problem of a step whose session ended or continued meanwhile.
func changed() error {
	return &api.Problem{
		Status: 409, Code: "session_changed",
		Detail: "the session ended or continued without this step; the step has a record, and its changes were discarded",
	}
}

// begin claims a session for a submission and makes that its next step. release ends the claim of a step that did not
// complete.
func (s *Sessions) begin(ctx context.Context, id string, step *api.Submission) (release func(), err error) {
	if step.ID == "" {
		step.ID = s.cfg.NewID()
	}
	job, err := s.change(ctx, s.cfg.Store.ChangeJobState, id, func(j *execution.Job) {
		until := s.cfg.Now().Add(s.cfg.LongestStep(j.Wait.Tier)).UTC()
		j.Wait.Session.Running, j.Wait.Session.Until = step.ID, until
	})
	if err != nil {
		return nil, err
	}
	release = func() { s.release(ctx, job.ID, step.ID) }
	next := &execution.SessionStep{SessionRef: execution.SessionRef{ID: job.ID, Step: job.Wait.Segment + 1}}
	in := job.Wait.Session
	next.Restarted, next.ForkOf, next.Granted = in.Restarted, in.ForkOf, in.Granted
	if job.Wait.Segment > 0 && !next.Restarted {
		next.EngineBuild = job.Wait.EngineBuild
		if job.Request, next.Snapshot, err = s.read(ctx, job, job.Wait.Segment); err != nil {
			release()
			return nil, err
		}
	}
	run := step.ID
	step.Session, step.Fresh, step.Waits = next, true, true
	step.StartBefore = func() time.Time { return job.Wait.Session.Until }
	step.KeepStep = func(ctx context.Context, result execution.Result) error {
		return s.keep(ctx, job, run, result)
	}
	return release, nil
}

// keep adds the snapshot of a step that completed to those of a session, as it was when the step began. Snapshots that
// are too large to be kept are not read.
func (s *Sessions) keep(ctx context.Context, began execution.Job, run string, result execution.Result) error {
	change, large := s.cfg.Store.ChangeJob, began.SnapshotBytes > 3*maxKeptBytes
	if large { // at least two thirds of that is the snapshot of the last step
		change = s.cfg.Store.ChangeJobState
	}
	_, err := change(context.WithoutCancel(ctx), began.ID, func(j *execution.Job) error {
		if s.over(*j) || j.Wait.Session.Running != run {
			return changed()
		}
		before, err := decodeHistory(j.Snapshot, j.Wait.Segment)
		if err != nil || len(j.Snapshot) == 0 || j.Wait.EngineBuild != result.EngineBuild || j.Wait.Session.Restarted {
			before = nil // it cannot be opened
		}
		if large {
			j.Request = began.Request // the snapshot is bound to it
		}
		j.Wait = j.Wait.Clone()
		j.Wait.Segment, j.Wait.Run, j.Wait.EngineBuild = j.Wait.Segment+1, run, result.EngineBuild
		sealed, err := s.cfg.Keys.Seal(*j, result.Snapshot)
		if err != nil {
			return err
		}
		all := before.add(step{j.Wait.Segment, sealed})
		j.Wait.Changed = s.cfg.Now().UTC()
		j.Wait.Session = &execution.Session{Kept: len(all) - 1, Granted: j.Wait.Session.Granted}
		j.Snapshot = all.encode()
		return nil
	})
	if errors.Is(err, execution.ErrNotFound) {
		return changed()
	}
	return err
}

// restart empties the state of a session. The number of its steps continues.
func (s *Sessions) restart(ctx context.Context, id string) error {
	_, err := s.change(ctx, s.cfg.Store.ChangeJob, id, func(j *execution.Job) {
		j.Wait.Changed, j.Wait.EngineBuild, j.Snapshot = s.cfg.Now().UTC(), "", nil
		j.Wait.Session = &execution.Session{Restarted: j.Wait.Segment > 0, Granted: j.Wait.Session.Granted}
	})
	return err
}

// errLapsed ends a change of a session whose claim belongs to a step that died.
var errLapsed = errors.New("the claim of a step has lapsed")

// A changer is ChangeJob or ChangeJobState of a Store.
type changer func(ctx context.Context, id string, fn func(*execution.Job) error) (execution.Job, error)

// change changes a session while no step of it runs. It first records the attempt at a step whose process died.
func (s *Sessions) change(
	ctx context.Context, change changer, id string, fn func(*execution.Job),
) (execution.Job, error) {
	recorded := ""
	for {
		var lapsed execution.Job
		job, err := change(ctx, id, func(j *execution.Job) error {
			switch {
			case s.over(*j):
				return notFound()
			case j.Wait.Session.Runs(s.cfg.Now()):
				return busy()
			case j.Wait.Session.Running != recorded && j.Wait.Session.Running != "":
				lapsed = *j
				return errLapsed
			}
			j.Wait = j.Wait.Clone()
			fn(j)
			return nil
		})
		switch {
		case errors.Is(err, execution.ErrNotFound):
			return job, notFound()
		case !errors.Is(err, errLapsed):
			return job, err
		}
		if err := s.cfg.RecordLapsed(ctx, lapsed); err != nil {
			return job, err
		}
		recorded = lapsed.Wait.Session.Running
	}
}

var errNotClaimed = errors.New("the claim has ended")

// release ends the claim of a step. If that fails, the claim lapses. A session that was deleted meanwhile can then end.
func (s *Sessions) release(ctx context.Context, id, run string) {
	_, err := s.cfg.Store.ChangeJobState(context.WithoutCancel(ctx), id, func(j *execution.Job) error {
		if w := j.Wait; j.Ended() || w == nil || w.Session == nil || w.Session.Running != run {
			return errNotClaimed
		}
		j.Wait = j.Wait.Clone()
		j.Wait.Session.Running, j.Wait.Session.Until = "", time.Time{}
		if j.Wait.Ending != nil {
			j.Wait.DueAt = s.cfg.Now().UTC()
		}
		return nil
	})
	if err != nil && !errors.Is(err, errNotClaimed) && !errors.Is(err, execution.ErrNotFound) {
		s.cfg.Logger.Warn("a session stays claimed until its step has certainly ended", "session", id, "error", err)
	}
}
