package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync/atomic"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/hostops/crypto"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// requests are the asynchronous operations of a run: internal.request(name, payload) returns a promise, and the host
// works on a goroutine of its own.
type requests struct {
	ctx context.Context // ends with the run
	// counted are the operations that count as API calls. followUps continue one of them and do not count.
	counted, followUps map[string]hostops.Request

	completions chan completion
	outstanding int // requests that the guest waits for
	// open are their IDs, and lost those of an earlier segment.
	open    map[int32]bool
	lost    []int32
	calls   int // API calls
	running atomic.Int64
}

// completion is a request that the host has finished. held is what was charged for it. seq is the number of the durable
// wait that it may become.
type completion struct {
	id     int32
	seq    int
	answer hostops.Answer
	err    error
	held   int64
}

const (
	// maxPayload bounds the payload of a request, in UTF-16 units. Tools and fetch take less.
	maxPayload = 16 << 20
	// requestRoom is the memory that a waiting request takes besides its payload: a goroutine and table entries.
	requestRoom = 16 << 10
)

// begin makes the context of the run's operations and returns what ends it.
func (q *requests) begin(ctx context.Context) (end context.CancelFunc) {
	q.ctx, end = context.WithCancel(ctx)
	return end
}

// countCall counts an API call.
func (r *run) countCall() error {
	if r.requests.calls++; r.requests.calls > r.limits.APICalls {
		return r.limits.exceeded(LimitAPICalls)
	}
	return nil
}

// request starts an asynchronous operation.
func (r *run) request(in hostops.Guest, a quickjs.Args) error {
	c := r.ops.Begin(in)
	defer c.End()
	id, ok := a[1].Int()
	name, ok1 := c.Word(a[2], maxOpName)
	payload, ok2, err := c.Str(a[3], maxPayload)
	if err != nil {
		return err
	}
	if !ok || !ok1 || !ok2 {
		return nil // the library makes no such call
	}
	hash, err := hashOf(c, payload)
	if err != nil {
		return err
	}
	r.outside.taint()
	q := &r.requests
	op, counted := q.counted[name]
	if !counted {
		op = q.followUps[name]
	}
	held := requestRoom + int64(len(payload))
	if !r.outside.tape.Playing() {
		if err := r.memory.ChargeAside(held); err != nil {
			return err
		}
	}
	q.outstanding++
	if q.open == nil {
		q.open = map[int32]bool{}
	}
	q.open[id] = true
	r.outside.tape.Asked(id, name, hash)
	seq := r.waits.number(name)
	if counted {
		if err := r.countCall(); err != nil {
			return err
		}
	}
	if r.outside.tape.Playing() {
		return nil // the journal has the answer
	}
	if op == nil {
		op = func(context.Context, string) (hostops.Answer, error) { return hostops.Answer{}, errNotGranted(name) }
	}
	q.start(completion{id: id, seq: seq, held: held}, &r.memory, func(ctx context.Context) (hostops.Answer, error) {
		return op(ctx, payload)
	})
	return nil
}

// start works on a request on a goroutine of its own. c is its completion without the answer.
func (q *requests) start(
	c completion, memory hostops.Background, op func(ctx context.Context) (hostops.Answer, error),
) {
	if q.completions == nil {
		q.completions = make(chan completion)
	}
	q.running.Add(1)
	go q.serve(c, memory, op)
}

// serve works on a request.
func (q *requests) serve(
	c completion, memory hostops.Background, op func(ctx context.Context) (hostops.Answer, error),
) {
	defer q.running.Add(-1)
	c.answer, c.err = op(q.ctx)
	room := int64(len(c.answer.JSON) + len(c.answer.Bytes))
	if limit := memory.ChargeAside(room); limit != nil {
		c.answer, c.err, room = hostops.Answer{}, limit, 0
	}
	c.held += room
	select {
	case q.completions <- c:
	case <-q.ctx.Done():
	}
}

// finished counts a request that was answered.
func (q *requests) finished(id int32) {
	q.outstanding--
	delete(q.open, id)
}

// hashOf returns a short hash of a text, whose work it announces.
func hashOf(c *hostops.Call, text string) (string, error) {
	h := sha256.New()
	if err := crypto.Absorb(c, h, hostops.BytesOf(text)); err != nil {
		return "", err
	}
	return shortHash(h.Sum(nil)), nil
}

func shortHash(sum []byte) string { return hex.EncodeToString(sum[:8]) }

// recordedError returns the form of an error in a journal, nil for none: the name and the message of an exception, or
// "limit" and the name of the limit, which ends a repeated run by itself.
func recordedError(err error) *[2]string {
	if err == nil {
		return nil
	}
	if limit := hostops.AsLimit(err); limit != nil {
		return &[2]string{"limit", limit.Limit}
	}
	e := hostops.AsException(err)
	return &[2]string{e.Name, e.Message}
}

// playedError returns the error that recordedError recorded.
func (l Limits) playedError(recorded *[2]string) error {
	if recorded == nil {
		return nil
	}
	if recorded[0] == "limit" {
		return l.exceeded(Limit(recorded[1]))
	}
	return hostops.Throw(recorded[0], recorded[1])
}
