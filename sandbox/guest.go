package sandbox

import (
	"errors"
	"slices"
	"time"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/journal"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/stdlib"
)

// guest calls into the guest, and counts processor time while it is there.
func (r *run) guest(in *quickjs.Instance, f quickjs.Value, args ...quickjs.Value) error {
	r.cpu.Enter()
	defer r.cpu.Leave()
	err := in.Call(f, args...)
	if errors.Is(err, quickjs.ErrException) {
		return r.pending(in)
	}
	return err
}

// loop is the event loop of the guest. It returns when the code has its value, failed, or has nothing left to wait for.
func (r *run) loop(in *quickjs.Instance) error {
	for !r.stage.failed && !(r.stage.settled && r.stage.hasValue) {
		if !r.idle() {
			if err := r.wait(in); err != nil {
				return err
			}
			continue
		}
		rejected, err := r.reject(in)
		switch {
		case err != nil:
			return err
		case rejected:
		case r.stage.settled:
			return nil
		default:
			return errNeverSettles
		}
	}
	return nil
}

// idle reports that nothing outside the guest can make it go on.
func (r *run) idle() bool { return r.timers.Empty() && r.requests.outstanding == 0 }

// wait waits for a timer or an answer, and tells the guest.
func (r *run) wait(in *quickjs.Instance) error {
	if r.outside.tape.Playing() {
		return r.playNext(in)
	}
	left := r.limits.Wall - r.outside.elapsed()
	pause := left
	if !r.timers.Empty() {
		pause = min(r.timers.Next()-r.outside.timerClock(), left)
	}
	if pause > 0 || r.requests.outstanding > 0 {
		alarm := time.NewTimer(max(pause, 0))
		defer alarm.Stop()
		select {
		case <-alarm.C:
		case c := <-r.requests.completions:
			return r.settle(in, c)
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
	}
	if r.outside.elapsed() >= r.limits.Wall {
		return r.limits.exceeded(LimitWall)
	}
	if r.timers.Empty() {
		return nil
	}
	if r.outside.seeded {
		r.outside.virtual = max(r.outside.virtual, r.timers.Next())
	}
	return r.fire(in, r.timers.Pop(r.outside.timerClock()))
}

// fire runs the callback of a timer.
func (r *run) fire(in *quickjs.Instance, id int32) error {
	r.outside.tape.Fired(id)
	return r.guest(in, r.image.Root(stdlib.RootFire), quickjs.Int(id))
}

// playNext makes the next thing happen that happened when the run was recorded.
func (r *run) playNext(in *quickjs.Instance) error {
	e, err := r.outside.tape.PlayNext()
	switch {
	case err != nil:
		return err
	case e == nil && r.grants.Replay.Limit == LimitWall:
		return r.limits.exceeded(LimitWall)
	case e == nil:
		return journal.Diverged("it waits for what never came")
	case e.Kind == journal.Answer:
		answer := hostops.Answer{JSON: e.JSON, Bytes: e.Bytes}
		return r.settle(in, completion{id: e.ID, answer: answer, err: r.playedError(e.Error)})
	}
	due, ok := r.timers.Take(e.ID, r.outside.timerClock())
	if !ok {
		return journal.Diverged("timer %d is not set", e.ID)
	}
	r.outside.virtual = max(r.outside.virtual, due)
	return r.fire(in, e.ID)
}

// Poll implements quickjs.Host: the only place where a computing guest is stopped.
func (r *run) Poll(in *quickjs.Instance) error {
	r.ops.Checked()
	r.inspector.sample(r, in)
	ticks := r.loaded.ticks + in.Ticks()
	if err := r.limits.outOfTicks(ticks); err != nil {
		return err
	}
	if r.outside.tape.Playing() {
		return r.pollPlayed(ticks)
	}
	if r.outside.elapsed() >= r.limits.Wall {
		return r.limits.exceeded(LimitWall)
	}
	if r.limits.CPU < r.limits.Wall && r.cpu.Used() >= r.limits.CPU {
		return r.limits.exceeded(LimitCPU)
	}
	return r.ctx.Err()
}

// pollPlayed stops a repeated run where it was stopped before, or when it takes far longer than it may.
func (r *run) pollPlayed(ticks int64) error {
	j := r.grants.Replay
	switch {
	case r.outside.tape.Err() != nil:
		return r.outside.tape.Err()
	case (j.Limit == LimitWall || j.Limit == LimitCPU) && ticks >= j.Ticks:
		return r.limits.exceeded(j.Limit)
	case r.outside.elapsed() >= r.grants.MaxWall():
		return r.limits.exceeded(LimitWall)
	}
	return r.ctx.Err()
}

// MemoryRefused implements quickjs.Host.
func (r *run) MemoryRefused() error { return r.limits.exceeded(LimitMemory) }

// Trace implements quickjs.Host.
func (r *run) Trace(in *quickjs.Instance, frames string) (string, error) {
	text, work := r.source.Trace(frames)
	in.Spend(work / traceCost)
	return text, nil
}

// traceCost is how many bytes of frames the host handles in the time of a call or back-edge of the guest.
const traceCost = 16

// Now implements quickjs.Host.
func (r *run) Now() time.Duration { return r.outside.clock() }

// maxRejected bounds the rejected promises that are kept.
const maxRejected = 100

// Rejected implements quickjs.Host.
func (r *run) Rejected(in *quickjs.Instance, promise quickjs.Value, handled bool) {
	if !handled {
		if len(r.rejected) < maxRejected {
			in.Retain(promise)
			r.rejected = append(r.rejected, promise)
		}
		return
	}
	if i := slices.Index(r.rejected, promise); i >= 0 {
		in.Release(promise)
		r.rejected = slices.Delete(r.rejected, i, i+1)
	}
}

// reject fails the code with the first rejection that nobody has handled, unless the code listens for those itself. It
// reports false if there is none.
func (r *run) reject(in *quickjs.Instance) (bool, error) {
	if len(r.rejected) == 0 {
		return false, nil
	}
	promise := r.rejected[0]
	r.rejected = r.rejected[1:]
	_, reason := in.PromiseResult(promise)
	return true, r.guest(in, r.image.Root(stdlib.RootReject), reason, promise)
}
