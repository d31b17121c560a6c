package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// toolCall is a call of a tool of the caller.
type toolCall struct {
	Seq    int             `json:"seq"`
	Tool   string          `json:"tool"`
	Params json.RawMessage `json:"params"`
}

// withTools runs a request over a stream and answers its calls at once. answer returns the body of an answer, or "" for
// none. It returns the result.
func (p *program) withTools(
	ctx context.Context, t *testing.T, request map[string]any, answer func(toolCall) string,
) map[string]any {
	t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(ctx, "POST", p.url+"/api/execute/stream", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != 200 {
		t.Fatal(res.Status)
	}
	var answers sync.WaitGroup
	defer answers.Wait()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 8<<20)
	name := ""
	for lines.Scan() {
		if event, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			name = event
		}
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		switch {
		case ok && name == "call":
			var call toolCall
			if err := json.Unmarshal([]byte(data), &call); err != nil {
				t.Error(err)
			}
			answers.Go(func() {
				text := answer(call)
				if text == "" {
					return
				}
				path := fmt.Sprintf("%s/api/executions/%s/calls/%d", p.url, res.Header.Get("X-Execution-Id"), call.Seq)
				answered, err := http.Post(path, "application/json", strings.NewReader(text))
				if err != nil {
					t.Error(err)
					return
				}
				_ = answered.Body.Close() // only the status counts
				if answered.StatusCode != 204 {
					t.Errorf("answer %d: %s", call.Seq, answered.Status)
				}
			})
		case ok && name == "complete":
			var result map[string]any
			if err := json.Unmarshal([]byte(data), &result); err != nil {
				t.Fatal(err)
			}
			return result
		case ok && name == "error":
			t.Fatal(data)
		}
	}
	t.Fatal("the stream ended without a result", lines.Err())
	return nil
}

// Code calls tools that its caller answers over the stream: no server, and no EGRESS_ALLOW.
func TestCallerTools(t *testing.T) {
	t.Parallel()
	p := start(t, "RATE_LIMIT_MAX_REQUESTS=100", "AUDIT_CODE=keep")
	tools := []map[string]any{
		{"name": "crm:find", "via": "caller", "inputSchema": map[string]any{
			"type": "object", "required": []string{"name"},
			"properties": map[string]any{"name": map[string]any{"type": "string"}},
		}},
		{"name": "add", "via": "caller"},
	}
	answer := func(c toolCall) string {
		switch {
		case c.Tool == "add":
			return `{"value":` + string(c.Params) + `}`
		case strings.Contains(string(c.Params), "nobody"):
			return `{"error":"no such customer"}`
		case strings.Contains(string(c.Params), "silent"):
			return ""
		case strings.Contains(string(c.Params), "large"):
			return `{"value":"` + strings.Repeat("x", 900_000) + `"}`
		}
		return `{"value":{"id":7}}`
	}
	run := func(policy, code string, more ...string) map[string]any {
		t.Helper()
		request := map[string]any{"code": code, "tools": tools, "policy": policy}
		for _, m := range more {
			name, value, _ := strings.Cut(m, "=")
			request[name] = json.RawMessage(value)
		}
		return p.withTools(t.Context(), t, request, answer)
	}
	for _, tier := range []string{"strict", "standard", "agent"} {
		v := run(tier, `const c = await crm.find({name: "Ada"}); console.log(c.id); return c.id + await add.call(5)`)
		if v["result"] != 12.0 || v["apiCallCount"] != 2.0 || v["status"] != "completed" {
			t.Errorf("%s: %v", tier, v)
		}
	}
	if v := run("agent", `let n = 0; await Promise.all(Array.from({length: 40}, (_, i) => add.call(i).then(v => n += v)));
		return n`); v["result"] != 780.0 {
		t.Error("many at once:", v)
	}
	if v := run("standard", `return crm.find.sync({name: "Ada"}).id`); v["result"] != 7.0 {
		t.Error("synchronous:", v)
	}
	for code, want := range map[string]string{
		`await crm.find({name: "nobody"})`:         "tool crm:find: no such customer",
		`await crm.find({name: 7})`:                "tool crm:find: the parameters do not fit",
		`await add.call("x".repeat(2e6))`:          "tool add: the parameters have 2000002 bytes",
		`(await crm.find({name: "large"})).length`: "900000",
	} {
		v := run("extended", `try { return `+code+` } catch (e) { return e.message }`)
		if text := fmt.Sprint(v["result"]); v["status"] != "completed" || !strings.Contains(text, want) {
			t.Errorf("%s: %.300v", code, v)
		}
	}
	// A call without an answer ends with its run.
	if v := run("standard", `await crm.find({name: "silent"})`, "timeout=300"); v["status"] != "timeout" ||
		v["limit"] != "wall" {
		t.Error("no answer:", v)
	}
	if v := run("standard", `for (let i = 0; i < 9; i++) await add(i)`,
		`limits={"apiCalls":3}`); v["limit"] != "apiCalls" {
		t.Error("too many calls:", v)
	}
	// The record has the calls, so the run can be repeated without its caller.
	v := run("standard", `return (await crm.find({name: "Ada"})).id`)
	id, _ := v["id"].(string)
	status, again := p.post(t.Context(), t, "/api/audit/execution/"+id+"/replay", "{}")
	if replayed, _ := again["result"].(map[string]any); status != 200 || fmt.Sprint(again["differences"]) != "[]" ||
		replayed["result"] != 7.0 {
		t.Errorf("replay: %d %v", status, again)
	}
	// The next execution of the same process has no tools and no caller.
	if status, v := p.post(t.Context(), t, "/api/execute", `{"code":"typeof crm"}`); status != 200 ||
		v["result"] != "undefined" {
		t.Error(status, v)
	}
}
