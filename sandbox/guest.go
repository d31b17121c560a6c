package sandbox

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/airlock-run/airlock/policy/depth"
	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/journal"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/internal/snapshot"
	"github.com/airlock-run/airlock/sandbox/stdlib"
)

// guest is the QuickJS guest of a run.
type guest struct {
	*run
	in *quickjs.Instance
}

// call calls into the guest and counts the processor time of the call.
func (g *guest) call(f quickjs.Value, args ...quickjs.Value) error {
	return g.enter(func() error {
		if err := g.in.Call(f, args...); err != nil {
			return err
		}
		return g.runTicks()
	})
}

// runTicks runs the callbacks of process.nextTick when no microtask is left, until neither callbacks nor microtasks are
// left.
func (g *guest) runTicks() error {
	for g.stage.ticks {
		g.stage.ticks = false
		if err := g.in.Call(g.image.Root(stdlib.RootTick)); err != nil {
			return err
		}
	}
	return nil
}

// enter counts the processor time of f, which lets the guest run. A pending exception of the guest fails its code.
func (g *guest) enter(f func() error) error {
	g.cpu.Enter()
	defer g.cpu.Leave()
	err := f()
	if errors.Is(err, quickjs.ErrException) {
		return g.pending()
	}
	return err
}

// turns are what an event loop makes a guest do.
type turns interface {
	// fire runs the callback of a timer.
	fire(id int32) error
	// settle hands an answer to the guest.
	settle(c completion) error
	// deliver hands an answer to the guest that belongs to no request.
	deliver(c completion) error
	// reject fails the code with the first rejection that nobody has handled, unless the code listens for those itself.
	// It reports false if there is none.
	reject() (bool, error)
	// end completes the result of a run that has nothing left to wait for. happened reports whether anything has
	// happened since the last call. If the code may go on, there is no result yet.
	end(happened bool) error
}

// An eventLoop makes the guest of a run continue when something happens that it waits for.
type eventLoop struct {
	*run
	guest turns
}

// toEnd returns when the run has a result or has failed. Code that listens for the end of the loop may go on.
func (r eventLoop) toEnd() error {
	for first := true; ; first = false {
		r.stage.happened = false
		if err := r.loop(); err != nil || r.stage.failed {
			return err
		}
		happened := r.stage.happened
		if err := r.guest.end(happened); err != nil || r.stage.failed || r.stage.done {
			return err
		}
		if !first && !happened {
			return nil // the library asks again only if something has happened
		}
	}
}

// loop returns when the code has its value, has failed, or has nothing left to wait for.
func (r eventLoop) loop() error {
	for !r.stage.failed && !(r.stage.settled && r.stage.hasValue) {
		if r.stage.listens && len(r.rejected) > 0 {
			if _, err := r.guest.reject(); err != nil {
				return err
			}
			continue
		}
		if r.parks() {
			return errParked
		}
		if !r.idle() {
			r.stage.happened = true
			if err := r.wait(); err != nil {
				return err
			}
			continue
		}
		rejected, err := r.guest.reject()
		switch {
		case err != nil:
			return err
		case rejected:
		case r.stage.settled:
			return nil
		default: // listeners of the end are called and begun lines printed, and then it has failed
			happened := r.stage.happened
			r.stage.happened = false
			if err := r.guest.end(happened); err != nil || r.stage.failed {
				return err
			}
			if r.stage.done {
				return errNeverSettles
			}
		}
	}
	return nil
}

// idle reports that nothing outside the guest can make it continue.
func (r eventLoop) idle() bool {
	// A step of a session does not wait for timers of earlier steps, unless its own code does.
	timers := r.timers.Idle() && (r.step == 0 || r.stage.settled || r.timers.Empty())
	return timers && r.requests.outstanding == 0 && len(r.waits.pending) == 0
}

