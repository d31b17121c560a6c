package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// refunder is a tool that counts the refunds by the key of their calls.
type refunder struct {
	mu   sync.Mutex
	keys map[string]int
}

func (p *refunder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var call struct{ Params json.RawMessage }
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys[r.Header.Get("Idempotency-Key")]++
	_, _ = fmt.Fprintf(w, `{"result":{"refunded":%s}}`, call.Params) // the caller would see a lost answer
}

// killed kills a gateway.
func killed(t *testing.T, p *program) {
	t.Helper()
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait() // it was killed
	if ended, ok := p.ProcessState.Sys().(syscall.WaitStatus); ok && !ended.Signaled() {
		t.Errorf("the gateway ended by itself: %v", p.ProcessState)
	}
}

// An execution waits for an approval, for an event and for a sleep while its gateways are killed. It completes with the
// state that it had in memory, and the tool was called once.
func TestWaitsOutliveTheGateway(t *testing.T) {
	t.Parallel()
	tool := &refunder{keys: map[string]int{}}
	server := httptest.NewServer(tool)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	environment := []string{"AUDIT_STORE=file://" + filepath.Join(dir, "audit"), "RATE_LIMIT_MAX_REQUESTS=1000000",
		"EGRESS_ALLOW=" + strings.TrimPrefix(server.URL, "http://")}
	code := `const before = new Map([["order", input]]);
const refund = await payments.refund({order: before.get("order")});
const reply = await airlock.waitForEvent("replied");
await airlock.sleep("10 s");
return [before.get("order"), refund, reply]`
	body, err := json.Marshal(map[string]any{"code": code, "input": 7, "tools": []any{
		map[string]any{"name": "payments.refund", "url": server.URL, "approval": "required"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, environment...)
	status, v := p.post(t.Context(), t, "/api/execute", string(body))
	if status != 202 || v["status"] != "paused" {
		t.Fatal(status, v)
	}
	id := v["id"].(string)
	path := "/api/executions/" + id
	killed(t, p)

	p = start(t, environment...)
	status, v = p.post(t.Context(), t, path+"/resume",
		`{"decisions":[{"seq":1,"decision":"edit","args":{"order":8}}]}`)
	if status != 202 || v["segment"] != 2.0 {
		t.Fatal(status, v)
	}
	killed(t, p)

	p = start(t, environment...)
	if status, v = p.post(t.Context(), t, path+"/events/replied", `{"text":"yes"}`); status != 202 {
		t.Fatal(status, v)
	}
	killed(t, p)

	p = start(t, environment...)
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for v = nil; v["status"] != "completed"; <-look.C {
		v = nil
		if err := json.Unmarshal([]byte(get(t, p.url+path)), &v); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains([]any{"paused", "queued", "running", "completed"}, v["status"]) {
			t.Fatalf("the status is %v: %v", v["status"], v)
		}
	}
	if got := fmt.Sprint(v["result"]); got != "[7 map[refunded:map[order:8]] map[text:yes]]" {
		t.Errorf("got %s", got)
	}
	tool.mu.Lock()
	defer tool.mu.Unlock()
	if len(tool.keys) != 1 || tool.keys[id+":1"] != 1 {
		t.Errorf("the tool was called with the keys %v", tool.keys)
	}
	var page struct {
		Items []struct {
			Status  string
			Segment int
			Usage   struct {
				Ticks    int64
				APICalls int
			}
		}
	}
	if err := json.Unmarshal([]byte(get(t, p.url+"/api/audit/executions")), &page); err != nil {
		t.Fatal(err)
	}
	var (
		story []string
		ticks int64
		calls int
	)
	for _, r := range page.Items {
		story = append([]string{fmt.Sprint(r.Status, " ", r.Segment)}, story...)
		ticks, calls = ticks+r.Usage.Ticks, calls+r.Usage.APICalls
	}
	if got := strings.Join(story, ", "); got != "paused 0, decided 1, paused 2, decided 2, paused 3, completed 4" {
		t.Errorf("the records are: %s", got)
	}
	usage := v["usage"].(map[string]any)
	if usage["ticks"] != float64(ticks) || usage["apiCalls"] != float64(calls) {
		t.Errorf("the records have %d ticks and %d calls together, the result has %v", ticks, calls, usage)
	}
}

// Paused executions are listed, shown and decided about on the command line, and airlock run --wait waits for their
// end.
func TestApprovalsCommand(t *testing.T) {
	t.Parallel()
	p := start(t, "RATE_LIMIT_MAX_REQUESTS=1000000", "API_KEY=sk-of-the-tests-here")
	getenv := env("AIRLOCK_SERVER="+p.url, "AIRLOCK_TOKEN=sk-of-the-tests-here")
	call := func(code int, args ...string) (stdout, stderr string) {
		t.Helper()
		got, stdout, stderr := command(t, getenv, args...)
		if got != code {
			t.Errorf("airlock %v: exit %d, want %d\n%s%s", args, got, code, stdout, stderr)
		}
		return stdout, stderr
	}
	has := func(text string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("there is no %q in:\n%s", part, text)
			}
		}
	}
	paused := func(code string) (id string) {
		t.Helper()
		out, _ := call(exitGuest, "run", "-e", code, "--json")
		var result struct{ ID, Status string }
		if err := json.Unmarshal([]byte(out), &result); err != nil || result.Status != "paused" {
			t.Fatalf("%v: %s", err, out)
		}
		return result.ID
	}
	two := paused(`return await Promise.all([airlock.approve({title: "First?"}), airlock.approve({title: "Second?",
		schema: {type: "number"}}).catch((e) => e.message)])`)
	out, _ := call(0, "approvals", "list")
	has(out, "WAITS FOR", two, "1 approval First?, 2 approval Second?")
	out, _ = call(0, "approvals", "list", "--json")
	has(out, `"id": "`+two+`"`)
	out, _ = call(0, "approvals", "show", two)
	has(out, two+" paused, segment 1", "\n  1 approval First?\n", `2 approval Second? {"type":"number"}`, "Promise.all")
	_, errs := call(exitUsage, "approvals", "approve", two)
	has(errs, "--seq", "1 2")
	_, errs = call(exitUsage, "approvals", "approve", two, "--args", "{", "--seq", "1")
	has(errs, "--args", "not valid JSON")
	_, errs = call(exitUsage, "approvals", "approve", two, "--args", "{}", "--seq", "1")
	has(errs, "no arguments to edit")
	_, errs = call(exitUsage, "approvals", "show", "exec_0000000000")
	has(errs, "--server")
	out, _ = call(0, "approvals", "approve", two, "--seq", "1")
	has(out, two+" paused, segment 2", "2 approval Second?")
	out, _ = call(0, "approvals", "reject", two, "--reason", "too late")
	has(out, two+" completed")
	_, errs = call(exitUsage, "approvals", "approve", two)
	has(errs, "completed")

	one := paused(`return await airlock.approve({title: "How many?", schema: {type: "number"}})`)
	out, _ = call(0, "approvals", "approve", one, "--value", "7", "--json")
	has(out, `"result": 7`)

	type ended struct {
		code      int
		out, errs string
	}
	waited := make(chan ended, 1)
	go func() {
		var out, errs bytes.Buffer
		code := run([]string{"run", "--wait", "-e", `console.log("before"); const ok = await airlock.approve({title: "Go?"});
			console.log("after"); return [ok]`}, getenv, strings.NewReader(""), &out, &errs)
		waited <- ended{code, out.String(), errs.String()}
	}()
	var page []struct{ ID string }
	for look := time.NewTicker(20 * time.Millisecond); len(page) == 0; <-look.C {
		out, _ = call(0, "approvals", "list", "--json")
		if err := json.Unmarshal([]byte(out), &page); err != nil {
			t.Fatal(err)
		}
	}
	call(0, "approvals", "approve", page[0].ID)
	end := <-waited
	if end.code != 0 || end.out != "before\nafter\n[true]\n" {
		t.Errorf("exit %d\n%s%s", end.code, end.out, end.errs)
	}
	has(end.errs, "airlock approvals show "+page[0].ID)
	code, _, errs := command(t, env(), "run", "--wait", "-e", "1")
	if has(errs, "--wait: needs --server"); code != exitUsage {
		t.Errorf("--wait without a gateway: exit %d", code)
	}
}

// An execution and a session that wait while the engine is upgraded continue on the build that made their snapshots.
// The gateway says at its start how many do, and so does doctor.
func TestWaitsOutliveTheEngine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	state := "AIRLOCK_STATE=" + filepath.Join(dir, "state")
	environment := []string{state, "AUDIT_STORE=file://" + filepath.Join(dir, "audit"),
		"RATE_LIMIT_MAX_REQUESTS=1000000"}
	const before, now = "quickjs-ng-0.10.1", "quickjs-ng-0.15.1"
	p := start(t, append(environment, "ENGINE_BUILD="+before)...)
	code := `{"code":"const n = new Map([[1, 40]]), ok = await airlock.approve({title: 'Go?'}); return [n.get(1), ok]"}`
	status, v := p.post(t.Context(), t, "/api/execute", code)
	if status != 202 {
		t.Fatal(status, v)
	}
	path := "/api/executions/" + v["id"].(string)
	if status, v = p.post(t.Context(), t, "/api/sessions", `{"policy":"agent"}`); status != 201 {
		t.Fatal(status, v)
	}
	session := "/api/sessions/" + v["id"].(string) + "/execute"
	if status, v = p.post(t.Context(), t, session, `{"code":"let n = 40"}`); v["status"] != "completed" {
		t.Fatal(status, v)
	}
	killed(t, p)

	const says = "continue on that build: 2 of " + before
	var log bytes.Buffer
	p = startHeard(t, &log, environment...)
	exit, out, errs := command(t, env(state, "PORT=0", "AUDIT_STORE="+t.TempDir(),
		"AIRLOCK_CACHE_DIR="+filepath.Join(os.TempDir(), "airlock-test-cache")), "doctor")
	if exit != 0 || !strings.Contains(out, says) {
		t.Errorf("doctor: %d %s%s", exit, out, errs)
	}
	for range 2 {
		if status, v = p.post(t.Context(), t, session, `{"code":"n++; n"}`); v["engineBuild"] != before {
			t.Errorf("the session continued with %d %v", status, v)
		}
	}
	if v["result"] != 42.0 {
		t.Errorf("the session has %v", v["result"])
	}
	status, v = p.post(t.Context(), t, path+"/resume", `{"decisions":[{"seq":1,"decision":"approve"}]}`)
	if status != 200 || fmt.Sprint(v["result"]) != "[40 true]" || v["engineBuild"] != before {
		t.Errorf("the execution continued with %d %v", status, v)
	}
	if _, v = p.post(t.Context(), t, "/api/execute", `{"code":"1"}`); v["engineBuild"] != now {
		t.Errorf("a new execution runs on %v", v["engineBuild"])
	}
	killed(t, p)
	if !strings.Contains(log.String(), says) {
		t.Errorf("it says at its start: %s", &log)
	}
}

