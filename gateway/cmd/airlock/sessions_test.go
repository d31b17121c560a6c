package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
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

// Sessions are made, used, listed, forked and deleted on the command line.
func TestSessionsCommand(t *testing.T) {
	t.Parallel()
	p := start(t, "RATE_LIMIT_MAX_REQUESTS=1000000", "API_KEY=sk-of-the-tests-here")
	getenv := env("AIRLOCK_SERVER="+p.url, "AIRLOCK_TOKEN=sk-of-the-tests-here")
	call := func(code int, says string, args ...string) string {
		t.Helper()
		got, out, errs := command(t, getenv, args...)
		if got != code || !strings.Contains(out+errs, says) {
			t.Errorf("airlock %v: exit %d, want %d and %q\n%s%s", args, got, code, says, out, errs)
		}
		return strings.TrimSpace(out)
	}
	one := call(0, "sess_", "sessions", "create", "--policy", "agent", "--max-age", "1h")
	call(0, "said", "run", "--session", one, "-e", `console.log("said"); let total = 40`)
	call(0, "42", "run", "--session", one, "-e", "total += 2")
	call(exitGuest, "no", "run", "--session", one, "-e", `total = 0; throw new Error("no")`)
	call(0, `"step": 3`, "run", "--session", one, "-e", "total", "--json")
	call(0, "agent: 3 steps, forks from step 1", "sessions", "show", one)
	fork := call(0, "sess_", "sessions", "fork", one, "--step", "1")
	call(0, "41", "run", "--session", fork, "-e", "total + 1")
	last := call(0, "sess_", "sessions", "fork", one)
	call(0, "42", "run", "--session", last, "-e", "total")
	call(exitUsage, "step", "sessions", "fork", one, "--step", "9")
	if out := call(0, "POLICY", "sessions", "list"); strings.Count(out, "sess_") != 3 {
		t.Errorf("listed are\n%s", out)
	}
	call(0, one, "__complete", "run", "--session", "")
	call(0, one, "__complete", "sessions", "show", "")
	call(0, "", "sessions", "delete", one)
	call(exitUsage, "no session", "sessions", "show", one)
	call(exitUsage, "no session", "run", "--session", one, "-e", "1")
	call(exitUsage, "none of the others can be", "run", "--session", last, "--wait", "-e", "1")
	code, _, errs := command(t, env(), "run", "--session", last, "-e", "1")
	if code != exitUsage || !strings.Contains(errs, "--session: needs --server") {
		t.Errorf("--session without a gateway: exit %d, %s", code, errs)
	}
}

// A host that the deployment opens or closes after the beginning of a session is closed to its steps and to its forks.
func TestSessionHasTheNarrowerPolicy(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("reached")) // the caller would see a lost answer
	}))
	t.Cleanup(server.Close)
	closed := []string{"AUDIT_STORE=file://" + filepath.Join(t.TempDir(), "audit"), "RATE_LIMIT_MAX_REQUESTS=1000000"}
	opened := append(closed[:len(closed):len(closed)], "EGRESS_ALLOW="+strings.TrimPrefix(server.URL, "http://"))
	body, err := json.Marshal(map[string]any{"input": server.URL,
		"code": `await fetch(input).then((r) => r.text(), (e) => "refused")`})
	if err != nil {
		t.Fatal(err)
	}
	create := func(p *program, path string) string {
		status, v := p.post(t.Context(), t, path, `{}`)
		if status != 201 {
			t.Fatal(status, v)
		}
		return "/api/sessions/" + v["id"].(string)
	}
	step := func(p *program, path, want string) {
		t.Helper()
		if status, v := p.post(t.Context(), t, path+"/execute", string(body)); status != 200 || v["result"] != want {
			t.Errorf("the step: %d %v, want %s", status, v, want)
		}
	}
	p := start(t, closed...)
	early := create(p, "/api/sessions")
	killed(t, p)
	p = start(t, opened...)
	step(p, early, "refused")
	step(p, early, "refused")
	step(p, create(p, early+"/fork"), "refused")
	late := create(p, "/api/sessions")
	step(p, late, "reached")
	step(p, create(p, late+"/fork"), "reached")
	killed(t, p)
	p = start(t, closed...)
	step(p, late, "refused")
}
