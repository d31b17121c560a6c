package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/airlock-run/airlock/policy/depth"
	"github.com/airlock-run/airlock/policy/schema"
	"github.com/airlock-run/airlock/policy/toolinput"
	"github.com/airlock-run/airlock/policy/toolname"
	"github.com/airlock-run/airlock/sandbox/internal/hostops"
)

const (
	defaultTimeout = 30 * time.Second
	maxAnswer      = 4 << 20
)

// Func answers a call.
type Func func(ctx context.Context, params json.RawMessage) (json.RawMessage, error)

// Config describes a Tool; see sandbox.Tool.
type Config struct {
	Name                      string
	InputSchema, OutputSchema json.RawMessage
	Timeout                   time.Duration
	Call                      Func
	// Depth is how deep parameters and answers may nest.
	Depth  int
	Memory hostops.Background
}

// Tool is a function that a guest can call.
type Tool struct {
	cfg           Config
	input, output *schema.Schema
}

// New returns a Tool. An error begins with the field that is wrong, as requests spell it: name, inputSchema,
// outputSchema or url.
func New(cfg Config) (*Tool, error) {
	if err := toolname.Check(cfg.Name); err != nil {
		return nil, fmt.Errorf("name: %w", err)
	}
	input, err := schema.New(cfg.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("inputSchema: %w", err)
	}
	output, err := schema.New(cfg.OutputSchema)
	if err != nil {
		return nil, fmt.Errorf("outputSchema: %w", err)
	}
	if cfg.Call == nil {
		return nil, errors.New("url: is not set; a tool needs one to be called")
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	return &Tool{cfg: cfg, input: input, output: output}, nil
}

// Name returns the name of the tool.
func (t *Tool) Name() string { return t.cfg.Name }

// fail returns an exception that names the tool.
func (t *Tool) fail(name, format string, args ...any) error {
	return hostops.Throw(name, "tool "+t.cfg.Name+": "+fmt.Sprintf(format, args...))
}

// Accept returns what is wrong with the parameters of a call; see Call for the errors.
func (t *Tool) Accept(ctx context.Context, params string) error {
	if len(params) > MaxParams {
		return t.fail("TypeError", "the parameters have %d bytes; at most %d are accepted", len(params), MaxParams)
	}
	if path := depth.Over([]byte(params), "params", t.cfg.Depth); path != "" {
		return t.fail("RangeError", "%s", depth.Message("the value of the parameters", path, t.cfg.Depth))
	}
	if !json.Valid([]byte(params)) {
		return t.fail("TypeError", "the parameters are not valid JSON")
	}
	if err := t.fits(ctx, t.input, json.RawMessage(params)); hostops.AsLimit(err) != nil {
		return hostops.AsLimit(err)
	} else if err != nil {
		return t.fail("TypeError", "the parameters do not fit: %v", err)
	}
	return nil
}

// Call makes one call. An error is a *hostops.Exception that names the tool, a *hostops.LimitError, or a
// *toolinput.Request if ctx allows that.
func (t *Tool) Call(ctx context.Context, params string) (json.RawMessage, error) {
	if err := t.Accept(ctx, params); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, t.cfg.Timeout, errToolTimeout)
	defer cancel()
	out, err := t.answered(ctx, json.RawMessage(params))
	asked := (*toolinput.Request)(nil)
	_, asks := toolinput.Of(ctx)
	switch {
	case asks && errors.As(err, &asked):
		return nil, asked
	case hostops.AsLimit(err) != nil:
		return nil, hostops.AsLimit(err)
	case err != nil && errors.Is(context.Cause(ctx), errToolTimeout):
		return nil, t.fail("Error", "no answer within %v", t.cfg.Timeout)
	case err != nil:
		return nil, t.fail("Error", "%s", err.Error())
	}
	return t.Answer(ctx, out)
}

// Answer returns out as the answer to a call, or what is wrong with it; see Call for the errors.
func (t *Tool) Answer(ctx context.Context, out json.RawMessage) (json.RawMessage, error) {
	if len(out) == 0 {
		out = json.RawMessage("null")
	}
	if len(out) > maxAnswer {
		return nil, t.fail("Error", "the answer has %d bytes; at most %d are accepted", len(out), maxAnswer)
	}
	if path := depth.Over(out, "answer", t.cfg.Depth); path != "" {
		return nil, t.fail("RangeError", "%s", depth.Message("the answer", path, t.cfg.Depth))
	}
	if !json.Valid(out) {
		return nil, t.fail("Error", "the answer is not valid JSON")
	}
	if err := t.fits(ctx, t.output, out); hostops.AsLimit(err) != nil {
		return nil, hostops.AsLimit(err)
	} else if err != nil {
		return nil, t.fail("Error", "the answer does not fit: %v", err)
	}
	return out, nil
}

// fits checks a value against a schema; nil accepts everything.
func (t *Tool) fits(ctx context.Context, s *schema.Schema, text json.RawMessage) error {
	if s == nil {
		return nil
	}
	held, err := hostops.Hold(t.cfg.Memory, decodedBytes(text))
	if err != nil {
		return err
	}
	defer held.Drop()
	return s.Check(ctx, text)
}

var errToolTimeout = errors.New("the tool takes too long")

// answered calls the function and waits no longer than ctx, even if the function does.
func (t *Tool) answered(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	return Beside(ctx, func() (json.RawMessage, error) { return t.cfg.Call(ctx, params) })
}

// Beside calls f on a goroutine of its own and waits no longer than ctx.
func Beside(ctx context.Context, f func() (json.RawMessage, error)) (json.RawMessage, error) {
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

// MaxParams bounds the parameters of a call, in bytes.
const MaxParams = 1 << 20

// decodedBytes returns about how much memory text takes when it is decoded: text itself, some hundred bytes for each
// value, and more for objects.
func decodedBytes(text []byte) int64 {
	n := int64(len(text)) + 128
	inString := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{':
			n += 400
		case c == '[' || c == ',' || c == ':':
			n += 96
		}
	}
	return n
}
