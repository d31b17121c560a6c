//go:build unix

package sealed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/airlock-run/airlock/policy/toolinput"
)

// The kinds of messages on the connection of a tool call.
const (
	kindParams  Kind = 'q'
	kindRound   Kind = 'i' // the parameters of a call whose tool may ask for input
	kindValue   Kind = 'v'
	kindAsks    Kind = 'w' // a toolinput.Request
	kindFailure Kind = 'x' // the text of the error
)

// round is the body of kindRound.
type round struct {
	Params json.RawMessage `json:"params"`
	toolinput.Round
}

// The limits on the messages of a tool call in bytes.
const (
	maxToolParams = 1 << 20
	maxToolRound  = 4 << 20
	maxToolValue  = 4 << 20
	maxToolError  = 4 << 10
)

// CallTool calls a tool of the caller of the current execution. The text of an error is for guests. If ctx allows it,
// the error may be a *toolinput.Request.
func (o *Outside) CallTool(ctx context.Context, name string, params json.RawMessage) (json.RawMessage, error) {
	d, err := o.ask(ctx, Request{Verb: VerbTool, Name: name})
	switch {
	case err != nil:
		return nil, err
	case d.reply.Outcome == Refused:
		return nil, RefusedError(d.reply.Text)
	case d.conn == nil:
		return nil, errors.New("the caller cannot be reached")
	}
	defer d.conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = d.conn.Close() }) // which ends the call
	defer stop()
	kind, body, err := exchange(ctx, d.conn, params)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, errors.New("the caller is gone")
	case kind == kindValue:
		return body, nil
	case kind == kindAsks:
		asked := &toolinput.Request{}
		if err := json.Unmarshal(body, asked); err != nil {
			return nil, errors.New("the caller is gone")
		}
		return nil, asked
	}
	return nil, errors.New(string(body))
}

// exchange sends the parameters of a call and reads its answer.
func exchange(ctx context.Context, conn net.Conn, params []byte) (Kind, []byte, error) {
	kind, answers := kindParams, kinds{kindValue: maxToolValue, kindFailure: maxToolValue}
	if r, asks := toolinput.Of(ctx); asks {
		var err error
		if params, err = json.Marshal(round{params, r}); err != nil {
			return 0, nil, err
		}
		kind, answers[kindAsks] = kindRound, maxToolValue
	}
	if _, err := conn.Write(appendMessage(nil, kind, params)); err != nil {
		return 0, nil, err
	}
	return readMessage(conn, answers)
}

// kinds are those that a message may have, with their limits in bytes.
type kinds map[Kind]int

// readMessage reads a message of one of some kinds.
func readMessage(r io.Reader, of kinds) (Kind, []byte, error) {
	kind, n, err := Head(r)
	if err != nil {
		return 0, nil, err
	}
	if most, ok := of[kind]; !ok || n > most {
		return 0, nil, fmt.Errorf("a tool call: %w", ErrProtocol)
	}
	body := make([]byte, n)
	_, err = io.ReadFull(r, body)
	return kind, body, err
}

// AnswerTool answers a tool call for the owner. It reads the parameters from conn, sends what call returns, and
// closes conn. The context of call ends when ctx does, and when the function closes the connection. The error is
// [ErrProtocol] if the function broke the protocol, and otherwise means that the call was given up.
func AnswerTool(
	ctx context.Context, conn net.Conn, call func(ctx context.Context, params []byte) ([]byte, error),
) error {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	kind, params, err := readMessage(conn, kinds{kindParams: maxToolParams, kindRound: maxToolRound})
	if err != nil {
		return err
	}
	if kind == kindRound {
		var r round
		err := jsonv2.Unmarshal(params, &r, jsonv1.DefaultOptionsV1()) // in one pass
		if err != nil || len(r.Params) > maxToolParams {
			return fmt.Errorf("a tool call: %w", ErrProtocol)
		}
		params, ctx = r.Params, toolinput.With(ctx, r.Round)
	}
	calling, cancel := context.WithCancel(ctx)
	defer cancel()
	broken := make(chan error, 1)
	go func() {
		defer cancel()
		if n, _ := conn.Read(make([]byte, 1)); n > 0 { // the function says no more; it may only hang up
			broken <- fmt.Errorf("a tool call: %w", ErrProtocol)
			_ = conn.Close()
		}
	}()
	value, err := call(calling, params)
	answer, asked := appendMessage(nil, kindValue, value), (*toolinput.Request)(nil)
	if kind == kindRound && errors.As(err, &asked) {
		body, broken := json.Marshal(asked)
		if err = broken; len(body) > maxToolValue {
			err = errors.New("its request for input is too long")
		}
		answer = appendMessage(nil, kindAsks, body)
	}
	switch {
	case err != nil:
		text := err.Error()
		text = strings.ToValidUTF8(text[:min(len(text), maxToolError)], "")
		answer = appendMessage(nil, kindFailure, []byte(text))
	case len(value) > maxToolValue:
		answer = appendMessage(nil, kindFailure, fmt.Appendf(nil, "the answer has %d bytes; at most %d are accepted",
			len(value), maxToolValue))
	}
	_, err = conn.Write(answer)
	select {
	case err = <-broken:
	default:
	}
	return err
}
