package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/airlock-run/airlock/policy/depth"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/stdlib"
)

// A guest reaches the host's powers in two ways, both over the one host call and both by the name of an operation:
//
//   - internal.sync(name, …) is answered before it returns: computation that Go does better (hashes, URLs, encodings).
//   - internal.request(name, payload) gives a promise: the host works on a goroutine of its own (fetch, tools).
//
// Which names exist for a run is decided here, from its grants alone (and web.go: computation is every guest's). A name
// that is not there is refused whatever the guest did to get at the host call.

// syncOp answers a synchronous operation. args are the guest's, from hostile memory. The guest sees an *opError as a
// JavaScript exception; any other error ends the run.
type syncOp func(c *call, args []quickjs.Value) (quickjs.Value, error)

// asyncOp works on a request. ctx ends with the run. What it returns resolves the guest's promise: JSON, or bytes as an
// ArrayBuffer. An error rejects it: an *opError with its name, any other with its text.
type asyncOp func(ctx context.Context, payload string) (answer, error)

// answer is what an asyncOp gives: JSON, or Bytes when it is not nil.
type answer struct {
	JSON  json.RawMessage
	Bytes []byte
}

// opError is an exception for the guest. Its text must be fit for guests.
type opError struct{ name, message string }

func (e *opError) Error() string { return e.name + ": " + e.message }

// maxPayload bounds a request's payload, in UTF-16 units. Tools and fetch take less of it.
const maxPayload = 16 << 20

// requestRoom is what a request that waits for its answer takes besides its payload: a goroutine and its place in tables.
const requestRoom = 16 << 10

// completion is a request that the host has finished. held is what was charged for it.
type completion struct {
	id     int32
	answer answer
	err    error
	held   int64
}

// request starts an asynchronous operation.
func (r *run) request(in *quickjs.Instance, a quickjs.Args) error {
	c := &call{run: r, in: in}
	defer c.end()
	id, ok := a[1].Int()
	name, ok1 := c.word(a[2], 256)
	payload, ok2, err := c.str(a[3], maxPayload)
	if err != nil {
		return err
	}
	if !ok || !ok1 || !ok2 {
		return nil // nothing of ours makes such a call
	}
	hash, err := c.hashOf(payload)
	if err != nil {
		return err
	}
	r.outside.reach()
	if r.replay != nil {
		return r.askAgain(id, name, hash)
	}
	op, granted := r.followUps[name]
	counted := !granted
	if counted {
		op, granted = r.async[name]
	}
	if r.completions == nil {
		r.completions = make(chan completion)
	}
	held := requestRoom + int64(len(payload))
	if err := r.chargeAside(held); err != nil {
		return err
	}
	r.outstanding++
	if r.asked == nil {
		r.asked = map[int32][2]string{}
	}
	r.asked[id] = [2]string{name, hash}
	r.requests.Add(1)
	done := func(ans answer, err error) {
		defer r.requests.Add(-1)
		room := int64(len(ans.JSON) + len(ans.Bytes))
		if limit := r.chargeAside(room); limit != nil {
			ans, err, room = answer{}, limit, 0
		}
		select {
		case r.completions <- completion{id, ans, err, held + room}:
		case <-r.opsCtx.Done():
		}
	}
	if !granted {
		go done(answer{}, &opError{"TypeError", fmt.Sprintf("%s is not available to this execution", name)})
		return nil
	}
	if counted {
		if r.apiCalls++; r.apiCalls > r.limits.APICalls {
			r.requests.Add(-1)
			return r.limits.exceeded(LimitAPICalls)
		}
	}
	go func() { done(op(r.opsCtx, payload)) }()
	return nil
}

// hashOf is hashOfText, whose work is announced.
func (c *call) hashOf(text string) (string, error) {
	h := sha256.New()
	if err := c.absorb(h, bytesOf(text)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// settle tells the guest what became of a request.
func (r *run) settle(in *quickjs.Instance, image *quickjs.Image, c completion) error {
	r.outstanding--
	r.releaseAside(c.held)
	r.recordAnswer(c)
	if path := depth.Over(c.answer.JSON, "answer", r.limits.Depth); path != "" && c.err == nil {
		c.err = &opError{"RangeError", depth.Message("the answer", path, r.limits.Depth)}
	}
	var limit *limitError
	if errors.As(c.err, &limit) {
		return limit
	}
	var value quickjs.Value
	var err error
	failed := quickjs.Int(0)
	switch {
	case c.err != nil:
		failed = quickjs.Int(1)
		value, err = errorValue(in, c.err)
	case c.answer.Bytes != nil:
		value, err = in.Bytes(c.answer.Bytes)
	case len(c.answer.JSON) == 0:
		value = quickjs.Undefined
	default:
		value, err = in.ParseJSON(c.answer.JSON)
	}
	if err != nil {
		return err
	}
	return r.guest(in, image.Root(stdlib.RootSettle), quickjs.Int(c.id), failed, value)
}

// operation returns the synchronous operation of a name: every guest's, or one that the run was granted.
func (r *run) operation(name string) syncOp {
	if op := platform[name]; op != nil {
		return op
	}
	return r.syncOps[name]
}

// sync answers a synchronous operation. What it throws crosses as {"$error": [name, message]}.
func (r *run) sync(in *quickjs.Instance, a quickjs.Args) (quickjs.Value, error) {
	name, ok := in.Str(a[1], 256)
	op := r.operation(name)
	if !ok || op == nil {
		return errorValue(in, &opError{"TypeError", fmt.Sprintf("%s is not available to this execution", name)})
	}
	c := &call{run: r, in: in}
	defer c.end()
	if err := c.work(opWork); err != nil {
		return 0, err
	}
	v, err := op(c, a[2:])
	var refused *opError
	if err != nil && asOpError(err, &refused) {
		v, err = errorValue(in, refused)
	}
	if err == nil && r.unpolled >= quantum {
		err = r.Poll(in)
	}
	return v, err
}

func asOpError(err error, target **opError) bool {
	e, ok := err.(*opError) // made by the operation itself, never wrapped
	if ok {
		*target = e
	}
	return ok
}

func errorValue(in *quickjs.Instance, err error) (quickjs.Value, error) {
	e := &opError{"Error", err.Error()}
	asOpError(err, &e)
	text, marshalErr := json.Marshal(map[string][2]string{"$error": {e.name, e.message}})
	if marshalErr != nil {
		return 0, marshalErr
	}
	return in.ParseJSON(text)
}
