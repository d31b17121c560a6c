package mcptools_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/infra/mcptools"
)

const token = "a token of the tests"

// upstream is a real server over HTTP. Its tools remember within a session.
type upstream struct {
	*httptest.Server
	sessions atomic.Int32
	deleted  chan struct{}
	over     chan struct{}
	lost     atomic.Bool // forget the session of the next call
	busy     atomic.Bool // refuse the next call
}

type counted struct {
	N int `json:"n"`
}

func serve(t *testing.T) *upstream {
	t.Helper()
	u := &upstream{deleted: make(chan struct{}, 100), over: make(chan struct{})}
	get := func(*http.Request) *sdk.Server {
		s := sdk.NewServer(&sdk.Implementation{Name: "upstream", Version: "1"}, nil)
		total := 0
		sdk.AddTool(s, &sdk.Tool{Name: "add", Description: "Add n to what this session has."},
			func(_ context.Context, _ *sdk.CallToolRequest, in counted) (*sdk.CallToolResult, counted, error) {
				total += in.N
				return nil, counted{total}, nil
			})
		text := func(name, text string, failed bool) {
			s.AddTool(&sdk.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)},
				func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
					return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: failed}, nil
				})
		}
		text("plain", "just text", false)
		text("json", `{"a":[1]}`, false)
		text("fails", "it is broken", true)
		text("leaks", "the token is "+token, false)
		text("dash-ed.name", "7", false)
		s.AddTool(&sdk.Tool{Name: "picture", InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{Data: []byte("x"), MIMEType: "image/png"}}}, nil
			})
		s.AddTool(&sdk.Tool{Name: "never", InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				select {
				case <-ctx.Done():
				case <-u.over:
				}
				return nil, errors.New("too late")
			})
		return s
	}
	handler := sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{PropagateRequestCancellation: true})
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if r.Header.Get("Mcp-Session-Id") != "" && r.Method == http.MethodPost && u.lost.Swap(false) {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if r.Method == http.MethodPost && u.busy.Swap(false) {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if r.Header.Get("Mcp-Session-Id") == "" {
			w = &opening{ResponseWriter: w, sessions: &u.sessions}
		}
		handler.ServeHTTP(w, r)
		if r.Method == http.MethodDelete {
			u.deleted <- struct{}{}
		}
	}))
	t.Cleanup(func() { close(u.over); u.Close() })
	return u
}

// opening counts the session that a response begins before its client can read the response.
type opening struct {
	http.ResponseWriter
	sessions *atomic.Int32
	begun    bool
}

func (o *opening) begin() {
	if !o.begun && o.Header().Get("Mcp-Session-Id") != "" {
		o.sessions.Add(1)
	}
	o.begun = true
}

func (o *opening) WriteHeader(status int) {
	o.begin()
	o.ResponseWriter.WriteHeader(status)
}

func (o *opening) Write(b []byte) (int, error) {
	o.begin()
	return o.ResponseWriter.Write(b)
}

func (o *opening) Flush() {
	o.begin()
	o.ResponseWriter.(http.Flusher).Flush()
}

func (u *upstream) servers(t *testing.T, more string) *mcptools.Servers {
	t.Helper()
	list, err := mcptools.Parse([]byte(`[{"namespace":"sums","url":"` + u.URL + `","secret":"TOKEN"` + more + `}]`))
	if err != nil {
		t.Fatal(err)
	}
	return mcptools.New(list, func(name string) string { return map[string]string{"TOKEN": token}[name] })
}

func call(t *testing.T, e *mcptools.Execution, tool, params string) (string, error) {
	t.Helper()
	over, timeout, ok := e.Tool("sums:" + tool)
	if !ok || timeout <= 0 {
		t.Fatal(tool, timeout, ok)
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	out, err := over(http.DefaultTransport)(ctx, json.RawMessage(params))
	return string(out), err
}

func TestCalls(t *testing.T) {
	t.Parallel()
	u := serve(t)
	e := u.servers(t, "").Begin()
	for _, c := range [][3]string{
		{"add", `{"n":2}`, `{"n":2}`}, {"add", `{"n":3}`, `{"n":5}`}, {"plain", `{}`, `"just text"`},
		{"json", `{}`, `{"a":[1]}`},
		{"leaks", `{}`, `"the token is [secret]"`},
		{"picture", `{}`, `[{"type":"image","mimeType":"image/png","data":"eA=="}]`}, {"dash-ed.name", `{}`, `"7"`},
	} {
		if out, err := call(t, e, c[0], c[1]); err != nil || out != c[2] {
			t.Errorf("%s: %s %v", c[0], out, err)
		}
	}
	if _, err := call(t, e, "fails", `{}`); err == nil || err.Error() != "it is broken" {
		t.Error(err)
	}
	if _, err := call(t, e, "absent", `{}`); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Error(err)
	}
	if _, err := call(t, e, "*", `{}`); err == nil || !strings.Contains(err.Error(), "can be reached again") {
		t.Error(err)
	}
	if n := u.sessions.Load(); n != 1 {
		t.Errorf("%d sessions of one execution", n)
	}
	if _, _, ok := e.Tool("other:add"); ok {
		t.Error("a tool of nobody")
	}
	e.Close()
	<-u.deleted
	// Another execution sees no state of the first.
	second := u.servers(t, "").Begin()
	defer second.Close()
	if out, err := call(t, second, "add", `{"n":1}`); err != nil || out != `{"n":1}` {
		t.Error(out, err)
	}
}

