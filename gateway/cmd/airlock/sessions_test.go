package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A session of the real engine outlives its gateway, and what its code pollutes stays inside it.
func TestSessionsOutliveTheGateway(t *testing.T) {
	t.Parallel()
	environment := []string{"AUDIT_STORE=file://" + filepath.Join(t.TempDir(), "audit"),
		"RATE_LIMIT_MAX_REQUESTS=1000000"}
	p := start(t, environment...)
	step := func(path, code string) map[string]any {
		t.Helper()
		body, err := json.Marshal(map[string]any{"code": code, "timeout": 2000})
		if err != nil {
			t.Fatal(err)
		}
		status, v := p.post(t.Context(), t, path+"/execute", string(body))
		if status != 200 {
			t.Fatal(status, v)
		}
		return v
	}
	create := func() string {
		t.Helper()
		status, v := p.post(t.Context(), t, "/api/sessions", `{"policy":"agent"}`)
		if status != 201 {
			t.Fatal(status, v)
		}
		return "/api/sessions/" + v["id"].(string)
	}
	path, other := create(), create()
	step(path, `let total = 40; class Box { constructor(v) { this.v = v } }
function add(n) { total += n; return new Box(total).v }`)
	v := step(path, `const o = Object.getPrototypeOf({}), a = Object.getPrototypeOf([]);
o.polluted = "yes"; a.map = () => "mine"; JSON.parse = () => "mine"; globalThis.x = 1`)
	if v["status"] != "completed" {
		t.Fatal(v)
	}
	for _, c := range []struct{ name, path, code, status, result string }{
		{"declarations persist", path, `add(2)`, "completed", "42"},
		{"pollution persists in the session", path, `[({}).polluted, [1].map(n => n), JSON.parse("2"), x]`, "completed",
			"[yes mine mine 1]"},
		{"another session is clean", other, `[({}).polluted, [1].map(n => n), JSON.parse("2"), typeof x]`, "completed",
			"[<nil> [1] 2 undefined]"},
		{"a failure", path, `total = 0; throw new Error("no")`, "error", "<nil>"},
		{"a limit", path, `total = 0; for (;;);`, "timeout", "<nil>"},
		{"a wait", path, `total = 0; await airlock.sleep("3 days")`, "error", "<nil>"},
		{"all of them left the session as it was", path, `total`, "completed", "42"},
	} {
		v := step(c.path, c.code)
		if v["status"] != c.status || fmt.Sprint(v["result"]) != c.result {
			t.Errorf("%s: got %v: %v (%v)", c.name, v["status"], v["result"], v["error"])
		}
	}
	if v := step(path, `await airlock.approve({title: "?"})`); !strings.Contains(fmt.Sprint(v["error"]), "session") {
		t.Errorf("waiting is refused with %v", v["error"])
	}
	status, v := p.post(t.Context(), t, "/api/execute", `{"policy":"agent","code":"[({}).polluted, typeof total]"}`)
	if status != 200 || fmt.Sprint(v["result"]) != "[<nil> undefined]" {
		t.Errorf("an execution outside got %v", v)
	}
	killed(t, p)
	p = start(t, environment...)
	if v := step(path, `add(1)`); fmt.Sprint(v["result"]) != "43" {
		t.Errorf("after a restart: %v", v)
	}
	status, v = p.post(t.Context(), t, path+"/fork", `{}`)
	if status != 201 || v["steps"] != 6.0 {
		t.Fatal(status, v)
	}
	if v := step("/api/sessions/"+v["id"].(string), `add(1)`); fmt.Sprint(v["result"]) != "44" {
		t.Errorf("the fork: %v", v)
	}
	if v := step(path, `total`); fmt.Sprint(v["result"]) != "43" {
		t.Errorf("after the fork: %v", v)
	}
	status, v = p.post(t.Context(), t, path+"/fork", `{"step":1}`)
	if status != 201 || v["steps"] != 1.0 {
		t.Fatal(status, v)
	}
	if v := step("/api/sessions/"+v["id"].(string), `[add(1), ({}).polluted]`); fmt.Sprint(v["result"]) != "[41 <nil>]" {
		t.Errorf("the fork of the first step: %v", v)
	}
}
