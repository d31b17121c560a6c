package localinvoke

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoke/replystream"
)

// A call is one invocation on its way through a process.
type call struct {
	id      string // the Lambda request id
	payload []byte
	tenant  string // Lambda's tenant id
	by      caller // whose process it needs
	// when the process will be killed; zero: Config.MaxExecution after it was handed the call
	deadline time.Time
	lines    bool                  // the answer is read line by line
	inv      *execution.Invocation // what the payload says, where the invoker made it; else nil

	parts    chan part     // the answer, as it arrives; the last part has end set
	begun    chan struct{} // closed when the answer starts to arrive
	over     chan struct{} // closed when nobody reads parts any more
	claimed  bool          // its one answer has begun; guarded by the process's mu
	finished bool          // and is complete; likewise

	records    [][]byte      // the records that came with the answer, before its end
	usedBefore time.Duration // the processor time of the process when it received the call

	asked    sync.Once   // decides about access
	access   Access      // to the outside; nil is none
	requests int         // how often the process asked; only its broker uses it
	lent     atomic.Bool // it has a process of another engine
}

// A part is a piece of an answer.
type part struct {
	data []byte
	end  bool
	// failure is set, with end, if the function answered with an error; broken if the answer is incomplete.
	failure *replystream.Failure
	broken  bool
}

func newCall(id string, payload []byte, tenant string, deadline time.Time) *call {
	return &call{
		id:       id,
		payload:  payload,
		tenant:   tenant,
		by:       caller{tenant: tenant},
		deadline: deadline,
		parts:    make(chan part, 16),
		begun:    make(chan struct{}),
		over:     make(chan struct{}),
	}
}

// send passes a part on, unless its receiver is gone.
func (c *call) send(p part) bool {
	select {
	case c.parts <- p:
		return true
	case <-c.over:
		return false
	}
}

// read fills b with the next piece of the answer. If the answer consists of lines, it reads until one is complete,
// because a single read returns only what the process wrote at once.
func (c *call) read(r io.Reader, b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var m int
		m, err = r.Read(b[n:])
		n += m
		if n > 0 && (!c.lines || b[n-1] == '\n') {
			break
		}
	}
	return n, err
}

// An ending is how a call ended.
type ending struct {
	cause   cause                // why the process was killed, if it was
	crash   string               // how the process ended by itself, if it did
	failure *replystream.Failure // what the function reported, if it failed
	unread  bool                 // the process ended before it had read the invocation: nothing has run
	records [][]byte             // the records that came with the answer
	cpu     time.Duration        // the processor time of the process, if it ended without reporting it
}

const (
	// A busy process's memory is sampled when it could have reached its limit at growth, in bytes a second, which is
	// about what a kernel gives to two processors. The interval is at least sampling and at most four times that. It is
	// four times as long while the kernel keeps the process within a ceiling.
	sampling = 20 * time.Millisecond
	growth   = 6 << 30
	// settling bounds the wait for the answer of a process that has ended; reading bounds the reading of it, all of
	// which is in our socket buffers.
	settling = 20 * time.Millisecond
	reading  = time.Second
)

// place passes c to a process. The error is that of the context, or why there is no process; c has not run then.
func (p *Pool) place(ctx context.Context, c *call) (*process, error) {
	for {
		proc, err := p.roster.claim(ctx, c)
		if err != nil {
			return nil, err
		}
		if c.deadline.IsZero() {
			c.deadline = p.killAt(context.Background(), p.cfg.Now())
		}
		if proc.begin(c) && proc.hand(c) {
			return proc, nil
		}
		// It was killed or died before it saw the call: the next one gets it.
	}
}

// carry runs c to its end and passes each piece of the answer to take. If a dying process did not read the
// invocation, the next one gets it. waiting bounds the wait for a process. If running is cancelled (not if its
// deadline passes), the process is asked to end the execution cancelID, and killed if it does not.
func (p *Pool) carry(waiting, running context.Context, c *call, cancelID string,
	take func([]byte)) (*process, ending, error) {
	for {
		proc, err := p.place(waiting, c)
		if err != nil {
			return nil, ending{}, err
		}
		end := p.await(running, proc, c, cancelID, take)
		if end.unread && running.Err() == nil {
			c = c.again()
			continue
		}
		p.roster.ended(proc, c)
		p.count(end)
		return proc, end, nil
	}
}

