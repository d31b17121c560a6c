package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/airlock-run/airlock/policy/depth"
	"github.com/airlock-run/airlock/policy/outbound"
	"github.com/airlock-run/airlock/policy/toolname"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// Tool is a function that the guest may call as the global namespace.method(params), an async function of one argument.
// Its name is "namespace:method", "namespace.method" or "namespace" (whose method is call); what is no letter, digit, _
// or $ becomes _. namespace.method.sync(params) is the same call, during which the guest stands still.
type Tool struct {
	Name, Description string
	// InputSchema and OutputSchema are JSON Schemas that parameters and results are held against; nil accepts anything.
	InputSchema, OutputSchema json.RawMessage
	// Timeout bounds one call; default 30 s. The run's own deadline holds anyway.
	Timeout time.Duration
	// Blocking makes namespace.method itself the synchronous call, whose value can be awaited as well.
	Blocking bool
	// Call answers; its parameters are "{}" when the guest gave none. When it is nil, URL is called: POST {"tool",
	// "params", "executionId"}, where the JSON of a 2xx answer is the value, and {"result": value} stands for the value.
	Call HostCall
	URL  string
	// Over, where Call is nil, makes it from the network that the tool may reach: what the run's own network is for the URL
	// of a tool, in what it lets through, counts and hides.
	Over func(network http.RoundTripper) func(ctx context.Context, params json.RawMessage) (json.RawMessage, error)
}

const (
	toolTimeout    = 30 * time.Second
	maxToolAnswer  = 4 << 20
	maxToolTrouble = 300 // bytes of an error message of a tool's server that the guest is shown
)

// CheckTool says what is wrong with a tool, beginning with the field in the wire's spelling: name, inputSchema,
// outputSchema or url.
func CheckTool(t Tool) error {
	_, err := newTool(t, depth.Default)
	return err
}

// ToolGlobal returns the global and its method by which the guest calls a tool; see [toolname.Global].
func ToolGlobal(name string) (namespace, method string) { return toolname.Global(name) }

// tool is a Tool whose schemas are compiled.
type tool struct {
	Tool
	input, output *schema
	memory        aside // of the run
	depth         int   // how deep parameters and answers may nest
}

func newTool(t Tool, most int) (*tool, error) {
	if err := toolname.Check(t.Name); err != nil {
		return nil, fmt.Errorf("name: %w", err)
	}
	input, err := newSchema(t.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("inputSchema: %w", err)
	}
	output, err := newSchema(t.OutputSchema)
	if err != nil {
		return nil, fmt.Errorf("outputSchema: %w", err)
	}
	if t.Call == nil && t.Over == nil && t.URL == "" {
		return nil, errors.New("url: is not set; a tool needs one to be called")
	}
	if t.Timeout <= 0 {
		t.Timeout = toolTimeout
	}
	return &tool{Tool: t, input: input, output: output, depth: most}, nil
}

