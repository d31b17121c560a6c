package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/policy/audit"
)

// replays replays the records of a store that keep selects, by the gateway and by the command, and checks that each
// result is the same.
func replays(t *testing.T, p *program, store string, keep func(audit.Record) bool) (n int) {
	t.Helper()
	var page struct{ Items []audit.Record }
	if err := json.Unmarshal([]byte(get(t, p.url+"/api/audit/executions")), &page); err != nil {
		t.Fatal(err)
	}
	for _, r := range page.Items {
		if !keep(r) {
			continue
		}
		n++
		what := fmt.Sprintf("segment %d, step %d, %s", r.Segment, r.Step, r.Status)
		status, v := p.post(t.Context(), t, "/api/audit/execution/"+r.ID+"/replay", "")
		if status != 200 || v["same"] != true {
			t.Errorf("%s: POST replay: %d %v", what, status, v)
		}
		code, out, errs := command(t, env(), "replay", r.ID, "--store", "file://"+store)
		if code != 0 || !strings.Contains(out, "the same execution") {
			t.Errorf("%s: airlock replay: %d %s%s", what, code, out, errs)
		}
	}
	return n
}

// Every segment of an execution that paused is replayed from the journals of all segments up to it.
func TestSegmentsAreReplayed(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(&refunder{keys: map[string]int{}})
	t.Cleanup(server.Close)
	store := filepath.Join(t.TempDir(), "audit")
	p := start(t, "AUDIT_STORE=file://"+store, "AUDIT_CODE=keep", "RATE_LIMIT_MAX_REQUESTS=1000000",
		"EGRESS_ALLOW="+strings.TrimPrefix(server.URL, "http://"))
	code := `const seen = [Math.random(), crypto.randomUUID(), Date.now()];
console.log("asks");
const refund = await payments.refund({order: input, at: seen[2]});
seen.push(Math.random(), Date.now());
const reply = await airlock.waitForEvent("replied");
seen.push(crypto.randomUUID(), performance.now());
const ok = await airlock.approve({title: "Sure?"}).catch((e) => e.name);
return [seen, refund, reply, ok, Date.now()]`
	body, err := json.Marshal(map[string]any{"code": code, "input": 7, "tools": []any{
		map[string]any{"name": "payments.refund", "url": server.URL, "approval": "required"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	status, v := p.post(t.Context(), t, "/api/execute", string(body))
	if status != 202 {
		t.Fatal(status, v)
	}
	path := "/api/executions/" + v["id"].(string)
	for _, act := range [][2]string{
		{"/resume", `{"decisions":[{"seq":1,"decision":"approve"}]}`},
		{"/events/replied", `{"text":"yes"}`},
		{"/resume", `{"decisions":[{"seq":3,"decision":"reject","reason":"no"}]}`},
	} {
		if status, v = p.post(t.Context(), t, path+act[0], act[1]); status != 202 && status != 200 {
			t.Fatal(status, v)
		}
	}
	if v["status"] != "completed" {
		t.Fatal(v)
	}
	if n := replays(t, p, store, func(r audit.Record) bool { return r.Decision == nil }); n != 4 {
		t.Errorf("%d segments", n)
	}
}

// Every step of a session is replayed from the journals of the steps that led to it. A failed step led to none.
func TestStepsAreReplayed(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "audit")
	p := start(t, "AUDIT_STORE=file://"+store, "AUDIT_CODE=keep", "RATE_LIMIT_MAX_REQUESTS=1000000")
	status, v := p.post(t.Context(), t, "/api/sessions", `{"policy":"agent"}`)
	if status != 201 {
		t.Fatal(status, v)
	}
	session := v["id"].(string)
	steps := func(codes ...string) {
		t.Helper()
		for _, code := range codes {
			body, err := json.Marshal(map[string]any{"code": code})
			if err != nil {
				t.Fatal(err)
			}
			if status, v = p.post(t.Context(), t, "/api/sessions/"+session+"/execute", string(body)); status != 200 {
				t.Fatal(status, v)
			}
		}
	}
	steps(`let seen = [Math.random(), Date.now()]; let n = 1`, `n = 99; throw new Error("no")`,
		`seen.push(crypto.randomUUID(), Math.random()); n++`, `n = 99; process.exit(0)`, `[n, seen, Date.now()]`)
	if got := fmt.Sprint(v["result"].([]any)[0]); got != "2" {
		t.Errorf("the session counted to %s", got)
	}
	restart := "/api/e2b/contexts/" + session + "/restart"
	res, err := http.Post(p.url+restart, "application/json", nil)
	if err != nil || res.StatusCode != 204 {
		t.Fatal(res, err)
	}
	if err := res.Body.Close(); err != nil {
		t.Error(err)
	}
	steps(`let n = Math.random()`, `[n, typeof seen]`)
	if got := fmt.Sprint(v["result"].([]any)[1]); got != "undefined" {
		t.Errorf("the restarted session has a %s", got)
	}
	if n := replays(t, p, store, func(audit.Record) bool { return true }); n != 7 {
		t.Errorf("%d steps", n)
	}
	fork := func(of, body string) string {
		t.Helper()
		if status, v = p.post(t.Context(), t, "/api/sessions/"+of+"/fork", body); status != 201 {
			t.Fatal(status, v)
		}
		return v["id"].(string)
	}
	steps(`n = 5`)
	of := fork(session, `{"step":6}`)
	session = fork(of, "{}") // a fork of a fork without steps
	steps(`throw new Error("no")`, `n++`, `[n, Math.random()]`)
	session = fork(session, "{}")
	steps(`[n, "twice forked"]`)
	forks := func(r audit.Record) bool { return r.Session != "" && r.Step > 6 && r.Status != "cancelled" }
	if n := replays(t, p, store, forks); n != 4 {
		t.Errorf("%d steps of forks", n)
	}
}
