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

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/mcptools"
	"github.com/airlock-run/airlock/policy/outbound"
)

// lister is a server with arbitrary answers to tools/list.
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
			return // the client has stopped reading
		}
	}
	_, _ = io.WriteString(w, "]}")
}

// TestHugeLists: the list of a server is bounded in bytes, tools and pages, and so is the memory that it takes.
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

// TestHostileNames: a tool whose name the language or a reader would confuse with another is left out, and the log says
// so; invisible characters in descriptions and schemas are escaped.
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

// TestServerIdentity: the same namespace with another URL, secret or header is another server, and each tool names its
// server.
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

// offerer is a server with resources and prompts. It answers each method with the text in answers.
func offerer(t *testing.T, answers map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request, ok := read(w, r)
		if !ok {
			return
		}
		answer, known := answers[request.Method]
		switch {
		case request.Method == "initialize":
			answer = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{},"prompts":{}},` +
				`"serverInfo":{"name":"x","version":"1"}}`
		case request.ID == nil:
			w.WriteHeader(http.StatusAccepted)
			return
		case !known:
			answer = `{}`
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, request.ID, answer)
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

// offersOf lists a server of the namespace a, whose secret is "hunter22hunter22". Its offers are returned without the
// namespace.
func offersOf(t *testing.T, answers map[string]string) (*mcptools.Catalogue, execution.Offers) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	list, err := mcptools.Parse([]byte(`[{"namespace":"a","secret":"KEY","url":"` + offerer(t, answers) + `"}]`))
	if err != nil {
		t.Fatal(err)
	}
	servers := mcptools.New(list, func(string) string { return "hunter22hunter22" })
	c := mcptools.Open(ctx, servers, mcptools.Limits().Transport(outbound.Options{}), slog.New(slog.DiscardHandler))
	t.Cleanup(c.Close)
	all := append(c.Offers(), execution.Offers{Namespace: "a"})
	if len(all) > 2 || all[0].Namespace != "a" {
		t.Errorf("the offers are %+v", all)
	}
	all[0].Namespace = ""
	return c, all[0]
}

// TestHostileOffers: the texts of a server's resources and prompts have no invisible characters and no secret, and are
// bounded. An entry whose name or URI would have to change is left out.
func TestHostileOffers(t *testing.T) {
	t.Parallel()
	many := func(entry string) string { return "[" + strings.Repeat(entry+",", 5000) + entry + "]" }
	for name, c := range map[string]struct {
		method, answer string
		want           execution.Offers
	}{
		"URI of another server": {
			"resources/list", `{"resources":[{"uri":"airlock://crm/x","name":"crm:x"}]}`,
			execution.Offers{Resources: []execution.Resource{{URI: "airlock://a/airlock://crm/x", Name: "a:crm:x"}}},
		},
		"URIs that are not visible": {
			"resources/list", `{"resources":[{"uri":"x:\u202e"},{"uri":"x:\u0000"},{"uri":"x:\n"},{"uri":"x:\t"},{"uri":""},` +
				`{"uri":"x:\ud800","name":"n"},{"name":"n"},null]}`,
			execution.Offers{Resources: []execution.Resource{{URI: "airlock://a/x:\ufffd", Name: "a:n"}}},
		},
		"labels that are not visible": {
			"resources/list", `{"resources":[{"uri":"x:","name":"\u202en","title":"\u001b[2J",` +
				`"description":"\ud83d\udc68\u2066","mimeType":"\u0007","size":-1,"_meta":{"__proto__":{"a":1}}}]}`,
			execution.Offers{Resources: []execution.Resource{{
				URI: "airlock://a/x:", Name: `a:\u{202e}n`, Title: `\u{1b}[2J`, Description: `👨\u{2066}`, MIMEType: `\u{7}`,
			}}},
		},
		"secret": {
			"resources/list", `{"resources":[{"uri":"x:hunter22hunter22"},{"uri":"x:","name":"hunter22hunter22",` +
				`"description":"is hunter22hunter22"}]}`,
			execution.Offers{Resources: []execution.Resource{
				{URI: "airlock://a/x:", Name: "a:[secret]", Description: "is [secret]"},
			}},
		},
		"template of another server": {
			"resources/templates/list", `{"resourceTemplates":[{"uriTemplate":"airlock://crm/{+x}","name":"t"},` +
				`{"uriTemplate":"{\u202e}"}]}`,
			execution.Offers{Templates: []execution.Resource{{URI: "airlock://a/airlock://crm/{+x}", Name: "a:t"}}},
		},
		"names of prompts": {
			"prompts/list", `{"prompts":[{"name":"__proto__"},{"name":"p\u200b"},{"name":"p\nq"},{"name":""},` +
				`{"name":"q","arguments":[{"name":"__proto__","title":"\u202e"}]},{"name":"r","arguments":[{"name":"\u202e"}]},` +
				`{"name":"s","arguments":[null]},{"name":"hunter22hunter22"}]}`,
			execution.Offers{Prompts: []execution.Prompt{
				{Name: "a:__proto__"},
				{Name: "a:q", Arguments: []execution.PromptArgument{{Name: "__proto__", Title: `\u{202e}`}}},
			}},
		},
		"list null": {"resources/list", `{"resources":null}`, execution.Offers{}},
		"nothing":   {"prompts/list", `null`, execution.Offers{}},
		"no list":   {"prompts/list", `{"prompts":{"length":3}}`, execution.Offers{}},
		"too many fields": {
			"prompts/list", `{"prompts":[{"name":"p","arguments":[` + strings.Repeat(`{"name":"x"},`, 50) + `{"name":"x"}]}]}`,
			execution.Offers{},
		},
		"too long": {
			"resources/list", `{"resources":[{"uri":"x:` + strings.Repeat("x", 1024) + `"}]}`, execution.Offers{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, got := offersOf(t, map[string]string{c.method: c.answer})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	for name, answers := range map[string]map[string]string{
		"many": {
			"resources/list":           `{"resources":` + many(`{"uri":"x:"}`) + `}`,
			"resources/templates/list": `{"resourceTemplates":` + many(`{"uriTemplate":"x:"}`) + `}`,
			"prompts/list":             `{"prompts":` + many(`{"name":"p"}`) + `}`,
		},
		"pages without end": {
			"resources/list":           `{"nextCursor":"x","resources":` + many(`{"uri":"x:"}`) + `}`,
			"resources/templates/list": `{"nextCursor":"x","resourceTemplates":` + many(`{"uriTemplate":"x:"}`) + `}`,
			"prompts/list":             `{"nextCursor":"x","prompts":` + many(`{"name":"p"}`) + `}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, got := offersOf(t, answers)
			for part, n := range map[string]int{
				"resources": len(got.Resources), "templates": len(got.Templates), "prompts": len(got.Prompts),
			} {
				if n != 1000 {
					t.Errorf("%d %s; want 1000", n, part)
				}
			}
		})
	}
	t.Run("tools", func(t *testing.T) {
		c, _ := offersOf(t, map[string]string{"tools/list": `{"tools":[` +
			`{"name":"hunter22hunter22","inputSchema":{"type":"object"}},{"name":"x\ny","inputSchema":{"type":"object"}},` +
			`{"name":"resources/read","description":"another","inputSchema":{"type":"object"}},` +
			`{"name":"good","description":"hunter22hunter22","inputSchema":{"type":"object","title":"hunter22hunter22"}}]}`})
		for _, tool := range c.Tools() {
			text := tool.Name + tool.Description + string(tool.InputSchema)
			if strings.Contains(text, "hunter22") || strings.Contains(text, "another") || strings.Contains(tool.Name, "\n") {
				t.Error(text)
			}
		}
		if got, want := len(c.Tools()), 1+len(execution.ServerMethods); got != want {
			t.Errorf("%d tools; want %d", got, want)
		}
	})
}
