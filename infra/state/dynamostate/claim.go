package dynamostate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// A claim is a job that this process is running. Its item is nil until the claim succeeds, and again when it was used:
// it saves a read, if nobody has changed the job since.
type claim struct {
	id    string
	began time.Time // before the request was sent
	item  item
}

// Claim claims the next queued job and marks it as running. It takes the first tenant in order after the given one
// that is not in passOver; of that tenant the highest priority, and then the oldest job. The error is
// execution.ErrNotFound if no job may start now.
func (s *Store) Claim(ctx context.Context, now time.Time, after string, passOver []string) (execution.Job, error) {
	jobs, err := s.ClaimSome(ctx, now, after, passOver, 1)
	if err != nil {
		return execution.Job{}, err
	}
	return jobs[0], nil
}

// ClaimSome claims at most so many jobs, as consecutive calls of Claim do.
func (s *Store) ClaimSome(ctx context.Context, now time.Time, after string, passOver []string,
	most int) (jobs []execution.Job, err error) {
	if err := s.beat.awake(ctx); err != nil {
		return nil, fmt.Errorf("claim a job: %w", err)
	}
	w := walk{store: s, now: now, past: map[string]bool{}, tried: map[string]bool{}}
	for _, tenant := range passOver {
		w.past[tenantPart(tenant)] = true
	}
	for at := behind(tenantPart(after)); len(jobs) < most; at = behind(tenantPart(jobs[len(jobs)-1].Tenant)) {
		job, err := w.through(ctx, at, last)
		if errors.Is(err, execution.ErrNotFound) {
			job, err = w.through(ctx, first, at)
		}
		if errors.Is(err, execution.ErrNotFound) && len(jobs) > 0 {
			return jobs, nil
		}
		if err != nil {
			if len(jobs) > 0 {
				return jobs, nil // the next claim reports it
			}
			return nil, err
		}
		jobs = append(jobs, job)
	}
	return jobs, nil
}

// behind returns a place behind everything that begins with a part of a key: "0" follows "/".
func behind(part string) string { return strings.TrimSuffix(part, "/") + "0" }

// A walk is a way through the queue.
type walk struct {
	store *Store
	now   time.Time
	past  map[string]bool // the tenants to pass over
	tried map[string]bool // the IDs of jobs that were claimed or have gone; the index may still list them
}

// lookAhead is the number of entries that one request of a walk reads.
const lookAhead = 16

// through claims a job between two places.
func (w *walk) through(ctx context.Context, from, to string) (execution.Job, error) {
	for {
		var seen []listed
		err := w.store.index(ctx, queuedList, from, to, lookAhead, func(l listed) (bool, error) {
			seen = append(seen, l)
			return len(seen) < lookAhead, nil
		})
		if err != nil {
			return execution.Job{}, fmt.Errorf("claim a job: %w", err)
		}
		jumped := false
		for _, l := range seen {
			tenant, rest, _ := strings.Cut(l.at, "/")
			class, rest, _ := strings.Cut(rest, "/")
			start, _, _ := strings.Cut(rest, "/")
			switch {
			case w.past[tenant+"/"]:
				from, jumped = behind(tenant+"/"), true
			case start+"/" > when(millis(w.now)): // the rest of its class is due later
				from, jumped = behind(tenant+"/"+class+"/"), true
			default:
				from = l.at + "!" // behind this entry
				if w.tried[idOf(l.key)] {
					continue
				}
				w.tried[idOf(l.key)] = true
				job, err := w.store.claim(ctx, w.now, l)
				if !errors.Is(err, errMoved) {
					return job, err
				}
			}
			if jumped {
				break
			}
		}
		if !jumped && len(seen) < lookAhead || from > to {
			return execution.Job{}, execution.ErrNotFound
		}
	}
}

// Take claims the job with an ID if it is queued and may start now. Otherwise the error is execution.ErrNotFound.
func (s *Store) Take(ctx context.Context, now time.Time, id string) (execution.Job, error) {
	if !execution.ValidID(id) {
		return execution.Job{}, execution.ErrNotFound
	}
	if err := s.beat.awake(ctx); err != nil {
		return execution.Job{}, fmt.Errorf("claim job %s: %w", id, err)
	}
	it, err := s.get(ctx, jobKey(id))
	if err != nil {
		return execution.Job{}, fmt.Errorf("claim job %s: %w", id, err)
	}
	e := entryOf(it)
	places := strings.Split(e.at, "/") // tenant, class, time, ID
	if e.list != queuedList || len(places) != 4 || places[2]+"/" > when(millis(now)) {
		return execution.Job{}, execution.ErrNotFound
	}
	job, err := s.claim(ctx, now, listed{e, jobKey(id)})
	if errors.Is(err, errMoved) {
		err = execution.ErrNotFound
	}
	return job, err
}