// A session that the server has forgotten is opened again, without the guest's noticing.
func TestReconnects(t *testing.T) {
	t.Parallel()
	u := serve(t)
	e := u.servers(t, "").Begin()
	defer e.Close()
	if out, err := call(t, e, "add", `{"n":2}`); err != nil || out != `{"n":2}` {
		t.Fatal(out, err)
	}
	u.lost.Store(true)
	if out, err := call(t, e, "add", `{"n":2}`); err != nil || out != `{"n":2}` {
		t.Error(out, err)
	}
	if n := u.sessions.Load(); n != 2 {
		t.Errorf("%d sessions", n)
	}
	// A call that the network lost is not repeated, and the session continues.
	u.busy.Store(true)
	if _, err := call(t, e, "add", `{"n":4}`); err == nil || err.Error() != "the server of sums answered 503" {
		t.Error(err)
	}
	if out, err := call(t, e, "add", `{"n":1}`); err != nil || out != `{"n":3}` {
		t.Error(out, err)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	e := serve(t).servers(t, `,"timeoutMs":300`).Begin()
	defer e.Close()
	if _, err := call(t, e, "never", `{}`); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	u := serve(t)
	wrong, err := mcptools.Parse([]byte(`[{"namespace":"sums","url":"` + u.URL + `"}]`))
	if err != nil {
		t.Fatal(err)
	}
	for name, servers := range map[string]*mcptools.Servers{"no credential": mcptools.New(wrong,
		func(string) string { return "" })} {
		e := servers.Begin()
		if _, err := call(t, e, "add", `{"n":1}`); err == nil || !strings.Contains(err.Error(), "sums") ||
			strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%s: %v", name, err)
		}
		e.Close()
	}
}

func TestCatalogue(t *testing.T) {
	t.Parallel()
	u := serve(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c := mcptools.Open(ctx, u.servers(t, ""), http.DefaultTransport, slog.New(slog.DiscardHandler))
	defer c.Close()
	names := map[string]bool{}
	for _, tool := range c.Tools() {
		names[tool.Name] = true
		if tool.Name != "sums:add" {
			continue
		}
		if tool.Description != "Add n to what this session has." || tool.URL != "" {
			t.Errorf("%s: %q at %q", tool.Name, tool.Description, tool.URL)
		}
		if !strings.Contains(string(tool.InputSchema), `"n"`) {
			t.Errorf("%s: the schema has no n: %s", tool.Name, tool.InputSchema)
		}
	}
	if len(names) != 8 || !names["sums:dash-ed.name"] {
		t.Error(names)
	}
	// A server that is down contributes no tools and delays nothing.
	u.CloseClientConnections()
	u.Close()
	down := mcptools.Open(ctx, u.servers(t, ""), http.DefaultTransport, slog.New(slog.DiscardHandler))
	defer down.Close()
	if tools := down.Tools(); len(tools) != 0 {
		t.Error(tools)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	many := `[` + strings.TrimSuffix(strings.Repeat(`{"namespace":"a","url":"https://a.example"},`, 65), ",") + `]`
	for text, says := range map[string]string{
		`{}`: "list", `[1]`: "list", `[] x`: "nothing after",
		`[{"namespace":"a","url":"https://a.example","more":1}]`:                      "more",
		`[{"namespace":"","url":"https://a.example"}]`:                                "[0].namespace",
		`[{"namespace":"a-b","url":"https://a.example"}]`:                             "[0].namespace",
		`[{"namespace":"console","url":"https://a.example"}]`:                         "[0].namespace",
		`[{"namespace":"fetch","url":"https://a.example"}]`:                           "[0].namespace",
		`[{"namespace":"a","url":"ftp://a.example"}]`:                                 "[0].url",
		`[{"namespace":"a","url":"https://u:p@a.example"}]`:                           "[0].url",
		`[{"namespace":"a","url":"/x"}]`:                                              "[0].url",
		`[{"namespace":"a","url":"https://a.example","secret":"A B"}]`:                "[0].secret",
		`[{"namespace":"a","url":"https://a.example","header":"X-Key"}]`:              "[0].header",
		`[{"namespace":"a","url":"https://a.example","secret":"K","header":"X Key"}]`: "[0].header",
		`[{"namespace":"a","url":"https://a.example","timeoutMs":0.5}]`:               "[0].timeoutMs",
		`[{"namespace":"a","url":"https://a.example","timeoutMs":-1}]`:                "[0].timeoutMs",
		`[{"namespace":"a","url":"https://a.example","timeoutMs":1e9}]`:               "[0].timeoutMs",
		`[{"namespace":"a","url":"https://a.example"},` +
			`{"namespace":"a","url":"https://b.example"}]`: "[1].namespace",
		many: "65 servers",
	} {
		if _, err := mcptools.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
	list, err := mcptools.Parse([]byte(`[{"namespace":"a","url":"https://a.example/mcp","secret":"K",` +
		`"header":"X-Key","timeoutMs":1500}]`))
	if err != nil || len(list) != 1 || list[0].Timeout != 1500*time.Millisecond {
		t.Error(list, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`[{"namespace":"a","url":"https://a.example/mcp","secret":"K","header":"X-Key","timeoutMs":1500}]`))
	f.Add([]byte(`[{"namespace":"a","url":"http://[::1]:1/"}]`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := mcptools.Parse(text)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, s := range list {
			if s.Namespace == "" || seen[s.Namespace] {
				t.Errorf("the namespace %q is empty or taken", s.Namespace)
			}
			if !strings.HasPrefix(strings.ToLower(s.URL), "http") || s.Timeout <= 0 {
				t.Errorf("%q with the timeout %v", s.URL, s.Timeout)
			}
			seen[s.Namespace] = true
		}
		if again, err := mcptools.Parse([]byte(mcptools.Format(list))); err != nil || !slices.Equal(list, again) ||
			len(mcptools.Format(list)) > 128<<10 {
			t.Errorf("%+v became %+v, %v", list, again, err)
		}
	})
}
