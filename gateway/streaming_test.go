package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/authn"
)

type event struct{ id, name, data string }

// events reads server-sent events until the stream ends, or n of them.
func events(t *testing.T, r *bufio.Reader, n int) []event {
	t.Helper()
	var out []event
	var e event
	for len(out) < n {
		line, err := r.ReadString('\n')
		if err != nil {
			break
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data = value
		case "":
			if value == "" && e.name != "" {
				out = append(out, e)
			}
			e = event{}
		}
	}
	return out
}

func all(t *testing.T, a answer) []event {
	t.Helper()
	if a.StatusCode != 200 || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("%d %s\n%s", a.StatusCode, a.Header.Get("Content-Type"), a.body)
	}
	return events(t, bufio.NewReader(strings.NewReader(string(a.body))), 1<<20)
}

func open(t *testing.T, ctx context.Context, s *served, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "POST", s.url+"/api/execute/stream", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

func TestStreamArrivesWhileTheGuestRuns(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	s := serve(t, options{invoke: func(
		_ context.Context, inv execution.Invocation, onLog func(execution.Log),
	) (execution.Reply, error) {
		for i, level := range []string{"log", "warn"} {
			onLog(execution.Log{Level: level, Message: fmt.Sprint("line ", i)})
			<-next
		}
		return execution.Reply{
			Recorded: true, Result: execution.Result{ID: inv.ID, Status: execution.Completed, Result: json.RawMessage("7")},
		}, nil
	}})
	res := open(t, t.Context(), s, code("1"))
	r := bufio.NewReader(res.Body)
	first := events(t, r, 1)[0]
	if first.name != "chunk" || first.data != `{"chunk":"line 0\n","index":0,"level":"log"}` {
		t.Errorf("%+v", first)
	}
	next <- struct{}{}
	second := events(t, r, 1)[0]
	if second.data != `{"chunk":"line 1\n","index":1,"level":"warn"}` {
		t.Errorf("%+v", second)
	}
	next <- struct{}{}
	last := events(t, r, 2)
	if len(last) != 1 || last[0].name != "complete" || !strings.Contains(last[0].data, `"status":"completed"`) {
		t.Fatalf("%+v", last)
	}
	id := res.Header.Get("X-Execution-Id")
	if first.id != id+":1" || last[0].id != id+":3" || !strings.Contains(last[0].data, id) {
		t.Errorf("ids %q %q of %q", first.id, last[0].id, id)
	}

	// A client that lost its connection gets the events that it missed, and nothing runs again.
	rest := all(t, s.do(t, "POST", "/api/execute/stream", "", "Last-Event-ID: "+first.id))
	if len(rest) != 2 || rest[0].data != second.data || rest[1].data != last[0].data {
		t.Errorf("resumed with %+v", rest)
	}
	s.do(t, "POST", "/api/execute/stream", "", "Last-Event-ID: exec_00000000000000000000000000:1").problem(t, 404)
	s.do(t, "POST", "/api/execute/stream", "", "Last-Event-ID: hello").problem(t, 400)
}

func TestStreamRefusals(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	s.do(t, "POST", "/api/execute/stream", `{"cod":"1"}`).problem(t, 400)
	s.do(t, "POST", "/api/execute/stream", code("1"), "Content-Type: text/plain").problem(t, 415)
	s.do(t, "GET", "/api/execute/stream", "").problem(t, 405)
	blocked := all(t, s.do(t, "POST", "/api/execute/stream", code("eval('1')")))
	if len(blocked) != 1 || blocked[0].name != "complete" || !strings.Contains(blocked[0].data, `"status":"blocked"`) {
		t.Errorf("%+v", blocked)
	}
	down := serve(t, options{invoke: func(
		_ context.Context, _ execution.Invocation, onLog func(execution.Log),
	) (execution.Reply, error) {
		return execution.Reply{}, &execution.Error{Code: execution.Unavailable, Message: "no function"}
	}})
	failed := all(t, down.do(t, "POST", "/api/execute/stream", code("1")))
	if len(failed) != 1 || failed[0].name != "error" {
		t.Fatalf("%+v", failed)
	}
	checkProblem(t, []byte(failed[0].data), 503)
}

func TestStreamQueueFullIsAStatus(t *testing.T) {
	t.Parallel()
	release, started := make(chan struct{}), make(chan struct{}, 9)
	s := serve(t, options{
		config: gateway.Config{Places: 1, QueueDepth: 1},
		invoke: func(ctx context.Context, inv execution.Invocation, _ func(execution.Log)) (execution.Reply, error) {
			started <- struct{}{}
			<-release
			return echo(ctx, inv, nil)
		},
	})
	statuses := make(chan int, 3)
	post := func() {
		a := s.do(t, "POST", "/api/execute/stream", code("1"))
		if a.StatusCode == 503 {
			a.problem(t, 503)
		}
		statuses <- a.StatusCode
	}
	go post()
	<-started
	go post()
	go post()
	if got := <-statuses; got != 503 {
		t.Errorf("status %d, want 503", got)
	}
	close(release)
	if a, b := <-statuses, <-statuses; a != 200 || b != 200 {
		t.Errorf("statuses %d and %d", a, b)
	}
}

func TestStreamHangUpStopsTheRun(t *testing.T) {
	t.Parallel()
	s := serve(t, options{
		config: gateway.Config{Streams: gateway.StreamsConfig{Heartbeat: 20 * time.Millisecond}},
		invoke: func(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Reply, error) {
			onLog(execution.Log{Message: "started"})
			<-ctx.Done()
			onLog(execution.Log{Message: "stopped"})
			return execution.Reply{}, &execution.Error{Code: execution.Unavailable, Message: "cancelled", Err: ctx.Err()}
		},
	})
	ctx, hangUp := context.WithCancel(t.Context())
	res := open(t, ctx, s, code("1"))
	r := bufio.NewReader(res.Body)
	events(t, r, 1)
	if line, err := r.ReadString('\n'); err != nil || line != ": heartbeat\n" {
		t.Errorf("%q, %v", line, err)
	}
	hangUp()
	if r := <-s.records.added; r.Status != "cancelled" || r.ID != res.Header.Get("X-Execution-Id") {
		t.Errorf("%+v", r)
	}
}

// A client that lost its connection while the guest runs comes back with Last-Event-ID, without an idempotency key, and
// misses nothing; the guest runs once and to its end.
func TestStreamResumesWhileTheGuestRuns(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	s := serve(t, options{
		config: gateway.Config{Streams: gateway.StreamsConfig{ResumeWithin: time.Minute}},
		invoke: func(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Reply, error) {
			onLog(execution.Log{Level: "log", Message: "one"})
			select {
			case <-next:
			case <-ctx.Done():
				return execution.Reply{}, ctx.Err()
			}
			onLog(execution.Log{Level: "log", Message: "two"})
			return execution.Reply{Recorded: true, Result: execution.Result{ID: inv.ID, Status: execution.Completed}}, nil
		},
	})
	ctx, hangUp := context.WithCancel(t.Context())
	res := open(t, ctx, s, code("1"))
	first := events(t, bufio.NewReader(res.Body), 1)[0]
	hangUp()
	again, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/api/execute/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	again.Header.Set("Last-Event-ID", first.id)
	back, err := s.client.Do(again)
	if err != nil {
		t.Fatal(err)
	}
	defer back.Body.Close()
	close(next)
	rest := events(t, bufio.NewReader(back.Body), 3)
	if len(rest) != 2 || !strings.Contains(rest[0].data, "two") ||
		!strings.Contains(rest[1].data, `"status":"completed"`) {
		t.Errorf("%+v", rest)
	}
}

// The caller stops a streamed run by its ID. The stream then ends with the result.
func TestStreamCancel(t *testing.T) {
	t.Parallel()
	s := serve(t, options{
		auth: authn.Config{Keys: hs256(t)},
		invoke: func(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Reply, error) {
			onLog(execution.Log{Message: "started"})
			<-ctx.Done()
			return execution.Reply{}, &execution.Error{Code: execution.Unavailable, Message: "cancelled", Err: ctx.Err()}
		},
	})
	alice, bob := bearer(token(t, "alice", "", "execute")), bearer(token(t, "bob", "", "execute"))
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/api/execute/stream", strings.NewReader(code("1")))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", strings.TrimPrefix(alice, "Authorization: "))
	res, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body := bufio.NewReader(res.Body)
	events(t, body, 1)
	path := "/api/result/" + res.Header.Get("X-Execution-Id")
	if a := s.do(t, "DELETE", path, "", bob); a.StatusCode < 400 {
		t.Errorf("a stranger: %d %s", a.StatusCode, a.body)
	}
	if a := s.do(t, "DELETE", path, "", alice); a.StatusCode != 202 ||
		!strings.Contains(string(a.body), `"status":"running"`) {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	rest := events(t, body, 2)
	if len(rest) != 1 || rest[0].name != "complete" || !strings.Contains(rest[0].data, `"status":"cancelled"`) {
		t.Errorf("%+v", rest)
	}
	if r := <-s.records.added; r.Status != "cancelled" {
		t.Errorf("%+v", r)
	}
}

// A client that does not read slows its own guest and is dropped after the write timeout, and its run is stopped.
func TestStreamSlowClientIsDropped(t *testing.T) {
	t.Parallel()
	printed := make(chan int, 1)
	s := serve(t, options{
		config: gateway.Config{WriteTimeout: 300 * time.Millisecond},
		invoke: func(ctx context.Context, inv execution.Invocation, onLog func(execution.Log)) (execution.Reply, error) {
			n := 0
			for ; ctx.Err() == nil; n++ {
				onLog(execution.Log{Message: strings.Repeat("x", 10_000)})
			}
			printed <- n
			return execution.Reply{}, &execution.Error{Code: execution.Unavailable, Message: "cancelled", Err: ctx.Err()}
		},
	})
	open(t, t.Context(), s, code("1"))
	if n := <-printed; n > 5000 {
		t.Errorf("%d lines of 10 kB went somewhere", n)
	}
	if r := <-s.records.added; r.Status != "cancelled" {
		t.Errorf("%+v", r)
	}
}

func TestStreamBelongsToCaller(t *testing.T) {
	t.Parallel()
	s := serve(t, options{auth: authn.Config{Keys: hs256(t)}})
	alice, bob := bearer(token(t, "alice", "", "execute")), bearer(token(t, "bob", "", "execute"))
	a := s.do(t, "POST", "/api/execute/stream", code("1"), alice)
	last := "Last-Event-ID: " + a.Header.Get("X-Execution-Id") + ":1"
	s.do(t, "POST", "/api/execute/stream", "", last, bob).problem(t, 404)
	if rest := all(t, s.do(t, "POST", "/api/execute/stream", "", last, alice)); len(rest) != 1 ||
		rest[0].name != "complete" {
		t.Errorf("%+v", rest)
	}
	s.do(t, "POST", "/api/execute/stream", code("1")).problem(t, 401)
	s.do(t, "POST", "/api/execute/stream", code("1"), bearer(token(t, "a", "", "audit:read"))).problem(t, 403)
}

// After a stream, the connection serves the next request.
func TestStreamKeepsItsConnection(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	const head = " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 12\r\n"
	got := exchange(
		t, s.addr,
		"POST /api/execute/stream"+head+"\r\n"+code("1")+"POST /api/execute"+head+"Connection: close\r\n\r\n"+code("1"),
	)
	if n := len(statusLine.FindAllString(got, -1)); n != 2 || !strings.Contains(got, "event: complete") ||
		strings.Count(got, `"status":"completed"`) != 2 {
		t.Errorf("%d answers:\n%s", n, got)
	}
}
