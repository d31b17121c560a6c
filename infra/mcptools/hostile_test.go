package mcptools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/mcptools"
	"github.com/airlock-run/airlock/policy/outbound"
)

// lister is a server that answers tools/list as it likes.
func lister(t *testing.T, list func(w io.Writer, cursor string)) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Cursor string `json:"cursor"`
			} `json:"params"`
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&request) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		switch request.Method {
		case "initialize":
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w,
				`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},`+
					`"serverInfo":{"name":"x","version":"1"}}}`, request.ID)
		case "tools/list":
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":`, request.ID)
			list(w, request.Params.Cursor)
			_, _ = io.WriteString(w, "}")
		default:
			if request.ID == nil {
				w.WriteHeader(http.StatusAccepted)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, request.ID)
		}
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

// said is a log.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// openHostile lists the tools of a server, and returns their names and what was logged.
func openHostile(t *testing.T, list func(w io.Writer, cursor string)) (*mcptools.Catalogue, *said) {
	t.Helper()
	log := &said{}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	servers := listed(t, `[{"namespace":"a","url":"`+lister(t, list)+`"}]`)
	c := mcptools.Open(ctx, servers, mcptools.Limits().Transport(outbound.Options{}),
		slog.New(slog.NewTextHandler(log, nil)))
	t.Cleanup(c.Close)
	return c, log
}

func writeTools(w io.Writer, n int, format string) {
	_, _ = io.WriteString(w, `{"tools":[`)
	for i := range n {
		if i > 0 {
			_, _ = io.WriteString(w, ",")
		}
		if _, err := fmt.Fprintf(w, format, i); err != nil {
			return // the client has enough
		}
	}
	_, _ = io.WriteString(w, "]}")
}

// TestHugeLists: what a server lists is bounded in bytes, tools and pages, and so is the memory that it takes.
func TestHugeLists(t *testing.T) {
	small := `{"name":"t%d","inputSchema":{"type":"object"}}`
	for name, c := range map[string]struct {
		list func(w io.Writer, cursor string)
		most int // tools
		says string
	}{
		"50,000 tools in one answer": {func(w io.Writer, _ string) {
			writeTools(w, 50_000, `{"name":"t%d","description":"`+strings.Repeat("x", 200)+`","inputSchema":{"type":"object"}}`)
		}, 0, "cannot be listed"},
		"10,000 small tools": {func(w io.Writer, _ string) { writeTools(w, 10_000, small) }, 1000,
			"more tools than are taken"},
		"pages without end": {func(w io.Writer, cursor string) {
			_, _ = fmt.Fprintf(w, `{"nextCursor":"x%s","tools":[{"name":"t%d","inputSchema":{"type":"object"}}]}`, cursor,
				len(cursor))
		}, 50, "more tools than are taken"},
		"large schemas": {func(w io.Writer, cursor string) {
			n := len(cursor)
			_, _ = fmt.Fprintf(w, `{"nextCursor":"x%s","tools":[`, cursor)
			for i := range 50 {
				_, _ = fmt.Fprintf(w, `{"name":"t%d","inputSchema":{"type":"object","description":%q}},`, n*50+i,
					strings.Repeat("x", 50_000))
			}
			_, _ = io.WriteString(w, `{"name":"last","inputSchema":{"type":"object"}}]}`)
		}, 90, "more tools than are taken"},
		"endless": {func(w io.Writer, _ string) { writeTools(w, 1<<30, small) }, 0, "cannot be listed"},
		"deep":    {func(w io.Writer, _ string) { writeTools(w, 1, strings.Repeat("[", 1<<20)+"%d") }, 0, "cannot be listed"},
		"null among the tools": {func(w io.Writer, _ string) {
			_, _ = io.WriteString(w, `{"tools":[null,{"name":"t","inputSchema":{"type":"object"}}]}`)
		}, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			catalogue, log := openHostile(t, c.list)
			runtime.ReadMemStats(&after)
			if n := len(catalogue.Tools()); n > c.most {
				t.Errorf("%d tools; want at most %d", n, c.most)
			}
			if !strings.Contains(log.String(), c.says) {
				t.Errorf("logged: %.300s", log)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 512<<20 {
				t.Errorf("%d MB were allocated, the server included", took>>20)
			}
		})
	}
}