// call makes one call. Whatever goes wrong is an *opError that names the tool, or a *limitError.
func (t *tool) call(ctx context.Context, params string) (json.RawMessage, error) {
	fail := func(name, format string, args ...any) error {
		return &opError{name, "tool " + t.Name + ": " + fmt.Sprintf(format, args...)}
	}
	if len(params) > maxParamBytes {
		return nil, fail("TypeError", "the parameters have %d bytes; at most %d are accepted", len(params), maxParamBytes)
	}
	if path := depth.Over([]byte(params), "params", t.depth); path != "" {
		return nil, fail("RangeError", "%s", depth.Message("the value of the parameters", path, t.depth))
	}
	if !json.Valid([]byte(params)) {
		return nil, fail("TypeError", "the parameters are not valid JSON")
	}
	var limit *limitError
	if err := t.fits(ctx, t.input, json.RawMessage(params)); errors.As(err, &limit) {
		return nil, limit
	} else if err != nil {
		return nil, fail("TypeError", "the parameters do not fit: %v", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, t.Timeout, errToolTimeout)
	defer cancel()
	out, err := t.answered(ctx, json.RawMessage(params))
	switch {
	case errors.As(err, &limit):
		return nil, limit
	case err != nil && errors.Is(context.Cause(ctx), errToolTimeout):
		return nil, fail("Error", "no answer within %v", t.Timeout)
	case err != nil:
		return nil, fail("Error", "%s", err.Error())
	case len(out) == 0:
		out = json.RawMessage("null")
	}
	if len(out) > maxToolAnswer {
		return nil, fail("Error", "the answer has %d bytes; at most %d are accepted", len(out), maxToolAnswer)
	}
	if path := depth.Over(out, "answer", t.depth); path != "" {
		return nil, fail("RangeError", "%s", depth.Message("the answer", path, t.depth))
	}
	if !json.Valid(out) {
		return nil, fail("Error", "the answer is not valid JSON")
	}
	if err := t.fits(ctx, t.output, out); errors.As(err, &limit) {
		return nil, limit
	} else if err != nil {
		return nil, fail("Error", "the answer does not fit: %v", err)
	}
	return out, nil
}

// fits checks a value against a schema, nil for none.
func (t *tool) fits(ctx context.Context, s *schema, text json.RawMessage) error {
	if s == nil {
		return nil
	}
	held, err := hold(t.memory, decodedBytes(text))
	if err != nil {
		return err
	}
	defer held.drop()
	return s.check(ctx, text)
}

var errToolTimeout = errors.New("the tool takes too long")

// answered calls, and waits no longer than ctx even when the callee does.
func (t *tool) answered(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	return beside(ctx, func() (json.RawMessage, error) { return t.Call(ctx, params) })
}

// beside calls f on a goroutine of its own, and waits no longer than ctx.
func beside(ctx context.Context, f func() (json.RawMessage, error)) (json.RawMessage, error) {
	type outcome struct {
		out json.RawMessage
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		defer func() {
			if recover() != nil {
				done <- outcome{err: errors.New("the call failed")}
			}
		}()
		out, err := f()
		done <- outcome{out, err}
	}()
	select {
	case o := <-done:
		return o.out, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// httpCall gives the HostCall of a tool that is a URL.
func httpCall(t Tool, e *egress, executionID string) HostCall {
	return func(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
		body, err := json.Marshal(struct {
			Tool        string          `json:"tool"`
			Params      json.RawMessage `json:"params"`
			ExecutionID string          `json:"executionId"`
		}{t.Name, params, executionID})
		if err != nil {
			return nil, errors.New("the parameters cannot be sent")
		}
		in, err := e.do(ctx, outgoing{
			method: "POST", url: t.URL, body: body, redirect: "follow", forTool: true,
			header: [][2]string{{"Content-Type", "application/json"}, {"Accept", "application/json"}},
		})
		if err != nil {
			var op *opError
			if errors.As(err, &op) {
				return nil, errors.New(strings.TrimPrefix(op.message, "fetch failed: "))
			}
			return nil, err
		}
		held, err := hold(e.memory, outbound.StreamBuffer+2*int64(len(params)))
		if err != nil {
			return nil, err
		}
		defer held.drop()
		var text []byte
		if in.body != nil {
			defer in.body.Close() // it was read as far as is wanted
			if text, err = held.readAll(in.body, maxToolAnswer+1); err != nil {
				var limit *limitError
				if errors.As(err, &limit) {
					return nil, limit
				}
				return nil, errors.New("the answer ended early")
			}
		}
		if in.status < 200 || in.status > 299 {
			return nil, errors.New(trouble(in.status, text))
		}
		return unwrapped(text), nil
	}
}

// unwrapped gives what stands in {"result": value}, or text itself.
func unwrapped(text []byte) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) == nil && len(members) == 1 && members["result"] != nil {
		return members["result"]
	}
	return text
}

// trouble words an answer that is not 2xx, with the server's own message where it gives one.
func trouble(status int, text []byte) string {
	line := fmt.Sprintf("the tool's server answered %d", status)
	var said struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(text, &said) != nil {
		return line
	}
	var inner struct {
		Message string `json:"message"`
	}
	for _, into := range []any{&said.Message, &inner} {
		if json.Unmarshal(said.Error, into) == nil {
			break
		}
	}
	if said.Message == "" {
		said.Message = inner.Message
	}
	if said.Message == "" {
		return line
	}
	return line + ": " + strings.ToValidUTF8(cutBytes(said.Message, maxToolTrouble), "")
}

// toolOp is a tool's synchronous form: tool(name, params). The guest stands still, the deadline does not.
func (r *run) toolOp(c *call, args []quickjs.Value) (quickjs.Value, error) {
	name, ok := c.word(args[0], 256)
	t := r.tools[name]
	if !ok || t == nil {
		return 0, &opError{"TypeError", "no such tool"}
	}
	params, ok, err := c.str(args[1], maxParamBytes)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, &opError{"TypeError", "tool " + name + ": the parameters are too large"}
	}
	r.outside.reach()
	if r.apiCalls++; r.apiCalls > r.limits.APICalls {
		return 0, r.limits.exceeded(LimitAPICalls)
	}
	ctx, cancel := context.WithTimeoutCause(r.opsCtx, r.limits.Wall-r.elapsed(), errWall)
	defer cancel()
	if err := c.work(len(params)); err != nil {
		return 0, err
	}
	out, err := r.callTool(ctx, t, params)
	switch {
	case errors.Is(err, errDiverged):
		return 0, err
	case errors.Is(context.Cause(ctx), errWall):
		return 0, r.limits.exceeded(LimitWall)
	case r.ctx.Err() != nil:
		return 0, r.ctx.Err()
	case err != nil:
		return 0, err
	}
	held, err := hold(r, int64(len(out)))
	if err != nil {
		return 0, err
	}
	defer held.drop()
	return c.in.ParseJSON(out)
}

var errWall = errors.New("the run's time is over")
