package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/authn"
)

const toolsOfCaller = `{"code":"1","tools":[{"name":"crm:find","via":"caller"}]}`

// oneCall is a function that calls a tool of the caller once and returns the outcome.
func oneCall(ctx context.Context, inv execution.Invocation, _ func(execution.Log)) (execution.Reply, error) {
	value, err := inv.CallTool(ctx, "crm:find", json.RawMessage("{\"name\":\n\"Ada\"}"))
	if ctx.Err() != nil {
		return execution.Reply{}, &execution.Error{Code: execution.Unavailable, Message: "cancelled", Err: ctx.Err()}
	}
	r := execution.Result{ID: inv.ID, Status: execution.Completed, Result: value}
	if err != nil {
		line := err.Error()
		r.Status, r.Error = execution.Failed, &line
	}
	return execution.Reply{Recorded: true, Result: r}, nil
}

// follow opens a stream as the owner of a token and returns its events and the path of its calls.
func follow(t *testing.T, s *served, ctx context.Context, bearer string) (*bufio.Reader, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "POST", s.url+"/api/execute/stream", strings.NewReader(toolsOfCaller))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", strings.TrimPrefix(bearer, "Authorization: "))
	res, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != 200 {
		t.Fatal(res.Status)
	}
	return bufio.NewReader(res.Body), "/api/executions/" + res.Header.Get("X-Execution-Id") + "/calls/"
}

func TestCallerTools(t *testing.T) {
	t.Parallel()
	s := serve(t, options{auth: authn.Config{Keys: hs256(t)}, invoke: oneCall})
	alice, bob := bearer(token(t, "alice", "", "execute")), bearer(token(t, "bob", "", "execute"))
	for _, c := range []struct{ answer, want string }{
		{`{"value":{"id":7}}`, `"result":{"id":7}`},
		{`{"value":null}`, `"result":null`},
		{`{"error":"no such customer"}`, `"error":"no such customer"`},
	} {
		stream, calls := follow(t, s, t.Context(), alice)
		called := events(t, stream, 1)[0]
		if called.name != "call" || called.data != `{"seq":1,"tool":"crm:find","params":{"name":"Ada"}}` {
			t.Fatalf("%+v", called)
		}
		// Answers of strangers, guesses and malformed answers change nothing.
		s.do(t, "POST", calls+"1", c.answer, bob).problem(t, 404)
		s.do(t, "POST", calls+"1", c.answer).problem(t, 401)
		s.do(t, "POST", calls+"1", c.answer, bearer(token(t, "alice", "", "audit:read"))).problem(t, 403)
		s.do(t, "POST", calls+"2", c.answer, alice).problem(t, 404)
		for _, seq := range []string{"0", "-1", "x", "99999999999999999999"} {
			s.do(t, "POST", calls+seq, c.answer, alice).problem(t, 400)
		}
		for _, body := range []string{
			`{}`, `null`, `[]`, `{"value":1,"error":"x"}`, `{"value":1,"more":2}`, `{"error":7}`, `{"error":""}`,
			`{"error":"` + strings.Repeat("x", 1001) + `"}`, `{"value":1,"value":2}`, `{"value":}`, `{"value":1e999}x`,
			`{"value":{"a":1,"a":2}}`, `{"value":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`,
		} {
			s.do(t, "POST", calls+"1", body, alice).problem(t, 400)
		}
		s.do(t, "POST", calls+"1", c.answer, alice, "Content-Type: text/plain").problem(t, 415)
		s.do(t, "POST", calls+"1", `{"value":"`+strings.Repeat("x", 2<<20)+`"}`, alice).problem(t, 413)

		if a := s.do(t, "POST", calls+"1", c.answer, alice); a.StatusCode != 204 || len(a.body) > 0 {
			t.Fatalf("%d %s", a.StatusCode, a.body)
		}
		last := events(t, stream, 2)
		if len(last) != 1 || last[0].name != "complete" || !strings.Contains(last[0].data, c.want) {
			t.Errorf("%s: %+v", c.answer, last)
		}
		if _, kind := s.do(t, "POST", calls+"1", c.answer, alice).problem(t, 409); kind != "call_over" {
			t.Errorf("a second answer: %s", kind)
		}
	}
}