// TestHostileNames: a tool whose name the language or a reader would take for something else is left out, and the log
// says so; what nobody sees in descriptions and schemas is escaped.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	names := []string{"then", "__proto__", "constructor", "toJSON", "valueOf", "x\u202ey", "x\u200by", "x\x1b[2J", "",
		strings.Repeat("x", 200), "good"}
	catalogue, log := openHostile(t, func(w io.Writer, _ string) {
		var tools []map[string]any
		for _, name := range names {
			tools = append(tools, map[string]any{
				"name": name, "description": "ignore\u202e\U000e0041 this\r\nline \x1b[2J",
				"inputSchema": map[string]any{"type": "object",
					"properties": map[string]any{"a\u202e": map[string]any{"description": "\u2066x\U000e0041"}}},
			})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"tools": tools})
	})
	tools := catalogue.Tools()
	if len(tools) != 1 || tools[0].Name != "a:good" {
		t.Fatalf("%+v", tools)
	}
	if want := "ignore\\u{202e}\\u{e0041} this\nline \\u{1b}[2J"; tools[0].Description != want {
		t.Errorf("%q; want %q", tools[0].Description, want)
	}
	if schema := string(tools[0].InputSchema); strings.ContainsAny(schema, "\u202e\u2066\U000e0041") ||
		!strings.Contains(schema, `a\u202e`) || !json.Valid(tools[0].InputSchema) {
		t.Errorf("%q", schema)
	}
	text := log.String()
	for _, name := range []string{"then", "__proto__", "constructor", "toJSON", "valueOf", `{202e}y`} {
		if !strings.Contains(text, name) {
			t.Errorf("%s is not in the log: %s", name, text)
		}
	}
	if strings.ContainsAny(text, "\u202e\u200b\x1b") {
		t.Errorf("the log has what it tells of: %q", text)
	}
}

// TestServerIdentity: the same namespace with another URL, secret or header is another server, and each tool says
// whose it is.
func TestServerIdentity(t *testing.T) {
	t.Parallel()
	ids := map[string]string{}
	for _, entry := range []string{
		`{"namespace":"a","url":"https://a.example"}`, `{"namespace":"a","url":"https://b.example"}`,
		`{"namespace":"b","url":"https://a.example"}`,
		`{"namespace":"a","url":"https://a.example","secret":"K"}`,
		`{"namespace":"a","url":"https://a.example","secret":"K","header":"X-Key"}`,
	} {
		list, err := mcptools.Parse([]byte("[" + entry + "]"))
		if err != nil {
			t.Fatal(err)
		}
		if other, taken := ids[list[0].ID()]; taken {
			t.Errorf("%s and %s are the same", entry, other)
		}
		ids[list[0].ID()] = entry
		e := mcptools.New(list, func(string) string { return "" }).Begin()
		if e.Server(list[0].Namespace+":x") != list[0].ID() || e.Server("other:x") != "" {
			t.Errorf("%s: %q", entry, e.Server(list[0].Namespace+":x"))
		}
		e.Close()
	}
	catalogue, _ := openHostile(t, func(w io.Writer,
		_ string) {
		writeTools(w, 1, `{"name":"t%d","inputSchema":{"type":"object"}}`)
	})
	if tools := catalogue.Tools(); len(tools) != 1 || tools[0].Server == "" {
		t.Errorf("%+v", tools)
	}
}

// TestManyServersOfOneHost: each server keeps a stream open, and none waits for the stream of another.
func TestManyServersOfOneHost(t *testing.T) {
	t.Parallel()
	upstream := serveChanging(t)
	upstream.old.Store(true)
	var entries, want []string
	for i := range 20 {
		entries = append(entries, fmt.Sprintf(`{"namespace":"n%d","url":"%s"}`, i, upstream.url))
		want = append(want, fmt.Sprintf("n%d:first", i))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c := mcptools.Open(ctx, listed(t, "["+strings.Join(entries, ",")+"]"), mcptools.Limits().Transport(outbound.Options{}),
		slog.New(slog.DiscardHandler))
	defer c.Close()
	until(t, c, want...)
	upstream.offer("second")
	for i := range 20 {
		want[i] = fmt.Sprintf("n%d:first n%d:second", i, i)
	}
	until(t, c, strings.Fields(strings.Join(want, " "))...)
}
