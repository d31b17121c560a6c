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
)

// The kinds of messages on the connection of a tool call.
const (
	kindParams  Kind = 'q'
	kindValue   Kind = 'v'
	kindFailure Kind = 'x' // the text of the error
)

// The limits on the messages of a tool call in bytes.
const (
	maxToolParams = 1 << 20
	maxToolValue  = 4 << 20
	maxToolError  = 4 << 10
)

// CallTool calls a tool of the caller of the current execution. The text of an error is for guests.
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
	kind, body, err := exchange(d.conn, params)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, errors.New("the caller is gone")
	case kind == kindValue:
		return body, nil
	}
	return nil, errors.New(string(body))
}

// exchange sends the parameters of a call and reads its answer.
func exchange(conn net.Conn, params []byte) (Kind, []byte, error) {
	if _, err := conn.Write(appendMessage(nil, kindParams, params)); err != nil {
		return 0, nil, err
	}
	return readMessage(conn, maxToolValue, kindValue, kindFailure)
}

// readMessage reads a message of one of two kinds.
func readMessage(r io.Reader, most int, a, b Kind) (Kind, []byte, error) {
	kind, n, err := Head(r)
	if err != nil {
		return 0, nil, err
	}
	if kind != a && kind != b || n > most {
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
	_, params, err := readMessage(conn, maxToolParams, kindParams, kindParams)
	if err != nil {
		return err
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
	answer := appendMessage(nil, kindValue, value)
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