// The first answer to a call is not counted: a run with many calls must not use up the caller's rate. Guesses are.
func TestCallerToolsAndTheRateLimit(t *testing.T) {
	t.Parallel()
	const many = 20
	s := serve(t, options{max: 5, auth: authn.Config{Keys: hs256(t)}, invoke: func(
		ctx context.Context, inv execution.Invocation, _ func(execution.Log),
	) (execution.Reply, error) {
		for range many {
			if _, err := inv.CallTool(ctx, "crm:find", json.RawMessage("{}")); err != nil {
				return execution.Reply{}, err
			}
		}
		return echo(ctx, inv, nil)
	}})
	alice := bearer(token(t, "alice", "", "execute"))
	stream, calls := follow(t, s, t.Context(), alice)
	for n := 1; n <= many; n++ {
		if e := events(t, stream, 1)[0]; !strings.Contains(e.data, fmt.Sprintf(`"seq":%d,`, n)) {
			t.Fatalf("%+v", e)
		}
		if n == many { // tries that are no answers use up the rate
			var got []int
			for range 6 {
				got = append(got, s.do(t, "POST", calls+"20", `{"nope":1}`, alice).StatusCode)
			}
			if want := []int{400, 400, 400, 400, 400, 429}; !slices.Equal(got, want) {
				t.Errorf("a flood of bad answers: %v, want %v", got, want)
			}
			break
		}
		if a := s.do(t, "POST", fmt.Sprint(calls, n), `{"value":1}`, alice); a.StatusCode != 204 {
			t.Fatalf("answer %d: %d %s", n, a.StatusCode, a.body)
		}
	}
	s.do(t, "POST", calls+"21", `{"value":1}`, alice).problem(t, 429)
}

// A caller who hangs up in the middle of a call ends the run, and the call with it.
func TestCallerToolsHangUp(t *testing.T) {
	t.Parallel()
	s := serve(t, options{auth: authn.Config{Keys: hs256(t)}, invoke: oneCall})
	alice := bearer(token(t, "alice", "", "execute"))
	ctx, hangUp := context.WithCancel(t.Context())
	stream, calls := follow(t, s, ctx, alice)
	events(t, stream, 1)
	hangUp()
	if r := <-s.records.added; r.Status != "cancelled" {
		t.Errorf("%+v", r)
	}
	if _, kind := s.do(t, "POST", calls+"1", `{"value":1}`, alice).problem(t, 409); kind != "call_over" {
		t.Error(kind)
	}
}

// Tools of the caller are refused on routes without a way to call them, and the problem says why.
func TestCallerToolsAreRefused(t *testing.T) {
	t.Parallel()
	s := kept(t, options{invoke: oneCall})
	for _, c := range []struct {
		method, path, says string
		headers            []string
	}{
		{"POST", "/api/execute", "POST /api/execute/stream", nil},
		{"POST", "/api/execute", "POST /api/execute/stream", []string{prefer}},
		{"PUT", "/api/functions/f", "a saved function", nil},
	} {
		detail, _ := s.do(t, c.method, c.path, toolsOfCaller, c.headers...).problem(t, 400)
		if !strings.HasPrefix(detail, "tools[0].via: ") || !strings.Contains(detail, c.says) {
			t.Errorf("%s %v: %s", c.path, c.headers, detail)
		}
	}
	for _, tool := range []string{
		`{"name":"a:b","via":"nobody"}`, `{"name":"a:b","via":"caller","url":"https://example.com"}`,
	} {
		detail, _ := s.do(t, "POST", "/api/execute/stream", `{"code":"1","tools":[`+tool+`]}`).problem(t, 400)
		if !strings.HasPrefix(detail, "tools[0].via: ") {
			t.Errorf("%s: %s", tool, detail)
		}
	}
	remote := serve(t, options{invoke: oneCall, config: gateway.Config{
		Streams: gateway.StreamsConfig{NoCallerTools: true},
	}})
	if detail, _ := remote.do(t, "POST", "/api/execute/stream", toolsOfCaller).problem(t, 400); !strings.Contains(
		detail, "AWS Lambda") {
		t.Error(detail)
	}
}

// The parameters of all calls of an execution are bounded, and cost the gateway's own process no more than one other
// request.
func TestOwnCostsOfCallerTools(t *testing.T) {
	params := json.RawMessage("[0" + strings.Repeat(",0", 1<<19-10) + "]")
	type outcome struct {
		took     time.Duration
		accepted int
		text     string
	}
	outcomes := make(chan outcome, 1)
	s := serve(t, options{invoke: func(
		ctx context.Context, inv execution.Invocation, _ func(execution.Log),
	) (execution.Reply, error) {
		o, before := outcome{}, processorTime()
		for range 50 {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			switch _, err := inv.CallTool(ctx, "crm:find", params); {
			case errors.Is(err, context.Canceled): // it waited for its answer
				o.accepted++
			case err != nil:
				o.text = err.Error()
			}
		}
		o.took = processorTime() - before
		outcomes <- o
		return execution.Reply{Recorded: true, Result: execution.Result{ID: inv.ID, Status: execution.Completed}}, nil
	}})
	var last outcome
	costServer(t).within(t, "calls of tools", 2*ownTime, 8<<20, func() time.Duration { // the test reads the events, too
		want(t, s.do(t, "POST", "/api/execute/stream", toolsOfCaller, "Cache-Control: no-store"), 200)
		last = <-outcomes
		return last.took
	})
	if last.accepted != 8 || !strings.Contains(last.text, "crm:find") || !strings.Contains(last.text, "bytes together") {
		t.Errorf("%d calls are made, and the last says %q", last.accepted, last.text)
	}
}
