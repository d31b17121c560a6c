package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/airlock-run/airlock/policy/outbound"
	"github.com/airlock-run/airlock/sandbox/internal/egress"
	"github.com/airlock-run/airlock/sandbox/internal/hostops"
)

// maxTrouble bounds the error message of a tool's server that the guest is shown, in bytes.
const maxTrouble = 300

// HTTP returns the Func of a tool that is a URL. It posts {"tool", "params", "executionId"}. The JSON of a 2xx answer
// is the value, and {"result": value} stands for the value. A call that waited for its approval has the header
// Idempotency-Key: the execution's ID, a colon and the number of the wait.
func HTTP(client *egress.Client, name, url, executionID string) Func {
	return func(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
		body, err := json.Marshal(struct {
			Tool        string          `json:"tool"`
			Params      json.RawMessage `json:"params"`
			ExecutionID string          `json:"executionId"`
		}{name, params, executionID})
		if err != nil {
			return nil, errors.New("the parameters cannot be sent")
		}
		header := [][2]string{{"Content-Type", "application/json"}, {"Accept", "application/json"}}
		if seq := SeqOf(ctx); seq > 0 {
			header = append(header, [2]string{"Idempotency-Key", fmt.Sprintf("%s:%d", executionID, seq)})
		}
		in, err := client.Do(ctx, egress.Request{
			Method: "POST", URL: url, Body: body, Redirect: "follow", ForTool: true, Header: header,
		})
		if err != nil {
			var refused *hostops.Exception
			if errors.As(err, &refused) {
				return nil, errors.New(strings.TrimPrefix(refused.Message, "fetch failed: "))
			}
			return nil, err
		}
		held, err := hostops.Hold(client.Memory, outbound.StreamBuffer+2*int64(len(params)))
		if err != nil {
			return nil, err
		}
		defer held.Drop()
		var text []byte
		if in.Body != nil {
			defer in.Body.Close() // the rest is not needed
			if text, err = held.ReadAll(in.Body, maxAnswer+1); err != nil {
				if limit := hostops.AsLimit(err); limit != nil {
					return nil, limit
				}
				return nil, errors.New("the answer ended early")
			}
		}
		if in.Status < 200 || in.Status > 299 {
			return nil, errors.New(trouble(in.Status, text))
		}
		return unwrapped(text), nil
	}
}

type seqKey struct{}

// WithSeq returns a context for a call that the wait of a number made.
func WithSeq(ctx context.Context, seq int) context.Context {
	return context.WithValue(ctx, seqKey{}, seq)
}

// SeqOf returns the number of the wait that made a call, or 0.
func SeqOf(ctx context.Context) int {
	seq, _ := ctx.Value(seqKey{}).(int)
	return seq
}

// unwrapped returns the value of {"result": value}, or text itself.
func unwrapped(text []byte) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) == nil && len(members) == 1 && members["result"] != nil {
		return members["result"]
	}
	return text
}

// trouble describes an answer that is not 2xx, with the server's own message if there is one.
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
	return line + ": " + strings.ToValidUTF8(hostops.CutBytes(said.Message, maxTrouble), "")
}
