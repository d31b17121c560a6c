package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
)

// counting returns each run another result, and counts the runs.
func counting(pure bool) (func(
	context.Context, execution.Invocation, func(execution.Log),
) (execution.Reply, error), *atomic.Int64) {
	var runs atomic.Int64
	return func(_ context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Reply, error) {
		n := runs.Add(1)
		l := execution.Log{Level: "log", Message: "ran"}
		if onLog != nil {
			onLog(l)
		}
		result, _ := json.Marshal(n)
		return execution.Reply{Recorded: true, Result: execution.Result{
			ID: inv.ID, Status: execution.Completed, Result: result, Pure: pure, Logs: []execution.Log{l},
			Usage: execution.Usage{Ticks: 9},
		}}, nil
	}, &runs
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	invoke, runs := counting(false)
	s := serve(t, options{invoke: invoke, auth: authn.Config{Keys: hs256(t)}})
	alice, bob := bearer(token(t, "alice", "", "execute")), bearer(token(t, "bob", "", "execute"))
	key := "Idempotency-Key: 8e03978e-40d5-43dd-bc93-6894a57f9324"
	first := s.do(t, "POST", "/api/execute", code("1"), alice, key)
	again := s.do(t, "POST", "/api/execute", code("1"), alice, key)
	first.headers(t, "Idempotency-Replayed", "")
	again.headers(t, "Idempotency-Replayed", "true", "Content-Type", "application/json")
	if string(first.body) != string(again.body) || runs.Load() != 1 {
		t.Errorf("%d runs\n%s\n%s", runs.Load(), first.body, again.body)
	}
	s.do(t, "POST", "/api/execute", code("2"), alice, key).problem(t, 422)
	if a := s.do(t, "POST", "/api/execute", code("2"), bob, key); a.StatusCode != 200 || runs.Load() != 2 {
		t.Errorf("another caller's key: %d, %d runs", a.StatusCode, runs.Load())
	}
	if a := s.do(t, "POST", "/api/analyze", code("2"), alice, key); a.StatusCode != 200 {
		t.Errorf("another endpoint: %d", a.StatusCode)
	}
	for _, bad := range []string{
		"Idempotency-Key: a b", "Idempotency-Key: " + strings.Repeat("k", 256), "Idempotency-Key: é",
	} {
		s.do(t, "POST", "/api/execute", code("1"), alice, bad).problem(t, 400)
	}
	s.do(t, "POST", "/api/execute", code("1"), alice, key, key).problem(t, 400)

	// A request that failed leaves its key free.
	other := "Idempotency-Key: k2"
	s.do(t, "POST", "/api/execute", `{}`, alice, other).problem(t, 400)
	if a := s.do(t, "POST", "/api/execute", code("1"), alice, other); a.StatusCode != 200 {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}

	// A stream supports the key, too: the response is the final event.
	streamed := "Idempotency-Key: k3"
	one := all(t, s.do(t, "POST", "/api/execute/stream", code("1"), alice, streamed))
	before := runs.Load()
	two := all(t, s.do(t, "POST", "/api/execute/stream", code("1"), alice, streamed))
	if len(one) != 2 || len(two) != 1 || one[1].data != two[0].data {
		t.Errorf("%+v\n%+v", one, two)
	}
	if got := runs.Load(); got != before {
		t.Errorf("%d runs; want %d", got, before)
	}
}

// A key is the same key, whether its caller waits for the response or not.
func TestIdempotencyKeySyncAndAsync(t *testing.T) {
	t.Parallel()
	invoke, runs := counting(false)
	s := kept(t, options{invoke: invoke})
	for first, then := range map[string]string{"X-A: 1": prefer, prefer: "X-A: 1"} {
		key := "Idempotency-Key: " + strings.ReplaceAll(first, " ", "")
		before := s.do(t, "POST", "/api/execute", code("1"), first, key)
		after := s.do(t, "POST", "/api/execute", code("1"), then, key)
		if before.StatusCode != after.StatusCode || string(before.body) != string(after.body) ||
			after.Header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%s: %d %s\n%d %s", first, before.StatusCode, before.body, after.StatusCode, after.body)
		}
		s.do(t, "POST", "/api/execute", code("2"), then, key).problem(t, 422)
	}
	if n := runs.Load(); n > 2 {
		t.Errorf("%d runs", n)
	}
}

