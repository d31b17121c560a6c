package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

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
	_, err := newTool(t)
	return err
}

// ToolGlobal gives the names by which the guest calls a tool: the global and its method.
func ToolGlobal(name string) (namespace, method string) {
	separator := "."
	if strings.Contains(name, ":") {
		separator = ":"
	}
	namespace, method, _ = strings.Cut(name, separator)
	if method = sanitized(strings.ReplaceAll(method, separator, "_")); method == "" {
		method = "call"
	}
	return sanitized(namespace), method
}

// sanitized works on UTF-16 units, as the JavaScript that these rules come from did.
func sanitized(name string) string {
	var out strings.Builder
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '$':
			out.WriteRune(r)
		case r > 0xffff:
			out.WriteString("__")
		default:
			out.WriteByte('_')
		}
	}
	return out.String()
}

// tool is a Tool whose schemas are compiled.
type tool struct {
	Tool
	input, output *schema
}

func newTool(t Tool) (*tool, error) {
	namespace, _ := ToolGlobal(t.Name)
	if namespace == "" || len(t.Name) > 256 {
		return nil, errors.New("name: must be \"namespace:method\" or \"namespace.method\"")
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
	return &tool{t, input, output}, nil
}

// call makes one call. Whatever goes wrong is an *opError that names the tool, or a *limitError.
func (t *tool) call(ctx context.Context, params string) (json.RawMessage, error) {
	fail := func(name, format string, args ...any) error {
		return &opError{name, "tool " + t.Name + ": " + fmt.Sprintf(format, args...)}
	}
	if len(params) > maxParamBytes {
		return nil, fail("TypeError", "the parameters have %d bytes; at most %d are accepted", len(params), maxParamBytes)
	}
	if err := checkJSON([]byte(params), maxParamDepth); err != nil {
		return nil, fail("TypeError", "the parameters' JSON %v", err)
	}
	if t.input != nil {
		if err := t.input.check(json.RawMessage(params)); err != nil {
			return nil, fail("TypeError", "the parameters do not fit: %v", err)
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, t.Timeout, errToolTimeout)
	defer cancel()
	out, err := t.answered(ctx, json.RawMessage(params))
	var limit *limitError
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
	if err := checkJSON(out, maxParamDepth); err != nil {
		return nil, fail("Error", "the answer %v", err)
	}
	if t.output != nil {
		if err := t.output.check(out); err != nil {
			return nil, fail("Error", "the answer does not fit: %v", err)
		}
	}
	return out, nil
}

var errToolTimeout = errors.New("the tool takes too long")

// answered calls, and waits no longer than ctx even when the callee does.
func (t *tool) answered(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
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
		out, err := t.Call(ctx, params)
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
		var text []byte
		if in.body != nil {
			defer in.body.Close() // it was read as far as is wanted
			if text, err = io.ReadAll(io.LimitReader(in.body, maxToolAnswer+1)); err != nil {
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
func (r *run) toolOp(_ *run, in *quickjs.Instance, args []quickjs.Value) (quickjs.Value, error) {
	name, ok := in.Str(args[0], 256)
	t := r.tools[name]
	if !ok || t == nil {
		return 0, &opError{"TypeError", "no such tool"}
	}
	params, ok := in.Str(args[1], maxPayload)
	if !ok {
		return 0, &opError{"TypeError", "tool " + name + ": the parameters are too large"}
	}
	r.impure = true
	if r.apiCalls++; r.apiCalls > r.limits.APICalls {
		return 0, r.limits.exceeded(LimitAPICalls)
	}
	ctx, cancel := context.WithTimeoutCause(r.opsCtx, r.limits.Wall-r.elapsed(), errWall)
	defer cancel()
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
	return in.ParseJSON(out)
}

var errWall = errors.New("the run's time is over")
