package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/functions/execution"
	client "github.com/airlock-run/airlock/gateway/client/go"
)

type city struct {
	City string `json:"city" jsonschema:"the name of a city"`
}

type weather struct {
	Degrees int `json:"degrees"`
}

// forecasts is a real MCP server that requires a token.
func forecasts(t *testing.T) *httptest.Server {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "forecasts", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "get-today", Description: "The weather of today in a city."},
		func(_ context.Context, _ *sdk.CallToolRequest, in city) (*sdk.CallToolResult, weather, error) {
			if in.City == "Atlantis" {
				return nil, weather{}, fmt.Errorf("there is no such city")
			}
			return nil, weather{len(in.City)}, nil
		})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer of-the-forecasts" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

// Code calls the tools of an attached MCP server, over every interface; the gateway declares them and finds them.
func TestRemoteTools(t *testing.T) {
	t.Parallel()
	upstream := forecasts(t)
	servers := `MCP_SERVERS=[{"namespace":"weather","url":"` + upstream.URL + `","secret":"FORECASTS"}]`
	environment := []string{servers, "AIRLOCK_SECRET_FORECASTS=of-the-forecasts", "EGRESS_ALLOW=127.0.0.1",
		"RATE_LIMIT_MAX_REQUESTS=1000"}
	p := start(t, environment...)
	const script = `const [a, b] = await Promise.all(["Rome", "Berlin"].map(city => weather.get_today({city}))); ` +
		`return a.degrees + b.degrees`
	for _, tier := range []string{"strict", "standard", "agent"} {
		if status, v := p.post(t.Context(), t, "/api/execute",
			`{"policy":"`+tier+`","code":`+quoted(script)+`}`); status != 200 || v["result"] != 10.0 ||
			v["apiCallCount"] != 2.0 {
			t.Errorf("%s: %d %v", tier, status, v)
		}
	}
	_, v := p.post(t.Context(), t, "/api/execute",
		`{"code":`+quoted(`try { await weather.get_today({city: "Atlantis"}) } catch (e) { return e.message }`)+`}`)
	if v["result"] != "tool weather:get-today: there is no such city" {
		t.Error(v)
	}
	_, v = p.post(t.Context(), t, "/api/execute",
		`{"code":`+quoted(`try { await weather.get_today({city: 7}) } catch (e) { return e.name }`)+`}`)
	if v["result"] != "TypeError" {
		t.Error(v)
	}
	// Code has only the tools that it names, and tools of the request take precedence.
	if _, v = p.post(t.Context(), t, "/api/execute",
		`{"code":"typeof globalThis['wea' + 'ther']"}`); v["result"] != "undefined" {
		t.Error(v)
	}
	if _, v = p.post(t.Context(), t, "/api/execute",
		`{"code":"weather.own","context":{"weather":{"own":1}}}`); v["result"] != 1.0 {
		t.Error(v)
	}
	res, err := http.Get(p.url + "/api/tools.d.ts")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(text), "declare const weather: {") ||
		!strings.Contains(string(text), "declare const input") {
		t.Errorf("%s %v", text, err)
	}
	session := agent(t, nil, environment)
	found, failed := call(t, session, "search_tools", map[string]any{"query": "weather in a city"})
	items, ok := found["items"].([]any)
	if failed || !ok || len(items) != 1 {
		t.Fatal(found)
	}
	tool := items[0].(map[string]any)
	if tool["call"] != "weather.get_today" ||
		!strings.Contains(tool["declaration"].(string),
			"get_today(params: {\n    /** the name of a city */\n    city: string;\n  }): Promise<{\n    degrees: number;\n  "+
				"}>;") {
		t.Error(tool)
	}
	if result, failed := call(t, session, "execute_code", map[string]any{"code": script}); failed ||
		result["result"] != 10.0 {
		t.Error(result)
	}
	if found, _ := call(t, session, "search_tools",
		map[string]any{"query": "submarine"}); len(found["items"].([]any)) != 0 {
		t.Error(found)
	}
}

