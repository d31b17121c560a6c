package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/policy/audit"
)

// maxErrorBytes bounds the text of an error with which a caller answers a call.
const maxErrorBytes = 1000

// calls are one execution's calls of the tools of its caller. They are safe for concurrent use.
type calls struct {
	log *Log

	mu      sync.Mutex
	last    int // the seq of the last call
	waiting map[int]*waiting
}

// waiting is a call without an answer.
type waiting struct {
	answered chan answer // has room for the one answer
	tried    bool        // somebody has tried to answer
}

// answer is a value or an error.
type answer struct {
	value json.RawMessage
	err   error
}

// call publishes an event for the caller and waits for the answer. It implements execution.CallTool.
func (c *calls) call(ctx context.Context, tool string, params json.RawMessage) (json.RawMessage, error) {
	w := &waiting{answered: make(chan answer, 1)}
	c.mu.Lock()
	c.last++
	seq := c.last
	c.waiting[seq] = w
	c.mu.Unlock()
	defer c.drop(seq)
	body, err := callEvent(seq, tool, params)
	if err != nil {
		return nil, errors.New("the parameters are not valid JSON")
	}
	if err := c.log.Publish(ctx, "call", body); err != nil {
		return nil, err
	}
	select {
	case a := <-w.answered:
		return a.value, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// callEvent returns the data of an event, which is one line whatever the parameters are, and writes < as it is. Valid
// parameters in one line are copied, because formatting them takes as long again: the calls of an execution may have
// megabytes of parameters.
func callEvent(seq int, tool string, params json.RawMessage) ([]byte, error) {
	event := struct {
		Seq    int             `json:"seq"`
		Tool   string          `json:"tool"`
		Params json.RawMessage `json:"params"`
	}{seq, tool, params}
	if bytes.IndexByte(params, '\n') >= 0 || bytes.IndexByte(params, '\r') >= 0 ||
		!jsontext.Value(params).IsValid(jsontext.AllowDuplicateNames(true)) {
		return audit.Encode(event)
	}
	event.Params = json.RawMessage("0")
	b, err := audit.Encode(event)
	if err != nil {
		return nil, err
	}
	b = b[:len(b)-len("0}")]
	out := make([]byte, 0, len(b)+len(params)+1)
	return append(append(append(out, b...), params...), '}'), nil
}

func (c *calls) drop(seq int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, seq)
}

// firstTry reports whether a call waits and nobody has tried to answer it. It counts as a try.
func (c *calls) firstTry(seq int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.waiting[seq]
	if w == nil || w.tried {
		return false
	}
	w.tried = true
	return true
}

// answer hands an answer to its call.
func (c *calls) answer(seq int, a answer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.waiting[seq]
	switch {
	case w != nil:
		delete(c.waiting, seq)
		w.answered <- a
		return nil
	case seq > c.last:
		return noCall(seq)
	}
	return &api.Problem{
		Status: 409, Code: "call_over",
		Detail: "call " + strconv.Itoa(seq) + " no longer waits for an answer: it was answered or timed out",
	}
}

func noCall(seq int) error {
	return api.NotFound("the execution has made no call " + strconv.Itoa(seq))
}

// Limited returns limit, the middleware that counts requests, for the route of answers. It does not count the first
// answer to a waiting call, because the limits of the execution bound its calls.
func (h *Handlers) Limited(limit fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if f, seq, err := h.callOf(c); err == nil && f.calls.firstTry(seq) {
			return c.Next()
		}
		return limit(c)
	}
}

// Answer serves POST /api/executions/{id}/calls/{seq}: the caller's answer to a call of one of its tools.
func (h *Handlers) Answer(c *fiber.Ctx) error {
	f, seq, err := h.callOf(c)
	if err != nil {
		return err
	}
	if err := api.RequireJSON(c); err != nil {
		return err
	}
	a, err := api.Decode(c, h.Turns, decodeAnswer)
	if err != nil {
		return err
	}
	if err := f.calls.answer(seq, a); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// callOf returns the execution and the number of the call that a request answers. An execution of another owner is not
// found.
func (h *Handlers) callOf(c *fiber.Ctx) (*followed, int, error) {
	f, ok := h.Running.find(api.Param(c, "id"))
	if !ok || f.owner != api.CallerOf(c).Owner() {
		return nil, 0, api.NotFound("there is no streamed execution with this id here, or it ended a while ago")
	}
	seq, err := strconv.Atoi(api.Param(c, "seq"))
	if err != nil || seq < 1 {
		return nil, 0, api.Invalid("seq", "must be the number of a call, which is the seq of its event")
	}
	return f, seq, nil
}

// decodeAnswer reads {"value": any JSON} or {"error": "text"}. It shares no memory with body.
func decodeAnswer(body []byte) (answer, error) {
	rest, taken, err := execution.TakeMembers(body, "error")
	if err != nil {
		return answer{}, err
	}
	members, err := execution.Members(rest)
	if err != nil {
		return answer{}, err
	}
	text, failed := taken["error"]
	switch {
	case len(members) > 1 || len(members) == 1 && members[0].Name != "value":
		return answer{}, api.Invalid("", "the body must be {value} or {error}, and nothing else")
	case failed == (len(members) == 1):
		return answer{}, api.Invalid("value", "or error must be given, and not both")
	case !failed:
		value := append(json.RawMessage(nil), members[0].Value...)
		if !execution.ValidJSON(value) {
			return answer{}, api.Invalid("value", "must be JSON")
		}
		return answer{value: value}, nil
	}
	var message string
	if err := execution.DecodeMember("error", text, &message, "the text of an error"); err != nil {
		return answer{}, err
	}
	if message == "" || len(message) > maxErrorBytes {
		return answer{}, api.Invalid("error", fmt.Sprintf("must have 1 to %d bytes", maxErrorBytes))
	}
	return answer{err: errors.New(message)}, nil
}
