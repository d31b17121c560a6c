package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

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
type syncOp func(r *run, in *quickjs.Instance, args []quickjs.Value) (quickjs.Value, error)

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

// maxPayload bounds a request's payload, in UTF-16 units.
const maxPayload = 16 << 20

// completion is a request that the host has finished.
type completion struct {
	id     int32
	answer answer
	err    error
}

// request starts an asynchronous operation.
func (r *run) request(in *quickjs.Instance, a quickjs.Args) error {
	id, ok := a[1].Int()
	name, ok1 := in.Str(a[2], 256)
	payload, ok2 := in.Str(a[3], maxPayload)
	if !ok || !ok1 || !ok2 {
		return nil // nothing of ours makes such a call
	}
	r.impure = true
	if r.replay != nil {
		return r.askAgain(id, name, payload)
	}
	op, granted := r.followUps[name]
	counted := !granted
	if counted {
		op, granted = r.async[name]
	}
	if r.completions == nil {
		r.completions = make(chan completion)
	}
	r.outstanding++
	if r.asked == nil {
		r.asked = map[int32][2]string{}
	}
	r.asked[id] = [2]string{name, hashOfText(payload)}
	done := func(ans answer, err error) {
		select {
		case r.completions <- completion{id, ans, err}:
		case <-r.opsCtx.Done():
		}
	}
	if !granted {
		go done(answer{}, &opError{"TypeError", fmt.Sprintf("%s is not available to this execution", name)})
		return nil
	}
	if counted {
		if r.apiCalls++; r.apiCalls > r.limits.APICalls {
			return r.limits.exceeded(LimitAPICalls)
		}
	}
	go func() { done(op(r.opsCtx, payload)) }()
	return nil
}

// settle tells the guest what became of a request.
func (r *run) settle(in *quickjs.Instance, image *quickjs.Image, c completion) error {
	r.outstanding--
	r.recordAnswer(c)
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

// sync answers a synchronous operation. What it throws crosses as {"$error": [name, message]}.
func (r *run) sync(in *quickjs.Instance, a quickjs.Args) (quickjs.Value, error) {
	name, ok := in.Str(a[1], 256)
	op := platform[name]
	if op == nil {
		op = r.syncOps[name]
	}
	if op == nil {
		op = nodeOps(name)
	}
	if !ok || op == nil {
		return errorValue(in, &opError{"TypeError", fmt.Sprintf("%s is not available to this execution", name)})
	}
	v, err := op(r, in, a[2:])
	var refused *opError
	if err != nil && asOpError(err, &refused) {
		return errorValue(in, refused)
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