// Code finds the tools of attached servers and their declarations by itself, over every interface.
func TestCodeSearchesTools(t *testing.T) {
	t.Parallel()
	upstream := forecasts(t)
	p := start(t, `MCP_SERVERS=[{"namespace":"weather","url":"`+upstream.URL+`","secret":"FORECASTS"}]`,
		"AIRLOCK_SECRET_FORECASTS=of-the-forecasts", "EGRESS_ALLOW=127.0.0.1", "RATE_LIMIT_MAX_REQUESTS=1000")
	run := func(code string) any {
		t.Helper()
		_, v := p.post(t.Context(), t, "/api/execute", `{"code":`+quoted(code)+`}`)
		if v["status"] != "completed" {
			t.Error(v["error"])
		}
		return v["result"]
	}
	for code, want := range map[string]any{
		`await tools.search("weather of a city")`: []any{map[string]any{"call": "weather.get_today",
			"description": "The weather of today in a city."}},
		`await tools.search("submarine")`:                                             []any{},
		`(await tools.describe("weather.get_today")).includes("get_today(params: {")`: true,
		`await tools.describe("weather.none").catch(e => e.message)`: "tool tools:describe: there is no tool weather.none; " +
			"tools.search lists the available tools",
		`typeof tools`: "undefined",
	} {
		if diff := cmp.Diff(want, run(code)); diff != "" {
			t.Errorf("%s: %s", code, diff)
		}
	}
	// The same beside tools of the caller, whose calls travel over the stream.
	c, err := client.New(client.Config{URL: p.url})
	if err != nil {
		t.Fatal(err)
	}
	result, err := c.Execute(t.Context(), execution.Request{Code: `[await own(), (await tools.search("city")).length]`},
		client.Tools(client.Tool{Name: "own", Call: func(context.Context, json.RawMessage) (any, error) { return 7, nil }}))
	if err != nil || result.Value.String() != "[7,1]" {
		t.Error(result, err)
	}
}

// A server that cannot be reached says why: to code that calls it, to agents, and to doctor.
func TestUnreachableServer(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	environment := []string{`MCP_SERVERS=[{"namespace":"crm","url":"` + gone.URL + `"}]`, "EGRESS_ALLOW=127.0.0.1",
		"RATE_LIMIT_MAX_REQUESTS=1000"}
	const why = "the server of crm cannot be reached: it refuses connections"
	p := start(t, environment...)
	if _, v := p.post(t.Context(), t, "/api/execute",
		`{"code":"await crm.find({name: 'Ada'})"}`); v["error"] != "Error: tool crm:find: "+why {
		t.Error(v["error"])
	}
	for code, want := range map[string]any{
		`await crm["find"]({name: "Ada"})`:                       "Error: tool crm:*: " + why,
		`const {find} = crm; await find()`:                       "Error: tool crm:*: " + why,
		`const name = "fi" + "nd"; await crm?.[name]()`:          "Error: tool crm:*: " + why,
		`crm.find.sync()`:                                        "Error: tool crm:find: " + why,
		`if (typeof crm !== "object") throw new Error("no crm")`: nil,
		`if (await crm !== crm || crm + "" !== "[object Object]") throw new Error("it is not plain")`: nil,
		`if (JSON.stringify(crm) !== "{}" || crm.nope === undefined) throw new Error("it shows")`:     nil,
	} {
		if _, v := p.post(t.Context(), t, "/api/execute", `{"code":`+quoted(code)+`}`); v["error"] != want {
			t.Errorf("%s: %v, want %v", code, v["error"], want)
		}
	}
	session := agent(t, nil, environment)
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(list)
	if err != nil || !strings.Contains(string(text), "crm ("+why+")") ||
		!strings.Contains(string(text), "standard (default): 15 s") {
		t.Errorf("%s %v", text, err)
	}
	code, out, _ := command(t, env("PORT=0", "EGRESS_ALLOW=127.0.0.1",
		`MCP_SERVERS=[{"namespace":"crm","url":"`+gone.URL+`"},{"namespace":"erp","command":"/none"}]`), "doctor")
	if code != exitPlatform || !strings.Contains(out, "MCP_SERVERS: crm: "+why+"\n") ||
		!strings.Contains(out, "                MCP_SERVERS: erp: the server of erp cannot be started") {
		t.Error(code, out)
	}
}