// wait waits for a timer or an answer, and hands it to the guest.
func (r eventLoop) wait() error {
	if r.outside.tape.Playing() {
		return r.playNext()
	}
	left := r.limits.Wall - r.outside.elapsed()
	pause := left
	ends, grace := r.waits.graceEnds()
	if !r.timers.Empty() {
		grace = grace && ends < r.timers.Next()
		if !grace {
			ends = r.timers.Next()
		}
		pause = min(ends-r.outside.timerClock(), left)
	}
	if pause > 0 || r.requests.outstanding > 0 {
		alarm := time.NewTimer(max(pause, 0))
		defer alarm.Stop()
		select {
		case <-alarm.C:
		case c := <-r.requests.completions:
			return r.answered(c)
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
		r.outside.virtual = max(r.outside.virtual, ends)
	}
	if grace {
		return nil
	}
	return r.guest.fire(r.timers.Pop(r.outside.timerClock()))
}

// fire runs the callback of a timer.
func (g *guest) fire(id int32) error {
	g.outside.tape.Fired(id)
	return g.call(g.image.Root(stdlib.RootFire), quickjs.Int(id))
}

// playNext repeats the next event of the recorded run.
func (r eventLoop) playNext() error {
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
		return r.guest.settle(completion{id: e.ID, answer: answer, err: r.limits.playedError(e.Error)})
	case e.Kind == journal.Wait:
		var x snapshot.Wait
		if json.Unmarshal(e.JSON, &x) != nil || x.ID != e.ID || r.waits.find(x.Seq) != nil {
			return journal.Diverged("wait %d is not valid", e.ID)
		}
		r.requests.finished(e.ID)
		r.waits.next = max(r.waits.next, x.Seq)
		return r.keep(x)
	}
	due, ok := r.timers.Take(e.ID, r.outside.timerClock())
	if !ok {
		return journal.Diverged("timer %d is not set", e.ID)
	}
	r.outside.virtual = max(r.outside.virtual, due)
	return r.guest.fire(e.ID)
}

// reject fails the code with the first rejection that nobody has handled, unless the code listens for those itself. It
// reports false if there is none.
func (g *guest) reject() (bool, error) {
	if len(g.rejected) == 0 {
		return false, nil
	}
	promise := g.rejected[0]
	g.rejected = g.rejected[1:]
	_, reason := g.in.PromiseResult(promise)
	return true, g.call(g.image.Root(stdlib.RootReject), reason, promise)
}

// end completes the result.
func (g *guest) end(happened bool) error {
	g.in.Between(nil) // the library asks once
	defer g.parkAmid()
	told := quickjs.Int(0)
	if happened {
		told = quickjs.Int(1)
	}
	return g.call(g.image.Root(stdlib.RootFinish), told)
}

// settle hands an answer to the guest.
func (g *guest) settle(c completion) error {
	g.requests.finished(c.id)
	g.memory.ReleaseAside(c.held)
	g.outside.tape.Answered(c.id, c.answer.JSON, c.answer.Bytes, recordedError(c.err))
	return g.deliver(c)
}

// within returns the completion as a guest gets it, to whom no answer passes that is nested more deeply. The error is
// the limit that the request hit.
func (c completion) within(deepest int) (completion, error) {
	if path := depth.Over(c.answer.JSON, "answer", deepest); path != "" && c.err == nil {
		c.err = hostops.Throw("RangeError", depth.Message("the answer", path, deepest))
	}
	if limit := hostops.AsLimit(c.err); limit != nil {
		return c, limit
	}
	return c, nil
}

// deliver hands an answer to the guest that belongs to no request.
func (g *guest) deliver(c completion) error {
	c, err := c.within(g.limits.Depth)
	if err != nil {
		return err
	}
	var value quickjs.Value
	failed := quickjs.Int(0)
	switch {
	case c.err != nil:
		failed = quickjs.Int(1)
		value, err = hostops.ErrorValue(g.in, c.err)
	case c.answer.Bytes != nil:
		value, err = g.in.Bytes(c.answer.Bytes)
	case len(c.answer.JSON) == 0:
		value = quickjs.Undefined
	default:
		value, err = g.in.ParseJSON(c.answer.JSON)
	}
	if err != nil {
		return err
	}
	return g.call(g.image.Root(stdlib.RootSettle), quickjs.Int(c.id), failed, value)
}
