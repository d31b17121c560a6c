package jobs

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/bounds"
)

const (
	// MaxAttempts is the number of attempts to call a receiver, over about five hours.
	MaxAttempts = 15
	longest     = time.Hour
	// sendTime is longer than one attempt takes. A process that does not report an outcome within it has died.
	sendTime = time.Minute
	together = 8 // callbacks are taken at a time
	// patient is how long a callback waits for a place, and inLine how many callbacks of a tenant wait. Others become due
	// again later. Waiting and sending together take less than sendTime.
	patient, inLine = 20 * time.Second, 8
	// gone is how long a tenant's callbacks skip a receiver that responded with 410.
	gone = 24 * time.Hour
)

// backoff returns a pause that doubles from a second to an hour, less a random part of up to half, so that calls that
// failed together are not repeated together.
func (q *Queue) backoff(attempt int) time.Duration {
	d := longest
	if attempt < 12 {
		d = min(time.Second<<max(attempt, 0), longest)
	}
	return d - time.Duration(q.cfg.Random()*float64(d)/2)
}

// deliver makes callbacks as they become due. It looks at the store four times a second while there are some, and once
// a second while there are none.
func (q *Queue) deliver(loop context.Context) {
	soon, later := q.cfg.Queues.look(tick/4), q.cfg.Queues.look(tick)
	pause := soon
	clock := time.NewTimer(pause)
	defer clock.Stop()
	for {
		select {
		case <-loop.Done():
			return
		case <-q.news:
			if pause > soon {
				pause = soon
				clock.Reset(pause)
			}
			continue
		case <-clock.C:
		}
		found, err := q.deliverDue(loop)
		if err != nil {
			q.complain(loop, "callbacks cannot be found", err)
		}
		if pause = later; found {
			pause = soon
		}
		clock.Reset(pause)
	}
}

// deliverDue makes the callbacks that are due. If receivers hang and a callback has no place, it waits for one, or
// becomes due again later.
func (q *Queue) deliverDue(ctx context.Context) (found bool, err error) {
	now := q.cfg.Now()
	due, err := q.cfg.Store.Callbacks(ctx, now, now.Add(sendTime), together)
	for _, job := range due {
		owner := bounds.Owner{Tenant: job.Tenant}
		leave, full := q.telling.Enter(owner)
		if full != nil && !q.line(job.Tenant, +1) {
			continue
		}
		q.busy.Go(func() {
			if full != nil {
				leave = q.place(ctx, owner)
				q.line(job.Tenant, -1)
			}
			if leave != nil {
				defer leave()
				q.tell(ctx, job)
			}
		})
	}
	return len(due) > 0, err
}

// News is the content of a callback about a job.
type News struct {
	// ID is the same for each attempt to deliver it, by any process.
	ID string
	// Event is the job's status at its end, "paused" or "resumed".
	Event string
}

// NewsOf returns the content of the next callback about a job. There is one callback for each pause and for each
// segment after a pause, however often the segment is begun again.
func NewsOf(j execution.Job) News {
	n := News{ID: strings.TrimPrefix(j.ID, "exec_"), Event: string(j.Status)}
	if j.Ended() || j.Wait == nil {
		return n
	}
	if j.Status != execution.Paused {
		n.Event = "resumed"
	}
	n.ID += "." + n.Event + "." + strconv.Itoa(j.Wait.Segment)
	return n
}

// line adds a callback of a tenant to those that wait for a place, or removes one. It reports whether there was room.
func (q *Queue) line(tenant string, n int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting[tenant]+n > inLine {
		return false
	}
	if q.waiting[tenant] += n; q.waiting[tenant] == 0 {
		delete(q.waiting, tenant)
	}
	return true
}

// place waits for a place. It returns nil if none becomes free in time.
func (q *Queue) place(ctx context.Context, owner bounds.Owner) (leave func()) {
	ctx, cancel := context.WithTimeout(ctx, patient)
	defer cancel()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		}
		if leave, err := q.telling.Enter(owner); err == nil {
			return leave
		}
	}
}

// tell makes one attempt to call a receiver back and stores its outcome.
func (q *Queue) tell(ctx context.Context, job execution.Job) {
	now := q.cfg.Now()
	away, err := q.cfg.Store.Gone(ctx, job.Tenant, job.Callback.URL, now, time.Time{})
	if err != nil {
		q.complain(ctx, "a callback cannot be made", err)
		return
	}
	receipt := Receipt{Gone: true, Problem: "the receiver responded with 410 before"}
	if !away {
		sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTime/2)
		receipt = q.cfg.Runner.Send(sending, job)
		cancel()
	}
	if receipt.Gone && !away {
		if _, err := q.cfg.Store.Gone(
			context.WithoutCancel(ctx), job.Tenant, job.Callback.URL, now, now.Add(gone),
		); err != nil {
			q.complain(ctx, "it cannot be noted that a receiver is gone", err)
		}
	}
	keeping, stop := context.WithTimeout(ctx, sendTime)
	defer stop()
	err = keep(keeping, q, job, func(j *execution.Job) error {
		c := j.Callback
		if c == nil || c.State != execution.CallbackPending || NewsOf(*j) != NewsOf(job) {
			return errTaken // there is another callback, which becomes due by itself
		}
		c.Problem = receipt.Problem
		if !away {
			c.Attempts++
		}
		switch {
		case receipt.Delivered:
			c.State, c.Next, c.Problem = execution.CallbackDelivered, time.Time{}, ""
		case receipt.Gone:
			c.State, c.Next = execution.CallbackDisabled, time.Time{}
		case c.Attempts >= MaxAttempts:
			c.State, c.Next = execution.CallbackFailed, time.Time{}
		default:
			c.Next = q.cfg.Now().Add(max(q.backoff(c.Attempts-1), min(receipt.After, longest))).UTC()
		}
		return nil
	})
	if err != nil { // it is due again later
		q.complain(ctx, "the outcome of a callback cannot be kept", err)
	}
}