// claim claims a listed job. The error is errMoved if it is no longer there.
func (s *Store) claim(ctx context.Context, now time.Time, l listed) (job execution.Job, err error) {
	by, id := token(), idOf(l.key)
	s.mu.Lock()
	s.held[by] = &claim{id: id, began: s.cfg.Now()}
	s.mu.Unlock()
	owner := s.id + "." + by
	set := item{"v": text(by), "list": text(runningList), "at": text(owner), "owner": text(owner),
		"status": text(string(execution.Running)), "started": number(millis(now))}
	it, err := s.move(ctx, l.key, l.entry, set)
	if errors.Is(err, errMoved) { // an earlier attempt may have succeeded
		now, reading := s.get(ctx, l.key)
		if reading != nil {
			err = reading
		} else if textOf(now["v"]) == by {
			it, err = now, nil
		}
	}
	if err == nil {
		job, err = s.jobOf(ctx, it)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		delete(s.held, by) // if the claim succeeded, this process later finds the job as an orphan
		return execution.Job{}, err
	}
	s.held[by].item = it
	return job, nil
}

// claimedItem returns the item of a job as this process claimed it, or nil. It is returned once.
func (s *Store) claimedItem(id string) item {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.held {
		if c.id == id && c.item != nil {
			it := c.item
			c.item = nil
			return it
		}
	}
	return nil
}

// letGo forgets the claim by which a job had an owner, if it is this process's. Another claim of the same job may be on
// its way.
func (s *Store) letGo(owner string) {
	process, by, _ := strings.Cut(owner, ".")
	if process != s.id {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, by)
}

// Orphans returns the running jobs of processes that have died, and those that this process claimed without receiving
// the answer. A job whose content is lost is left out, and its error is returned beside the others.
func (s *Store) Orphans(ctx context.Context) ([]execution.Job, error) {
	if err := s.beat.awake(ctx); err != nil {
		return nil, fmt.Errorf("look for orphans: %w", err)
	}
	// The jobs are read before the heartbeats: a process that claims has just written one.
	running := map[string][]listed{}
	held := s.keeping()
	err := s.index(ctx, runningList, first, last, looked, func(l listed) (bool, error) {
		process, _, _ := strings.Cut(l.at, ".")
		running[process] = append(running[process], l)
		return true, held.add(l.at, idOf(l.key))
	})
	if err == nil {
		err = s.beat.look(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("look for orphans: %w", err)
	}
	dead := s.beat.deadOf(running)
	if len(dead) > 0 && s.beat.hasResumed() {
		// Processes that were suspended together with this one may run again, but without a heartbeat so far.
		if err := pause(ctx, s.cfg.DeadAfter/2); err != nil {
			return nil, err
		}
		if err := s.beat.look(ctx); err != nil {
			return nil, fmt.Errorf("look for orphans: %w", err)
		}
		dead = s.beat.deadOf(running)
	}
	var out []execution.Job
	var lost error
	for process, jobs := range running {
		idle, died := dead[process]
		if process == s.id {
			idle, died = execution.NeverBegan, true
		}
		if !died {
			continue
		}
		for _, l := range jobs {
			if s.holds(l.at) {
				continue
			}
			job, err := s.Job(ctx, idOf(l.key))
			switch {
			case errors.Is(err, execution.ErrNotFound):
			case errors.Is(err, execution.ErrContentLost):
				lost = fmt.Errorf("look for orphans: %w", err)
			case err != nil:
				return nil, fmt.Errorf("look for orphans: %w", err)
			case job.Status == execution.Running && job.Owner == l.at && !s.holds(l.at):
				job.Idle = idle
				out = append(out, job)
			}
		}
	}
	return out, lost
}

// deadOf returns the processes with running jobs that have died, and since when each has certainly begun none.
func (h *heartbeat) deadOf(running map[string][]listed) map[string]time.Duration {
	dead := map[string]time.Duration{}
	for process := range running {
		if process == h.id {
			continue
		}
		if silence, died := h.silence(process); died {
			dead[process] = max(silence-h.lease.Length, 0)
		}
	}
	return dead
}

// StartBefore returns the latest start of a job that this process has claimed, as its owner. It is in the past if
// others may have taken the job over.
func (s *Store) StartBefore(owner string) time.Time {
	_, by, _ := strings.Cut(owner, ".")
	var began time.Time
	s.mu.Lock()
	if c := s.held[by]; c != nil {
		began = c.began
	}
	s.mu.Unlock()
	return s.beat.lease.Until(began)
}

// holds reports whether an owner is a claim that this process knows of.
func (s *Store) holds(owner string) bool {
	_, by, _ := strings.Cut(owner, ".")
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held[by] != nil
}