// Every POST route supports the key. A new route that does not fails this test.
func TestIdempotencyKeyOnEveryPost(t *testing.T) {
	t.Parallel()
	for _, d := range routeCases() {
		if !strings.HasPrefix(d.route, "POST ") {
			continue
		}
		t.Run(d.route, func(t *testing.T) {
			t.Parallel()
			s, fill := prepared(t)
			ann := tenantToken(t, "ann", "acme", strings.Join(authn.Scopes(), " "))
			path, body := fill.Replace(d.path), fill.Replace(d.body)
			const key, accept = "Idempotency-Key: k", "Accept: application/json, text/event-stream"
			s.do(t, "POST", path, body, ann, accept, "Idempotency-Key: a b").problem(t, 400)
			first := s.do(t, "POST", path, body, ann, accept, key)
			if first.StatusCode >= 300 {
				if d.ok/100 == 2 {
					t.Errorf("%d %s", first.StatusCode, first.body)
				}
				return // it failed, so the key is free
			}
			again := s.do(t, "POST", path, body, ann, accept, key)
			if again.StatusCode != first.StatusCode || again.Header.Get("Idempotency-Replayed") != "true" ||
				first.Header.Get("Idempotency-Replayed") != "" {
				t.Errorf("%d %v\n%d %v", first.StatusCode, first.Header, again.StatusCode, again.Header)
			}
			if streamed := strings.HasSuffix(path, "/stream"); !streamed &&
				(string(again.body) != string(first.body) || again.Header.Get("Content-Type") != first.Header.Get("Content-Type")) {
				t.Errorf("%s\n%s", first.body, again.body)
			}
			for _, name := range []string{"Location", "Mcp-Session-Id", "X-Execution-Id", "Content-Security-Policy"} {
				if again.Header.Get(name) != first.Header.Get(name) {
					t.Errorf("%s: %q and %q", name, first.Header.Get(name), again.Header.Get(name))
				}
			}
			s.do(t, "POST", path, body+" ", ann, accept, key).problem(t, 422)
		})
	}
}

// A webhook whose function answered was carried out, whatever the status of the answer.
func TestIdempotencyKeyOfRefusingHook(t *testing.T) {
	t.Parallel()
	count := 0
	s := kept(t, options{invoke: answering(&count, func(execution.Invocation) execution.Result {
		return completed(`{"status":404,"headers":{"ETag":"1"},"body":"none"}`)
	})})
	want(
		t,
		s.do(
			t, "PUT", "/api/functions/f", `{"code":"1","hook":{"scheme":"shared-header","secret":"open to all the senders"}}`,
		),
		201,
	)
	for range 2 {
		a := want(
			t, s.do(t, "POST", "/hooks/f", "{}", "X-Webhook-Secret: open to all the senders", "Idempotency-Key: k"), 404, "none",
		)
		if a.Header.Get("Etag") != "1" || count != 1 {
			t.Errorf("%d ran, %v", count, a.Header)
		}
	}
}

// unworked is a store that hands out no jobs.
type unworked struct{ gateway.State }

func (unworked) ClaimSome(context.Context, time.Time, string, []string, int) ([]execution.Job, error) {
	return nil, execution.ErrNotFound
}

// failing keeps no response, as if the process died after it accepted a request and before it responded.
type failing struct{ unworked }

func (failing) Finish(context.Context, string, []byte) error { return errors.New("the power went") }

