package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// attached are tools of two servers that a deployment attaches.
type attached struct{}

func (attached) Tools() []execution.Tool {
	tools := []execution.Tool{
		{
			Name: "weather:get-today", Description: "The weather in a city.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
		},
		{Name: "weather:get_week", Description: "A week of it."},
	}
	for n := range 200 {
		tools = append(tools, execution.Tool{Name: fmt.Sprintf("files:op%03d", n)})
	}
	return tools
}

func (attached) Call(context.Context, string, json.RawMessage, func(int) error) (json.RawMessage, error) {
	return nil, errors.New("nothing is called")
}

func (attached) Unlisted() []execution.UnlistedServer { return nil }

func (attached) Offers() []execution.Offers { return nil }

// given responds with the names of the tools that a request has.
func given(t *testing.T, a answer) []string {
	t.Helper()
	var v struct{ Result []string }
	if err := json.Unmarshal(want(t, a, 200).body, &v); err != nil {
		t.Fatal(err)
	}
	return v.Result
}

func TestRemoteTools(t *testing.T) {
	t.Parallel()
	count := 0
	s := serve(t, options{auth: tokens(t), attached: attached{}, invoke: answering(&count, func(
		inv execution.Invocation,
	) execution.Result {
		names := []string{}
		for _, tool := range inv.Request.Tools {
			names = append(names, tool.Name)
		}
		return completed(string(mustJSON(t, names)))
	})})
	all, few := bearer(apiKey), bearer(token(t, "ann", "", "execute tool:weather.get_week tool:own.*"))
	for _, c := range []struct {
		body, who, want string
	}{
		{code("1"), all, ""},
		{code("weather.get_today()"), all, "weather:get-today weather:get_week"},
		{code("weather.get_today()"), few, "weather:get_week"},
		{`{"files":{"a.js":"weather"},"entry":"a.js"}`, all, "weather:get-today weather:get_week"},
		{`{"code":"weather.own","context":{"weather":1}}`, all, ""},
		{`{"code":"weather.mine()","tools":[{"name":"weather:mine","url":"https://example.com"}]}`, all, "weather:mine"},
		{
			`{"code":"weather.get_week(), own.x()","tools":[{"name":"own:x","url":"https://example.com"}]}`, few,
			"own:x weather:get_week",
		},
	} {
		if got := strings.Join(given(t, s.do(t, "POST", "/api/execute", c.body, c.who)), " "); got != c.want {
			t.Errorf("%s: %s", c.body, got)
		}
	}
	// There are more tools than an execution may have. It gets those that the code names.
	names := given(t, s.do(t, "POST", "/api/execute", code("files.op199()"), all))
	if len(names) != execution.MaxTools || names[0] != "files:op199" {
		t.Errorf("%d: %v", len(names), names[:3])
	}
	if a := want(
		t, s.do(t, "GET", "/api/tools.d.ts", "", few), 200, "get_week", "declare const weather",
	); strings.Contains(string(a.body), "get_today") {
		t.Errorf("%s", a.body)
	}
	for query, items := range map[string]string{
		"?query=weather+city": "weather:get-today weather:get_week", "?query=week": "weather:get_week",
		"?namespace=weather":                  "weather:get-today weather:get_week",
		"?query=op01&namespace=files&limit=2": "files:op010 files:op011", "?query=zebra": "",
	} {
		var found struct {
			Items []struct{ Name, Call, Declaration string }
		}
		if err := json.Unmarshal(want(t, s.do(t, "GET", "/api/tools"+query, "", all), 200).body, &found); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, i := range found.Items {
			names = append(names, i.Name)
			if i.Call == "" || !strings.Contains(i.Declaration, "declare const") {
				t.Errorf("%+v", i)
			}
		}
		if got := strings.Join(names, " "); got != items {
			t.Errorf("%s: %s", query, got)
		}
	}
	if v := s.do(t, "POST", "/api/analyze", code("weather.get_today()"),
		few).json(t); v["decision"].(map[string]any)["allow"] != true {
		t.Error(v)
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// manyTools is an attached server with a thousand tools.
type manyTools struct {
	attached
	tools []execution.Tool
}

func (m manyTools) Tools() []execution.Tool { return m.tools }

func (manyTools) Unlisted() []execution.UnlistedServer {
	return []execution.UnlistedServer{{Namespace: "lost", Server: "s", Problem: "it is gone"}}
}

// Sources of 16 MiB that name all namespaces cost the gateway's own process at most twice as much as others, however
// many tools are attached.
func TestOwnCostsOfNamedTools(t *testing.T) {
	var m manyTools
	code := "tools.search; lost.a; "
	for i := range 1000 {
		m.tools = append(m.tools, execution.Tool{Name: fmt.Sprintf("weather%d:tool%d", i%40, i)})
		code += fmt.Sprintf("weather%d;", i%40)
	}
	s := serve(t, options{attached: m, reader: newFarReader(t), invoke: small})
	for _, text := range []string{
		"a ", "tool1 ", "weather1.tool1;", "weather1tool", "lost", "lost ", "lost.a;", "tools.searc;",
	} {
		body := `{"code":"` + code + strings.Repeat(text, 3<<20/len(text)) + `","files":{"a.js":"` +
			strings.Repeat(text, 12<<20/len(text)) + `"}}`
		s.within(t, text, 2*ownTime, len(body), func() time.Duration { // as much again as the request itself
			return s.cost(t, "POST", "/api/execute", body, "Cache-Control: no-store")
		})
	}
}

// Fifty searches among a thousand tools, and one for as many words as a call can have, cost the gateway's own process
// no more than one other request.
func TestOwnCostsOfSearches(t *testing.T) {
	var m manyTools
	var many strings.Builder
	for i := range 1000 {
		m.tools = append(m.tools, execution.Tool{
			Name: fmt.Sprintf("weather:tool%d", i), Description: strings.Repeat(fmt.Sprintf("get the thing %d and ", i), 20),
		})
	}
	for i := range 150_000 {
		fmt.Fprintf(&many, "w%x ", i)
	}
	queries := make(chan string, 1)
	took := make(chan time.Duration, 1)
	s := serve(t, options{attached: m, invoke: func(
		ctx context.Context, inv execution.Invocation, _ func(execution.Log),
	) (execution.Reply, error) {
		query, times := "", 1
		select {
		case query = <-queries:
		default: // a request that the cost is compared with
			return execution.Reply{Recorded: true, Result: execution.Result{ID: inv.ID, Status: execution.Completed}}, nil
		}
		if len(query) < 100 {
			times = 50
		}
		before := processorTime()
		for range times {
			found, err := inv.CallTool(ctx, "tools:search", json.RawMessage(`"`+query+`"`))
			if err != nil || times > 1 && !strings.Contains(string(found), "weather.tool1") {
				t.Errorf("%.100s, %v", found, err)
			}
		}
		took <- processorTime() - before
		return execution.Reply{Recorded: true, Result: execution.Result{ID: inv.ID, Status: execution.Completed}}, nil
	}})
	for _, query := range []string{"get things", many.String()} {
		s.within(t, fmt.Sprintf("searches for %.20q", query), ownTime, 1<<20, func() time.Duration {
			queries <- query
			want(t, s.do(t, "POST", "/api/execute", `{"code":"await tools.search('x')"}`, "Cache-Control: no-store"), 200)
			return <-took
		})
	}
	// A declaration is made once, however often code asks for it.
	describes := serve(t, options{attached: m, invoke: func(
		ctx context.Context, inv execution.Invocation, _ func(execution.Log),
	) (execution.Reply, error) {
		first, err := inv.CallTool(ctx, "tools:describe", json.RawMessage(`"weather.tool7"`))
		again, _ := inv.CallTool(ctx, "tools:describe", json.RawMessage(`"weather.tool7"`))
		if err != nil || !strings.Contains(string(first), "tool7") || string(again) != string(first) {
			t.Errorf("%s, then %s, %v", first, again, err)
		}
		return execution.Reply{Recorded: true, Result: execution.Result{ID: inv.ID, Status: execution.Completed}}, nil
	}})
	want(t, describes.do(t, "POST", "/api/execute", `{"code":"await tools.describe('x')"}`), 200)
	path := "/api/tools?query=" + strings.ReplaceAll(many.String()[:6000], " ", "+")
	s.within(t, "GET /api/tools", ownTime, 1<<20, func() time.Duration { return s.cost(t, "GET", path, "") })
}
