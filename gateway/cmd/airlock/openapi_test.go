package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/airlock-run/airlock/functions/execution"
	client "github.com/airlock-run/airlock/gateway/client/go"
	"github.com/airlock-run/airlock/policy/audit"
)

// every is an operation of the document, in the order in which they are carried out.
type every struct {
	method, path string
	op           *openapi3.Operation
}

// Every operation is carried out with each of its examples against a real gateway; the answers are as described.
func TestOpenAPIExamples(t *testing.T) {
	t.Parallel()
	p := start(t, "RATE_LIMIT_MAX_REQUESTS=10000", "AUDIT_CODE=keep")
	res, err := http.Get(p.url + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(b)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	schemas := jsonschema.NewCompiler()
	if err := schemas.AddResource("openapi.json", whole); err != nil {
		t.Fatal(err)
	}
	var all []every
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			all = append(all, every{method, path, op})
		}
	}
	order := []string{"PUT", "POST", "GET", "DELETE"}
	slices.SortFunc(all, func(a, b every) int {
		if d := slices.Index(order, a.method) - slices.Index(order, b.method); d != 0 {
			return d
		}
		if a.method == "DELETE" {
			return strings.Compare(b.path, a.path) // what is inside goes first
		}
		return strings.Compare(a.path, b.path)
	})
	known := map[string]string{}
	for _, e := range all {
		t.Run(e.method+" "+e.path, func(t *testing.T) { e.carryOut(t, p, schemas, known) })
	}
}

func (e every) carryOut(t *testing.T, p *program, schemas *jsonschema.Compiler, known map[string]string) {
	bodies := []any{nil}
	if e.op.RequestBody != nil {
		bodies = nil
		media := e.op.RequestBody.Value.Content.Get("application/json")
		if media == nil {
			t.Fatal("it takes a body that is no JSON")
		}
		examples := media.Examples
		if len(examples) == 0 {
			t.Fatal("it takes a body, and there is no example of one")
		}
		for _, name := range slices.Sorted(maps.Keys(examples)) {
			bodies = append(bodies, examples[name].Value.Value)
		}
	}
	if e.op.OperationID == "cancel" {
		known["id"] = accepted(t, p)
	}
	if e.op.OperationID == "cancelExecution" {
		known["id"] = accepted(t, p)
	}
	if e.op.OperationID == "resume" {
		known["id"] = paused(t, p, `await airlock.approve({title: \"go on?\"})`)
	}
	if e.op.OperationID == "sendEvent" {
		known["id"] = paused(t, p, `await airlock.waitForEvent(\"replied\")`)
	}
	if strings.HasPrefix(e.path, "/api/sessions") || strings.HasPrefix(e.path, "/api/e2b") {
		before := known["id"]
		t.Cleanup(func() { known["id"] = before })
		_, v := p.post(t.Context(), t, "/api/sessions", `{}`)
		known["id"], _ = v["id"].(string)
	}
	if e.op.OperationID == "e2bExecute" {
		bodies = []any{map[string]string{"code": "1", "context_id": known["id"]}} // in place of the example's own id
	}
	if e.op.OperationID == "answerCall" {
		known["id"] = calling(t, p)
	}
	if e.op.OperationID == "redeliverHook" {
		bodies = []any{map[string]string{"execution": delivered(t, p)}} // in place of the example's own id
	}
	if e.op.OperationID == "replay" {
		_, v := p.post(t.Context(), t, "/api/execute", `{"code": "1"}`)
		known["id"], _ = v["id"].(string)
	}
	for _, body := range bodies {
		var payload io.Reader
		if body != nil {
			b, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			payload = bytes.NewReader(b)
		}
		r, err := http.NewRequestWithContext(t.Context(), e.method, p.url+e.address(t, known), payload)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if id := known["session"]; id != "" && e.path == "/mcp" {
			r.Header.Set("Mcp-Session-Id", id)
		}
		for _, header := range e.op.Parameters {
			if header.Value.In == "header" && header.Value.Example != nil {
				r.Header.Set(header.Value.Name, header.Value.Example.(string))
			}
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		e.judge(t, schemas, res, known)
		res.Body.Close()
	}
}

// calling returns the id of an execution that waits for its caller's answer to its first call.
func calling(t *testing.T, p *program) string {
	res, err := http.Post(p.url+"/api/execute/stream", "application/json", strings.NewReader(
		`{"code": "await weather.today()", "tools": [{"name": "weather:today", "via": "caller"}], "policy": "agent"}`))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if lines.Text() == "event: call" {
			return res.Header.Get("X-Execution-Id")
		}
	}
	t.Fatal("there was no call")
	return ""
}