// A request that was accepted under a key is accepted once, across a restart and across a death in the middle.
func TestIdempotencyKeyOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func() *sqlitestate.Store {
		store, err := sqlitestate.Open(dir, sqlitestate.Config{})
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	jobs := func(store *sqlitestate.Store) (n int) {
		for {
			if _, err := store.Claim(t.Context(), time.Now(), "", nil); err != nil {
				return n
			}
			n++
		}
	}
	const asked, key = "Prefer: respond-async", "Idempotency-Key: outlives"
	var first, again, taken answer
	func() {
		store := open()
		defer store.Close()
		first = want(t, serve(t, options{state: unworked{store}}).do(t, "POST", "/api/execute", code("1"), asked, key), 202)
		serve(t, options{state: failing{unworked{store}}}).do(
			t, "POST", "/api/execute", code("2"), asked, key+"2",
		).problem(t, 500)
	}()
	store := open()
	defer store.Close()
	s := serve(t, options{state: unworked{store}})
	again = want(t, s.do(t, "POST", "/api/execute", code("1"), asked, key), 202)
	again.headers(t, "Location", first.Header.Get("Location"), "Idempotency-Replayed", "true")
	if string(again.body) != string(first.body) || again.Header.Get("Location") == "" {
		t.Errorf("%v %s", again.Header, again.body)
	}
	s.do(t, "POST", "/api/execute", code("9"), asked, key).problem(t, 422)
	taken = want(t, s.do(t, "POST", "/api/execute", code("2"), asked, key+"2"), 202)
	if taken.Header.Get("Idempotency-Replayed") != "" {
		t.Errorf("%v", taken.Header)
	}
	if n := jobs(store); n != 2 {
		t.Errorf("%d jobs of two requests", n)
	}
}

// A sender that sends a key gets one answer for it, also with schemes that sign nothing.
func TestIdempotencyKeyOfHooks(t *testing.T) {
	t.Parallel()
	count := 0
	s := kept(
		t,
		options{
			invoke: answering(&count, func(execution.Invocation) execution.Result { return completed(fmt.Sprint(count)) }),
		},
	)
	want(
		t,
		s.do(
			t, "PUT", "/api/functions/f", `{"code":"1","hook":{"scheme":"shared-header","secret":"open to all the senders"}}`,
		),
		201,
	)
	const known, key = "X-Webhook-Secret: open to all the senders", "Idempotency-Key: k"
	want(t, s.do(t, "POST", "/hooks/f", "{}", known, key), 200, "1")
	a := want(t, s.do(t, "POST", "/hooks/f", "{}", known, key), 200, "1")
	if a.Header.Get("Idempotency-Replayed") != "true" || count != 1 {
		t.Errorf("%d ran, %v", count, a.Header)
	}
	s.do(t, "POST", "/hooks/f", "{ }", known, key).problem(t, 422)
	s.do(t, "POST", "/hooks/f", "{}", "X-Webhook-Secret: guess", key).problem(t, 401)
	want(t, s.do(t, "POST", "/hooks/f", "{}", known), 200, "2")
}

func TestIdempotencyInFlightAndAfterHangUp(t *testing.T) {
	t.Parallel()
	started, release := make(chan struct{}, 1), make(chan struct{})
	s := serve(t, options{invoke: func(
		ctx context.Context, inv execution.Invocation, onLog func(execution.Log),
	) (execution.Reply, error) {
		started <- struct{}{}
		select {
		case <-release:
		case <-ctx.Done():
			t.Error("hanging up stopped a run with a key")
		}
		return echo(ctx, inv, onLog)
	}})
	ctx, hangUp := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		r, _ := http.NewRequestWithContext(ctx, "POST", s.url+"/api/execute", strings.NewReader(code("1")))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", "k")
		if _, err := s.client.Do(r); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}()
	<-started
	a := s.do(t, "POST", "/api/execute", code("1"), "Idempotency-Key: k")
	if a.problem(t, 409); a.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	s.do(t, "POST", "/api/execute", code("2"), "Idempotency-Key: k").problem(t, 422)
	hangUp()
	<-gone
	close(release)
	for {
		a := s.do(t, "POST", "/api/execute", code("1"), "Idempotency-Key: k")
		if a.StatusCode == 200 {
			if a.Header.Get("Idempotency-Replayed") != "true" {
				t.Error("it ran again")
			}
			return
		}
		a.problem(t, 409)
	}
}