// The list of servers is read again on SIGHUP; one that is wrong changes nothing, for processes that start later too.
func TestRemoteToolsReload(t *testing.T) {
	t.Parallel()
	upstream := forecasts(t)
	file := filepath.Join(t.TempDir(), "servers.json")
	if err := os.WriteFile(file, []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	entry := func(namespace string) string {
		return `{"namespace":"` + namespace + `","url":"` + upstream.URL + `","secret":"FORECASTS"}`
	}
	p := start(t, "MCP_SERVERS="+file, "AIRLOCK_SECRET_FORECASTS=of-the-forecasts", "EGRESS_ALLOW=127.0.0.1",
		"RATE_LIMIT_MAX_REQUESTS=100000")
	has := func(namespace string) func() bool {
		return func() bool {
			status, v := p.post(t.Context(), t, "/api/execute",
				`{"code":`+quoted(`typeof `+namespace+` === "object" ? (await `+namespace+`.get_today({city: "Rome"})).degrees `+
					`: 0`)+`}`)
			return status == 200 && v["result"] == 4.0
		}
	}
	reload := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := p.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	reload(`[` + entry("weather") + `]`)
	until(t, "the server in gateway and function process", has("weather"))
	reload(`[` + entry("weather") + `,` + entry("sky") + `]`)
	until(t, "a second one", has("sky"))
	reload(`[{`)
	if !has("weather")() || !has("sky")() {
		t.Error("a wrong list changed something")
	}
	reload(`[` + entry("sky") + `]`)
	until(t, "one of them gone", func() bool { return !has("weather")() && has("sky")() })
}

// A server replaces its tools while code runs. The run goes on with the tools that it began with: a call of one that is
// gone fails, the schemas are those of the beginning, and new tools are there for the next run.
func TestRemoteToolsChangeDuringARun(t *testing.T) {
	t.Parallel()
	s := sdk.NewServer(&sdk.Implementation{Name: "moving", Version: "1"}, nil)
	tool := func(name string, call func()) {
		sdk.AddTool(s, &sdk.Tool{Name: name, Description: name},
			func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, weather, error) {
				call()
				return nil, weather{len(name)}, nil
			})
	}
	tool("old", func() {})
	tool("kept", func() {})
	tool("change", func() {
		s.RemoveTools("old")
		tool("fresh", func() {})
		sdk.AddTool(s, &sdk.Tool{Name: "kept"},
			func(_ context.Context, _ *sdk.CallToolRequest, in city) (*sdk.CallToolResult, weather, error) {
				return nil, weather{1000 + len(in.City)}, nil
			})
	})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	upstream := httptest.NewServer(handler)
	t.Cleanup(upstream.Close)
	p := start(t, `MCP_SERVERS=[{"namespace":"moving","url":"`+upstream.URL+`"}]`, "EGRESS_ALLOW=127.0.0.1",
		"RATE_LIMIT_MAX_REQUESTS=1000")
	const script = `const out = [];
const attempt = async (f) => { try { out.push((await f()).degrees) } catch (e) { out.push(e.message) } };
await attempt(() => moving.old({}));
await attempt(() => moving.change({}));
await attempt(() => moving.old({}));
await attempt(() => moving.kept({city: "Rome"}));
await attempt(() => moving.fresh({}));
return out`
	during := []any{3.0, 6.0, `tool moving:old: unknown tool "old"`, "tool moving:kept: the parameters do not fit: " +
		"the value: additional properties 'city' not allowed",
		"moving.fresh is not a function; moving has: change, kept, old"}
	_, v := p.post(t.Context(), t, "/api/execute", `{"code":`+quoted(script)+`}`)
	if diff := cmp.Diff(any(during), v["result"]); diff != "" {
		t.Error(diff)
	}
	until(t, "the new tool", func() bool {
		_, v = p.post(t.Context(), t, "/api/execute", `{"code":`+quoted(`return (await moving.fresh({})).degrees`)+`}`)
		return v["result"] == 5.0
	})
	const gone = "moving.old is not a function; moving has: change, fresh, kept"
	_, v = p.post(t.Context(), t, "/api/execute", `{"code":`+quoted(script)+`}`)
	if diff := cmp.Diff(any([]any{gone, 6.0, gone, 1004.0, 5.0}), v["result"]); diff != "" {
		t.Error(diff)
	}
}

// A guest never sees the credential, and the rules of the network hold for attached servers too.
func TestRemoteToolsObeyEgress(t *testing.T) {
	t.Parallel()
	upstream := forecasts(t)
	p := start(t, `MCP_SERVERS=[{"namespace":"weather","url":"`+upstream.URL+`","secret":"FORECASTS"}]`,
		"AIRLOCK_SECRET_FORECASTS=of-the-forecasts", "RATE_LIMIT_MAX_REQUESTS=1000")
	// The gateway could not list its tools either, so the request names one.
	status, v := p.post(t.Context(), t, "/api/execute",
		`{"policy":"agent","tools":[{"name":"weather:get-today"}],"code":`+quoted(`try { return await `+
			`weather.get_today({city: "Rome"}) } catch (e) { return e.message }`)+`}`)
	if text, _ := v["result"].(string); status != 200 || !strings.Contains(text, "not a public one") {
		t.Error(status, v)
	}
	if _, v = p.post(t.Context(), t, "/api/execute",
		`{"policy":"agent","code":"JSON.stringify([Object.keys(secrets), process.env])"}`); strings.Contains(fmt.Sprint(v),
		"forecasts") {
		t.Error(v)
	}
}

func quoted(text string) string { return fmt.Sprintf("%q", text) }

func TestRemoteToolsSettings(t *testing.T) {
	t.Parallel()
	for value, says := range map[string]string{
		"[{}]": "MCP_SERVERS: [0].namespace", "/nowhere": "MCP_SERVERS: must be a JSON list",
		`[{"namespace":"a","url":"x"}]`: "MCP_SERVERS: [0].url",
	} {
		if code, _, errs := command(t, env("PORT=0", "MCP_SERVERS="+value), "serve"); code != exitUsage ||
			!strings.Contains(errs, says) {
			t.Errorf("%s: %d %s", value, code, errs)
		}
	}
}