// again returns a call for the same invocation, after c got lost.
func (c *call) again() *call {
	n := newCall(c.id, c.payload, c.tenant, c.deadline)
	n.lines, n.inv, n.by = c.lines, c.inv, c.by
	return n
}

// await follows c on proc to its end. It may learn of that end late, when the process has its next call already, so it
// kills the process only during c.
func (p *Pool) await(ctx context.Context, proc *process, c *call, cancelID string, take func([]byte)) ending {
	defer close(c.over)
	// The loop below blocks in take, which may wait for a slow caller.
	late := time.AfterFunc(c.deadline.Sub(p.cfg.Now()), func() { proc.killDuring(c, deadline) })
	defer late.Stop()
	hangUp := ctx.Done()
	killAt, killFor := c.deadline, deadline
	clock := time.NewTimer(min(sampling, killAt.Sub(p.cfg.Now())))
	defer clock.Stop()
	for {
		select {
		case part := <-c.parts:
			take(part.data)
			if part.broken {
				// A lost connection makes the process useless.
				proc.kill(protocol)
				<-proc.gone
				return p.post(proc, c)
			}
			if part.end {
				return ending{failure: part.failure, records: c.records}
			}
		case <-hangUp:
			hangUp = nil
			if !errors.Is(ctx.Err(), context.Canceled) {
				continue
			}
			if cancelID == "" || proc.cancel(cancelID) != nil {
				proc.killDuring(c, cancelled)
				continue
			}
			if at := p.cfg.Now().Add(p.cfg.Grace); at.Before(killAt) {
				killAt, killFor = at, cancelled
			}
		case <-clock.C:
			left, room := killAt.Sub(p.cfg.Now()), p.cfg.MaxMemory-proc.usage.Resident()
			switch {
			case left <= 0:
				proc.killDuring(c, killFor)
			case room < 0:
				proc.killDuring(c, memory)
			default:
				clock.Reset(min(nextSample(room, proc.underCeiling(c, 2*p.cfg.MaxMemory)), left))
			}
		case <-proc.gone:
			if end, answered := drain(c, take); answered {
				return end
			}
			return p.post(proc, c)
		}
	}
}

// nextSample returns when to sample the memory of a process again that has some bytes left. ceiling reports whether
// the kernel bounds what the process can take until then.
func nextSample(room int64, ceiling bool) time.Duration {
	next := min(max(time.Duration(float64(room)/growth*float64(time.Second)), sampling), 4*sampling)
	if ceiling {
		next *= 4
	}
	return next
}

// drain reads what a process had sent before it ended. It reports whether that was a whole answer.
func drain(c *call, take func([]byte)) (ending, bool) {
	settled := time.NewTimer(settling)
	defer settled.Stop()
	begun := c.begun
	for {
		select {
		case <-begun:
			begun = nil
			settled.Reset(reading)
		case part := <-c.parts:
			take(part.data)
			if part.broken {
				return ending{}, false
			}
			if part.end {
				return ending{failure: part.failure, records: c.records}, true
			}
		case <-settled.C:
			return ending{}, false
		}
	}
}

// post returns the reason why a process ended without an answer.
func (p *Pool) post(proc *process, c *call) ending {
	why, how := proc.why()
	if (why == notKilled || why == protocol) && proc.printed.outOfMemory() { // its link ends before it does
		why = memory
	}
	return ending{cause: why, crash: how, unread: proc.unread(), cpu: proc.used(c)}
}

// ending returns how an execution ended whose process has ended.
func (e ending) ending() replystream.Ending {
	switch e.cause {
	case deadline:
		return replystream.TimedOut
	case memory:
		return replystream.OutOfMemory
	case cancelled:
		return replystream.Cancelled
	case shutdown:
		return replystream.Stopped
	}
	return replystream.Crashed
}