// paused returns the id of an execution of code that waits.
func paused(t *testing.T, p *program, code string) string {
	status, v := p.post(t.Context(), t, "/api/execute", `{"code": "`+code+`"}`)
	if status != 202 || v["status"] != "paused" {
		t.Fatalf("%d %v", status, v)
	}
	return v["id"].(string)
}

// accepted returns the id of an execution that runs until it is cancelled.
func accepted(t *testing.T, p *program) string {
	status, v := p.post(t.Context(), t, "/api/execute", `{"code": "for (;;);", "policy": "agent"}`,
		"Prefer: respond-async")
	id, ok := v["id"].(string)
	if status != 202 || !ok {
		t.Fatalf("%d %v", status, v)
	}
	return id
}

// delivered returns the id of an execution that a webhook began.
func delivered(t *testing.T, p *program) string {
	res, err := http.Post(p.url+"/hooks/greet", "application/json", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	id := res.Header.Get("X-Execution-Id")
	if !execution.ValidID(id) {
		t.Fatal(res.Status, res.Header)
	}
	return id
}

// address fills in the parameters: ids that are known by now, else their examples.
func (e every) address(t *testing.T, known map[string]string) string {
	path, query := e.path, ""
	for _, parameter := range e.op.Parameters {
		v := parameter.Value
		example := v.Example
		if example == nil && v.Schema != nil {
			example = v.Schema.Value.Example
		}
		text, _ := example.(string)
		if n, ok := example.(float64); ok {
			text = strconv.Itoa(int(n))
		}
		switch {
		case v.In == "path" && v.Name == "id":
			path = strings.Replace(path, "{id}", known["id"], 1)
		case v.In == "path":
			if text == "" {
				t.Fatalf("the parameter %s has no example", v.Name)
			}
			path = strings.Replace(path, "{"+v.Name+"}", text, 1)
		case v.In == "query" && text != "":
			query += "&" + v.Name + "=" + text
		}
	}
	if query != "" {
		path += "?" + query[1:]
	}
	return path
}

func (e every) judge(t *testing.T, schemas *jsonschema.Compiler, res *http.Response, known map[string]string) {
	answer := e.op.Responses.Value(strconv.Itoa(res.StatusCode))
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	if answer == nil {
		b, _ := io.ReadAll(res.Body)
		t.Fatalf("%d is not described\n%s", res.StatusCode, b)
	}
	if res.StatusCode >= 400 {
		b, _ := io.ReadAll(res.Body)
		t.Fatalf("%d\n%s", res.StatusCode, b)
	}
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		known["session"] = id
	}
	media := answer.Value.Content.Get(kind)
	if media == nil {
		if kind != "" || len(answer.Value.Content) > 0 {
			t.Errorf("%d comes as %q, which is not described", res.StatusCode, kind)
		}
		return
	}
	if kind != "application/json" {
		return // text; a stream may never end
	}
	v, err := jsonschema.UnmarshalJSON(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	at := "openapi.json#/paths/" + escape(e.path) + "/" + strings.ToLower(e.method) + "/responses/" +
		strconv.Itoa(res.StatusCode) + "/content/" + escape(kind) + "/schema"
	if answer.Value.Content[kind] != nil {
		schema, err := schemas.Compile(at)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%d is not as described: %v", res.StatusCode, err)
		}
	}
	if o, ok := v.(map[string]any); ok && o["status"] == "completed" && e.path == "/api/execute" {
		known["id"] = o["id"].(string)
	}
}

// escape writes a member's name in a JSON pointer that is a fragment.
func escape(name string) string {
	return url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
}

