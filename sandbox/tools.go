package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/airlock-run/airlock/policy/toolinput"
	"github.com/airlock-run/airlock/sandbox/internal/egress"
	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/journal"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/internal/snapshot"
	"github.com/airlock-run/airlock/sandbox/internal/tool"
)

// config returns the tool as package tool has it. Call must be set, unless the tool is durable.
func (t Tool) config(depth int, memory hostops.Background) tool.Config {
	if t.Durable && t.Call == nil {
		t.Call = func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, errNobody }
	}
	return tool.Config{
		Name: t.Name, InputSchema: t.InputSchema, OutputSchema: t.OutputSchema, Timeout: t.Timeout, Call: tool.Func(t.Call),
		Depth: depth, Memory: memory,
	}
}

// errNobody is the error of a direct call of a durable tool.
var errNobody = errors.New("a durable tool has no endpoint")

// toolset are the tools of a run, by name.
type toolset map[string]*tool.Tool

func (r *run) grantTools(executionID string, client *egress.Client, told *setup) error {
	g := &r.grants
	if len(g.Tools) == 0 {
		return nil
	}
	all := make([]Tool, 0, len(g.Tools))
	for _, t := range g.Tools {
		switch {
		case t.Call != nil, t.Durable:
		case t.CallVia != nil:
			t.Call = t.CallVia(client.RoundTripper())
		case t.URL != "":
			t.Call = ToolFunc(tool.HTTP(client, t.Name, t.URL, executionID))
		}
		all = append(all, t)
	}
	tools, inline := make(toolset, len(all)), make(toolset, len(all))
	seen := map[[2]string]string{}
	for _, t := range all {
		made, err := tool.New(t.config(r.limits.Depth, &r.memory))
		if err != nil {
			return fmt.Errorf("tool %q: %w", t.Name, err)
		}
		namespace, method := ToolGlobal(t.Name)
		if other, taken := seen[[2]string{namespace, method}]; taken {
			return fmt.Errorf("tools %q and %q are both called as %s.%s", other, t.Name, namespace, method)
		}
		seen[[2]string{namespace, method}] = t.Name
		tools[t.Name] = made
		call := func(ctx context.Context, payload string) (hostops.Answer, error) {
			out, err := made.Call(ctx, payload)
			return hostops.Answer{JSON: out}, err
		}
		call = r.waits.asking(t.Name, call)
		waits := r.waits.grantDurable(&r.requests, t, made, call)
		if !waits {
			r.requests.counted["tool:"+t.Name], inline[t.Name] = call, made
		}
		told.Tools = append(told.Tools, setupTool{namespace, method, t.Name, t.Blocking && !waits, t.AnyMethod})
	}
	r.waits.tools = tools
	r.powers.sync["tool"] = func(c *hostops.Call, args []quickjs.Value) (quickjs.Value, error) {
		return inline.call(r, c, args)
	}
	return nil
}

// call answers tool(name, params), the synchronous call of a tool. The guest stands still, its deadline does not.
func (t toolset) call(r *run, c *hostops.Call, args []quickjs.Value) (quickjs.Value, error) {
	name, ok := c.Word(args[0], maxOpName)
	named := t[name]
	if ok && named == nil && r.waits.tools[name] != nil {
		return 0, hostops.Throwf("TypeError", "tool %s waits for an answer: call it without sync, and await the call", name)
	}
	if !ok || named == nil {
		return 0, hostops.Throw("TypeError", "no such tool")
	}
	params, ok, err := c.Str(args[1], tool.MaxParams)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, hostops.Throw("TypeError", "tool "+name+": the parameters are too large")
	}
	r.outside.taint()
	if err := r.countCall(); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeoutCause(r.requests.ctx, r.limits.Wall-r.outside.elapsed(), errWall)
	defer cancel()
	if err := c.Work(len(params)); err != nil {
		return 0, err
	}
	out, err := callTool(ctx, r, named, params)
	switch {
	case errors.Is(err, journal.ErrDiverged):
		return 0, err
	case errors.Is(context.Cause(ctx), errWall):
		return 0, r.limits.exceeded(LimitWall)
	case r.ctx.Err() != nil:
		return 0, r.ctx.Err()
	case err != nil:
		return 0, err
	}
	held, err := hostops.Hold(&r.memory, int64(len(out)))
	if err != nil {
		return 0, err
	}
	defer held.Drop()
	return c.In.ParseJSON(out)
}

var errWall = errors.New("the run's time is over")

