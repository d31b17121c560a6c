package mcptools_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/infra/mcptools"
)

// changing is a server whose tools come and go.
type changing struct {
	*sdk.Server
	url  string
	deaf atomic.Bool // it refuses the stream of changes
	old  atomic.Bool // it supports no version without sessions
}

func (c *changing) offer(name string) {
	c.AddTool(&sdk.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{}, nil
		})
}

func serveChanging(t *testing.T) *changing {
	t.Helper()
	c := &changing{Server: sdk.NewServer(&sdk.Implementation{Name: "changing", Version: "1"}, nil)}
	c.offer("first")
	give := func(*http.Request) *sdk.Server { return c.Server }
	sessions := sdk.NewStreamableHTTPHandler(give, nil)
	sessionless := sdk.NewStreamableHTTPHandler(give,
		&sdk.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch newest := r.Header.Get("Mcp-Protocol-Version") >= "2026-07-28"; {
		case r.Method == http.MethodGet && c.deaf.Load():
			w.WriteHeader(http.StatusInternalServerError)
		case newest && c.old.Load():
			w.WriteHeader(http.StatusBadRequest)
		case newest:
			sessionless.ServeHTTP(w, r)
		default:
			sessions.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	c.url = server.URL
	return c
}

func listed(t testing.TB, entries string) *mcptools.Servers {
	t.Helper()
	list, err := mcptools.Parse([]byte(entries))
	if err != nil {
		t.Fatal(err)
	}
	again, err := mcptools.Parse([]byte(mcptools.Format(list)))
	if err != nil || !slices.Equal(list, again) {
		t.Fatalf("%v became %v, %v", list, again, err)
	}
	return mcptools.New(list, func(string) string { return "" })
}

// until waits for the catalogue to have exactly these tools.
func until(t testing.TB, c *mcptools.Catalogue, want ...string) {
	t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		var names []string
		for _, tool := range c.Tools() {
			names = append(names, tool.Name)
		}
		if slices.Equal(names, want) {
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			t.Fatalf("the tools are %v, and not %v", names, want)
		}
	}
}

// A server that says that its tools have changed is asked again at once, whichever version of the protocol it speaks.
func TestCatalogueHearsOfChanges(t *testing.T) {
	t.Parallel()
	for _, old := range []bool{false, true} {
		upstream := serveChanging(t)
		upstream.old.Store(old)
		c := mcptools.Open(t.Context(), listed(t, `[{"namespace":"a","url":"`+upstream.url+`"}]`), http.DefaultTransport,
			slog.New(slog.DiscardHandler))
		until(t, c, "a:first")
		upstream.offer("second")
		until(t, c, "a:first", "a:second")
		upstream.RemoveTools("first")
		until(t, c, "a:second")
		c.Close()
	}
}

// A server without a stream of changes is asked all the same.
func TestCatalogueOfDeafServer(t *testing.T) {
	t.Parallel()
	upstream := serveChanging(t)
	upstream.deaf.Store(true)
	upstream.old.Store(true)
	c := mcptools.Open(t.Context(), listed(t, `[{"namespace":"a","url":"`+upstream.url+`"}]`), http.DefaultTransport,
		slog.New(slog.DiscardHandler))
	defer c.Close()
	until(t, c, "a:first")
}

// The tools of replaced servers are removed; those of the remaining servers are kept, in the new order.
func TestCatalogueReplace(t *testing.T) {
	t.Parallel()
	one, two, three := serveChanging(t), serveChanging(t), serveChanging(t)
	entry := func(namespace string, c *changing) string {
		return `{"namespace":"` + namespace + `","url":"` + c.url + `"}`
	}
	c := mcptools.Open(t.Context(), listed(t, `[`+entry("a", one)+`,`+entry("b", two)+`]`), http.DefaultTransport,
		slog.New(slog.DiscardHandler))
	defer c.Close()
	until(t, c, "a:first", "b:first")
	c.Replace(t.Context(), listed(t, `[`+entry("c", three)+`,`+entry("a", one)+`]`))
	if len(c.Tools()) != 2 { // it waited for the new one
		t.Error(c.Tools())
	}
	until(t, c, "c:first", "a:first")
	one.offer("second") // its stream of changes is still open
	until(t, c, "c:first", "a:first", "a:second")
	c.Replace(t.Context(), listed(t, `[]`))
	until(t, c)
}