func TestReuse(t *testing.T) {
	t.Parallel()
	invoke, runs := counting(true)
	s := serve(t, options{invoke: invoke, auth: authn.Config{Keys: hs256(t)}})
	acme := bearer(token(t, "alice", "acme", "execute audit:read"))
	colleague := bearer(token(t, "bob", "acme", "execute"))
	globex := bearer(token(t, "carol", "globex", "execute"))
	body := `{"code":"1","input":{"a":1}}`
	first := s.do(t, "POST", "/api/execute", body, acme).json(t)
	again := s.do(t, "POST", "/api/execute", body, acme).json(t)
	members(t, first, map[string]any{"cached": false})
	members(t, again, map[string]any{"cached": true, "result": first["result"]})
	if again["id"] == first["id"] || runs.Load() != 1 {
		t.Fatalf("%d runs\n%v\n%v", runs.Load(), first, again)
	}
	// The execution that was answered from memory has its own record, which says so.
	record := s.do(t, "GET", "/api/audit/execution/"+again["id"].(string), "", acme).json(t)
	if !strings.Contains(strings.Join(strs(record["reasons"]), "\n"), first["id"].(string)) ||
		record["usage"].(map[string]any)["ticks"] != 0.0 || record["resultSha256"] == "" {
		t.Errorf("%v", record)
	}
	if v := s.do(
		t, "POST", "/api/execute", `{ "input": {"a":1}, "code":"1", "priority":"low"}`, colleague,
	).json(t); v["cached"] != true {
		t.Error("the same request in other words was run")
	}
	before := runs.Load()
	for name, fresh := range map[string]answer{
		"another tenant": s.do(t, "POST", "/api/execute", body, globex),
		"no-store":       s.do(t, "POST", "/api/execute", body, acme, "Cache-Control: max-age=0, No-Store"),
		"another input":  s.do(t, "POST", "/api/execute", `{"code":"1","input":{"a":2}}`, acme),
		"another tier":   s.do(t, "POST", "/api/execute", `{"code":"1","input":{"a":1},"policy":"strict"}`, acme),
		"another limit":  s.do(t, "POST", "/api/execute", `{"code":"1","input":{"a":1},"timeout":50}`, acme),
		"debug":          s.do(t, "POST", "/api/execute", `{"code":"1","input":{"a":1},"debug":{}}`, acme),
	} {
		before++
		if fresh.json(t)["cached"] != false {
			t.Errorf("%s: %s", name, fresh.body)
		}
	}
	if runs.Load() != before {
		t.Errorf("%d runs, want %d", runs.Load(), before)
	}
	streamed := all(t, s.do(t, "POST", "/api/execute/stream", body, acme))
	if len(streamed) != 2 || streamed[0].name != "chunk" || !strings.Contains(streamed[1].data, `"cached":true`) {
		t.Errorf("%+v", streamed)
	}
}

func TestImpureResultsAreNotReused(t *testing.T) {
	t.Parallel()
	invoke, runs := counting(false)
	s := serve(t, options{invoke: invoke})
	for range 3 {
		if v := s.do(t, "POST", "/api/execute", code("Date.now()")).json(t); v["cached"] != false {
			t.Error("a result that depends on the clock was reused")
		}
	}
	if runs.Load() != 3 {
		t.Errorf("%d runs", runs.Load())
	}
}

func strs(v any) []string {
	var out []string
	items, _ := v.([]any)
	for _, item := range items {
		out = append(out, item.(string))
	}
	return out
}