// A host that the deployment opens or closes while an execution waits is closed to the execution when it continues.
func TestResumedExecutionHasTheNarrowerPolicy(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("reached")) // the caller would see a lost answer
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	closed := []string{"AUDIT_STORE=file://" + filepath.Join(dir, "audit"), "RATE_LIMIT_MAX_REQUESTS=1000000"}
	opened := append(closed[:len(closed):len(closed)], "EGRESS_ALLOW="+strings.TrimPrefix(server.URL, "http://"))
	body, err := json.Marshal(map[string]any{"input": server.URL, "code": `await airlock.approve({title: "Go?"});
return await fetch(input).then((r) => r.text(), (e) => "refused")`})
	if err != nil {
		t.Fatal(err)
	}
	pause := func(p *program) string {
		status, v := p.post(t.Context(), t, "/api/execute", string(body))
		if status != 202 {
			t.Fatal(status, v)
		}
		return v["id"].(string)
	}
	resume := func(p *program, id, want string) {
		status, v := p.post(t.Context(), t, "/api/executions/"+id+"/resume", `{"decisions":[{"seq":1,"decision":"approve"}]}`)
		if status != 200 || v["result"] != want {
			t.Errorf("it continues with %d %v, want %s", status, v, want)
		}
		var newest struct{ Items []struct{ ID string } }
		page := get(t, p.url+"/api/audit/executions?limit=1")
		if err := json.Unmarshal([]byte(page), &newest); err != nil || len(newest.Items) != 1 {
			t.Fatal(err, page)
		}
		record := get(t, p.url+"/api/audit/execution/"+newest.Items[0].ID)
		if !strings.Contains(record, `"parent":"`+id) ||
			strings.Contains(record, `"openedHosts":[]`) != (want == "refused") {
			t.Errorf("the record of the segment: %s", record)
		}
	}
	p := start(t, closed...)
	loosened := pause(p)
	killed(t, p)
	p = start(t, opened...)
	resume(p, loosened, "refused")
	tightened := pause(p)
	resume(p, pause(p), "reached")
	killed(t, p)
	p = start(t, closed...)
	resume(p, tightened, "refused")
}