// The Go client, from end to end.
func TestClient(t *testing.T) {
	t.Parallel()
	p := start(t, "API_KEY=sk-of-the-tests-here", "RATE_LIMIT_MAX_REQUESTS=1000")
	c, err := client.New(client.Config{URL: p.url, Token: "sk-of-the-tests-here"})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	result, err := c.Execute(ctx, execution.Request{Code: "input.map(n => n * 2)", Input: json.RawMessage("[1,2]")})
	if err != nil || result.Value.String() != "[2,4]" {
		t.Fatal(result, err)
	}
	if again, err := c.Result(ctx, result.ID); err != nil || again.ID != result.ID || again.Value.String() != "[2,4]" {
		t.Error(again, err)
	}
	if record, err := c.Record(ctx, result.ID); err != nil || record.Status != "completed" || record.Via != "http" {
		t.Error(record, err)
	}
	var printed string
	streamed, err := c.ExecuteStream(ctx, execution.Request{Code: "for (const n of [1, 2]) console.log(n); return 'end'"},
		func(chunk client.Chunk) { printed += chunk.Chunk })
	if err != nil || streamed.Value.String() != `"end"` || printed != "1\n2\n" {
		t.Error(streamed, printed, err)
	}
	page, err := c.Records(ctx, audit.Query{Limit: 1})
	if err != nil || len(page.Items) != 1 {
		t.Fatal(page, err)
	}
	if page.Items[0].ID != streamed.ID {
		t.Errorf("the newest record is %s, want %s", page.Items[0].ID, streamed.ID)
	}
	if page.Next == "" {
		t.Error("the page names no next one")
	}
	if next, err := c.Records(ctx, audit.Query{Limit: 1, Cursor: page.Next}); err != nil || len(next.Items) != 1 ||
		next.Items[0].ID != result.ID {
		t.Error(next, err)
	}
	if analysis, err := c.Analyze(ctx, execution.Request{Code: "const = 1"}); err != nil || analysis.SyntaxError == nil ||
		analysis.SyntaxError.Line != 1 {
		t.Error(analysis, err)
	}
}

// The Go client submits, cancels, offers tools, and runs once for a key.
func TestClientCalls(t *testing.T) {
	t.Parallel()
	p := start(t, "API_KEY=sk-of-the-tests-here", "RATE_LIMIT_MAX_REQUESTS=1000")
	c, err := client.New(client.Config{URL: p.url, Token: "sk-of-the-tests-here"})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	id, err := c.Submit(ctx, execution.Request{Code: "6 * 7"})
	if err != nil {
		t.Fatal(err)
	}
	if later, err := c.Wait(ctx, id); err != nil || later.String() != "completed: 42" {
		t.Error(later, err)
	}
	endless, err := c.Submit(ctx, execution.Request{Code: "for (;;);", Policy: "agent"})
	if err == nil {
		err = c.Cancel(ctx, endless)
	}
	if stopped, waited := c.Wait(ctx, endless); err != nil || waited != nil || stopped.Status != execution.Cancelled {
		t.Error(stopped, err, waited)
	}
	find := client.Tool{
		Name: "crm:find", InputSchema: json.RawMessage(`{"type":"object","required":["name"]}`),
		Call: func(_ context.Context, params json.RawMessage) (any, error) {
			if strings.Contains(string(params), "nobody") {
				return nil, errors.New("no such customer")
			}
			return params, nil
		},
	}
	for code, want := range map[string]string{
		`(await crm.find({name: "Ada"})).name`:                      `completed: "Ada"`,
		`await crm.find({name: "nobody"})`:                          "error: Error: tool crm:find: no such customer",
		`crm.find({}).catch(e => e.message.includes("do not fit"))`: "completed: true",
	} {
		if called, err := c.Execute(ctx, execution.Request{Code: code}, client.Tools(find)); err != nil ||
			called.String() != want {
			t.Errorf("%s: %s %v", code, called, err)
		}
	}
	once := client.IdempotencyKey("the-same")
	first, err1 := c.Execute(ctx, execution.Request{Code: "Math.random()"}, once)
	second, err2 := c.Execute(ctx, execution.Request{Code: "Math.random()"}, once)
	if errors.Join(err1, err2) != nil || first.ID != second.ID {
		t.Error(first.ID, second.ID, err1, err2)
	}
}
