package mcp_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/mcp"
)

type uncloseable struct{ io.Writer }

func (uncloseable) Close() error { return nil }

// spoken returns the lines that a client receives for the lines that it writes. Each is JSON.
func spoken(t testing.TB, s *mcp.Server, text []byte) (told [][]byte) {
	t.Helper()
	var out bytes.Buffer
	in := io.NopCloser(bytes.NewReader(text))
	if err := s.Serve(
		t.Context(), mcp.Stdio(in, uncloseable{&out}), mcp.Caller{Identity: authn.Identity{Subject: "me"}},
	); err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(out.Bytes()) {
		if !json.Valid(line) {
			t.Fatalf("told %q", line)
		}
		told = append(told, line)
	}
	return told
}

const (
	greeting = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` +
		"\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	ping = `{"jsonrpc":"2.0","id":"last","method":"ping"}` + "\n"
)

// A line that is not a message gets an error, and the next line is read.
func TestStdioContinuesAfterErrors(t *testing.T) {
	t.Parallel()
	s := serverOf(t, gateway{})
	for line, code := range map[string]string{
		"garbage": "-32700", "\xff\xfe": "-32700", `{"jsonrpc":"2.0"`: "-32700", `{} {}`: "-32700",
		strings.Repeat("[", 20_000):                "-32700",
		`{"jsonrpc":"1.0","id":9,"method":"ping"}`: "-32600", "[]": "-32600", "null": "-32600", "1": "-32600", "{}": "-32600",
		`"` + strings.Repeat("a", 9<<20) + `"`: "-32600",
	} {
		told := spoken(t, s, []byte(greeting+line+"\r\n\n"+ping))
		all := string(bytes.Join(told, nil))
		if len(told) != 3 || strings.Count(all, `"id":null,"error":{"code":`+code+`,`) != 1 ||
			!strings.Contains(all, `"id":"last","result":{}`) {
			t.Errorf("%.40q:\n%s", line, all)
		}
	}
}

// An invalid message in JSON, an unexpected answer and an unexpected cancellation do not end the session.
func TestStdioSurvivesHostileMessages(t *testing.T) {
	t.Parallel()
	s := serverOf(t, gateway{})
	repeat := strings.Repeat
	for name, lines := range map[string]string{
		"a response to nothing": `{"jsonrpc":"2.0","id":7,"result":{}}`,
		"an error to nothing":   `{"jsonrpc":"2.0","id":"last","error":{"code":1,"message":"m"}}`,
		"an error without ID":   `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`,
		"IDs that are no IDs": `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}` + "\n" +
			`{"jsonrpc":"2.0","id":[1],"method":"ping"}`,
		"a huge ID":                  `{"jsonrpc":"2.0","id":1e400,"method":"ping"}`,
		"a long ID":                  `{"jsonrpc":"2.0","id":"` + repeat("i", 1<<20) + `","method":"ping"}`,
		"members in capitals":        `{"JSONRPC":"2.0","ID":3,"METHOD":"ping"}`,
		"members twice":              `{"jsonrpc":"2.0","id":3,"id":4,"method":"ping","method":"tools/list"}`,
		"a cancellation of nothing":  `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`,
		"a cancellation of itself":   `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"last"}}`,
		"a second greeting":          strings.TrimSpace(greeting),
		"an unknown notification":    `{"jsonrpc":"2.0","method":"notifications/none","params":[1]}`,
		"parameters of another kind": `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":"execute_code"}`,
		"deep parameters": `{"jsonrpc":"2.0","id":3,"method":"ping","params":` +
			repeat(`{"a":`, 9000) + "1" + repeat("}", 9000) + `}`,
		"a tool without name":       `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{}}`,
		"a tool of the prototype":   `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"__proto__"}}`,
		"many calls with one ID":    repeat(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`+"\n", 200),
		"many notifications":        repeat(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`+"\n", 2000),
		"a request of the server's": `{"jsonrpc":"2.0","id":3,"method":"sampling/createMessage","params":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			all := bytes.Join(spoken(t, s, []byte(greeting+lines+"\n"+ping)), nil)
			n := bytes.Count(all, []byte(`"id":"last","result":{}`))
			if name == "a cancellation of itself" { // on a busy machine it may meet the message that it cancels
				n += bytes.Count(all, []byte(`"id":"last","error":{"code":0,"message":"context canceled"}`))
			}
			if n != 1 {
				t.Errorf("the last message has %d answers in:\n%.2000s", n, all)
			}
		})
	}
}

// Whatever a client writes, it is served to the end of its input, and receives nothing but JSON.
func FuzzStdio(f *testing.F) {
	for _, seed := range []string{
		"", "garbage", greeting + ping, "[]\n", "\r\n\r\n{}", greeting + `[` + strings.TrimSpace(ping) + `]`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
	} {
		f.Add([]byte(seed))
	}
	s := serverOf(f, gateway{})
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.Contains(text, []byte("subscriptions/listen")) {
			return // it is answered when there is an event, or cancelled seconds after the end of the input
		}
		spoken(t, s, text)
	})
}