// callTool calls a tool and records the answer, or plays back what it answered when the run was recorded.
func callTool(ctx context.Context, r *run, t *tool.Tool, params string) (json.RawMessage, error) {
	sum := sha256.Sum256([]byte(params))
	ask := shortHash(sum[:])
	tape := &r.outside.tape
	if tape.Playing() {
		e, err := tape.PlayCall(t.Name(), ask)
		if err != nil {
			return nil, err
		}
		return e.JSON, r.limits.playedError(e.Error)
	}
	out, err := tool.Beside(ctx, func() (json.RawMessage, error) { return t.Call(ctx, params) })
	tape.Called(t.Name(), ask, out, recordedError(err))
	return out, err
}

// A tool may ask a person for input while it is called. The call becomes a durable wait, and is made again with what
// the person answers.

// rejected is the name of the error by which a person refuses. A tool that asked learns of it.
const rejected = "RejectedError"

// asked is the part of a call that a wait for input keeps, as JSON in its Args. The wait's Name is the name of the
// tool.
type asked struct {
	Params string          `json:"params"`
	State  json.RawMessage `json:"state"`
}

// forInput reports whether a tool's call waits for a person's input.
func forInput(x *snapshot.Wait) bool { return x.Kind == waitApproval && x.Tool == "" && x.Name != "" }

// asking lets the calls of a tool wait for input, if the run may wait.
func (w *waits) asking(name string, call hostops.Request) hostops.Request {
	if w.granted.MaxPending <= 0 {
		return call
	}
	return func(ctx context.Context, payload string) (hostops.Answer, error) {
		if _, ok := toolinput.Of(ctx); !ok {
			ctx = toolinput.With(ctx, toolinput.Round{})
		}
		answer, err := call(ctx, payload)
		request := (*toolinput.Request)(nil)
		if !errors.As(err, &request) {
			return answer, err
		}
		q := wish{Title: request.Title, Detail: request.Detail, Schema: request.Schema}
		if err := q.check(); err != nil {
			return hostops.Answer{}, hostops.Throwf("Error", "tool %s: it asked for input that cannot be given: %s", name,
				hostops.AsException(err).Message)
		}
		args, err := json.Marshal(asked{payload, request.State})
		if err != nil {
			return hostops.Answer{}, hostops.Throw("Error", "tool "+name+": it asked for input without a valid state")
		}
		return hostops.Answer{}, &pendingError{snapshot.Wait{
			Kind: waitApproval, Name: name, Title: q.Title, Detail: q.Detail, Schema: q.Schema, Args: args,
		}}
	}
}

// callWithInput calls a tool again with the input that it asked for.
func (r eventLoop) callWithInput(x snapshot.Wait, a Answer) error {
	response := a.Args
	if !a.Call {
		given := toolinput.Response{Action: toolinput.Accept, Content: a.Value}
		if a.Error != "" {
			given = toolinput.Response{Action: toolinput.Decline}
		}
		var err error
		if response, err = json.Marshal(given); err != nil {
			return err
		}
	}
	var of asked
	round := toolinput.Round{Response: &toolinput.Response{}}
	if err := errors.Join(json.Unmarshal(x.Args, &of), json.Unmarshal(response, round.Response)); err != nil {
		return fmt.Errorf("%w: wait %d: %w", ErrSnapshot, x.Seq, err)
	}
	round.State = of.State
	return r.callAgain(x, x.Name, response, func(ctx context.Context, call hostops.Request) (hostops.Answer, error) {
		return call(toolinput.With(ctx, round), of.Params)
	})
}

// callAgain makes the call that the recorded answer to x asks for.
func (r eventLoop) callAgain(
	x snapshot.Wait, toolName string, answer json.RawMessage,
	with func(ctx context.Context, call hostops.Request) (hostops.Answer, error),
) error {
	name, tape := "tool:"+toolName, &r.outside.tape
	sum := sha256.Sum256(answer)
	r.requests.outstanding++
	if !tape.Playing() {
		tape.Decided(x.Seq, true, answer, nil)
	}
	tape.Asked(x.ID, name, shortHash(sum[:]))
	if tape.Playing() {
		return nil
	}
	held := requestRoom + int64(len(answer))
	if err := r.memory.ChargeAside(held); err != nil {
		return err
	}
	op := r.waits.approved[name]
	if op == nil && !r.waits.durable[name] {
		op = r.requests.counted[name]
	}
	if op == nil {
		op = func(context.Context, string) (hostops.Answer, error) { return hostops.Answer{}, errNotGranted(name) }
	}
	r.requests.start(completion{id: x.ID, held: held}, &r.memory, func(ctx context.Context) (hostops.Answer, error) {
		return with(tool.WithSeq(ctx, x.Seq), op)
	})
	return nil
}
