//go:build unix

package sealed_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/airlock-run/airlock/infra/invoke/sealed"
)

// A function that breaks the protocol of a tool call is found out, and its call ends.
func TestAnswerTool(t *testing.T) {
	message := func(kind byte, n int, body string) string {
		return string(binary.BigEndian.AppendUint32([]byte{kind}, uint32(n))) + body
	}
	for name, c := range map[string]struct {
		sent   string
		hangUp bool
		called bool
		want   error
	}{
		"a call":               {message('q', 2, "{}"), false, true, nil},
		"a round":              {message('i', 13, `{"params":{}}`), false, true, nil},
		"a round without JSON": {message('i', 2, `{]`), false, false, sealed.ErrProtocol},
		"too long a round":     {message('i', 4<<20+1, ""), false, false, sealed.ErrProtocol},
		"nothing":              {"", true, false, io.EOF},
		"half of the head":     {"q\x00", true, false, io.ErrUnexpectedEOF},
		"half of a call":       {message('q', 9, "{}"), true, false, io.ErrUnexpectedEOF},
		"another kind":         {message('v', 2, "{}"), false, false, sealed.ErrProtocol},
		"too much":             {message('q', 1<<20+1, ""), false, false, sealed.ErrProtocol},
		"far too much":         {message('q', -1, ""), false, false, sealed.ErrProtocol},
		"more after a call":    {message('q', 2, "{}") + "more", false, true, sealed.ErrProtocol},
		"hung up after a call": {message('q', 2, "{}"), true, true, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			owner, function, err := sealed.NewConns()
			if err != nil {
				t.Fatal(err)
			}
			defer function.Close()
			if _, err := io.WriteString(function, c.sent); err != nil {
				t.Fatal(err)
			}
			if c.hangUp {
				if err := function.Close(); err != nil {
					t.Fatal(err)
				}
			}
			called, ended := false, error(nil)
			err = sealed.AnswerTool(t.Context(), owner, func(ctx context.Context, params []byte) ([]byte, error) {
				called = string(params) == "{}"
				if c.want != nil {
					<-ctx.Done()
				}
				ended = ctx.Err()
				return params, ended
			})
			if called != c.called {
				t.Errorf("called: %v", called)
			}
			switch {
			case c.want == nil && err != nil, errors.Is(c.want, sealed.ErrProtocol) != errors.Is(err, sealed.ErrProtocol):
				t.Errorf("%v, want %v", err, c.want)
			case !c.called && !errors.Is(err, c.want):
				t.Errorf("%v, want %v", err, c.want)
			case c.called && c.want != nil && !errors.Is(ended, context.Canceled):
				t.Errorf("the call ended with %v", ended)
			}
			if _, err := owner.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
				t.Errorf("the connection is open: %v", err)
			}
		})
	}
}
