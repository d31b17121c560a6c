package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	client "github.com/airlock-run/airlock/gateway/client/go"
	"github.com/airlock-run/airlock/policy/audit"
)

func connect(t *testing.T, answer http.HandlerFunc) *client.Client {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	c, err := client.New(client.Config{URL: server.URL + "/", Token: "secret", HTTP: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRequests(t *testing.T) {
	t.Parallel()
	var seen string
	c := connect(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen = r.Method + " " + r.URL.String() + " " + r.Header.Get("Authorization") + " " + r.Header.Get("Content-Type") +
			" " + string(body)
		_, _ = io.WriteString(w, `{"id":"exec_1","status":"completed","items":[{"id":"a","name":"f"}],"next":"n"}`)
	})
	ctx := t.Context()
	for _, step := range []struct {
		call func() error
		want string
	}{
		{func() error {
			r, err := c.Execute(ctx, execution.Request{Code: "1", Timeout: 5})
			if r.Status != execution.Completed {
				t.Error(r)
			}
			return err
		}, `POST /api/execute Bearer secret application/json {"code":"1","timeout":5}`},
		{
			func() error { _, err := c.Analyze(ctx, execution.Request{Code: "1"}); return err },
			`POST /api/analyze Bearer secret application/json {"code":"1"}`,
		},
		{
			func() error { _, err := c.SendEvent(ctx, "exec_1", "reply a/b", map[string]int{"n": 1}); return err },
			`POST /api/executions/exec_1/events/reply%20a%2Fb Bearer secret application/json {"n":1}`,
		},
		{func() error { _, err := c.Result(ctx, "a/b"); return err }, "GET /api/result/a%2Fb Bearer secret  "},
		{func() error { _, err := c.Record(ctx, "exec_1"); return err }, "GET /api/audit/execution/exec_1 Bearer secret  "},
		{func() error {
			page, err := c.Records(
				ctx, audit.Query{Limit: 2, Status: "error", Function: "f", Since: time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)},
			)
			if len(page.Items) != 1 || page.Next != "n" {
				t.Error(page)
			}
			return err
		}, "GET /api/audit/executions?function=f&limit=2&since=2025-01-02T03%3A04%3A05Z&status=error Bearer secret  "},
		{func() error {
			items, next, err := c.Functions(ctx, "x y")
			if len(items) != 1 || items[0].Name != "f" || next != "n" {
				t.Error(items, next)
			}
			return err
		}, "GET /api/functions?cursor=x+y Bearer secret  "},
		{
			func() error { _, err := c.SaveFunction(ctx, "f", client.Definition{Code: "1"}); return err },
			`PUT /api/functions/f Bearer secret application/json {"code":"1"}`,
		},
		{
			func() error { _, err := c.Invoke(ctx, "f", client.Call{Alias: "live"}); return err },
			`POST /api/functions/f/invoke Bearer secret application/json {"alias":"live"}`,
		},
		{func() error { return c.DeleteFunction(ctx, "f") }, "DELETE /api/functions/f Bearer secret  "},
	} {
		if err := step.call(); err != nil || seen != step.want {
			t.Errorf("%s\nwant %s\n%v", seen, step.want, err)
		}
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	c := connect(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(429)
		_, _ = io.WriteString(w, r.URL.Query().Get("cursor"))
	})
	_, _, err := c.Functions(t.Context(), `{"code":"rate_limited","detail":"slower","requestId":"req_1","status":1}`)
	var p *client.Problem
	if !errors.As(err, &p) {
		t.Fatalf("%+v", err)
	}
	type problem struct {
		status         int
		code, text, id string
		after          time.Duration
	}
	got := problem{p.Status, p.Code, p.Error(), p.RequestID, p.RetryAfter}
	if want := (problem{429, "rate_limited", "slower", "req_1", 7 * time.Second}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if _, _, err = c.Functions(t.Context(), "<html>"); !errors.As(err, &p) || p.Status != 429 ||
		p.Error() != "the gateway answered 429" {
		t.Errorf("%+v", err)
	}
	for _, address := range []string{
		"", "example.com", "ftp://example.com", "https://u:p@example.com", "https://example.com?x=1", "https://",
	} {
		if _, err := client.New(client.Config{URL: address}); err == nil {
			t.Errorf("%q is taken for an address", address)
		}
	}
}

const (
	one   = ": connected\n\nid: exec_1:1\nevent: chunk\ndata: {\"chunk\":\"a\\n\",\"index\":0,\"level\":\"log\"}\n\n"
	two   = ": heartbeat\n\nid: exec_1:2\nevent: chunk\ndata: {\"chunk\":\"b\\n\",\"index\":1,\"level\":\"warn\"}\n\n"
	three = "id: exec_1:3\nevent: complete\ndata: {\"id\":\"exec_1\",\"status\":\"completed\",\"result\":3}\n\n"
)

// A stream that is cut anywhere resumes where it was lost and delivers everything once.
func TestStreamGoesOn(t *testing.T) {
	t.Parallel()
	whole := one + two + three
	for cut := range len(whole) {
		connections := 0
		c := connect(t, func(w http.ResponseWriter, r *http.Request) {
			connections++
			rest := whole
			switch last := r.Header.Get("Last-Event-ID"); {
			case connections == 1:
				rest = whole[:cut]
			case last == "exec_1:1":
				rest = two + three
			case last == "exec_1:2":
				rest = three
			}
			_, _ = io.WriteString(w, rest)
		})
		var printed strings.Builder
		result, err := c.ExecuteStream(
			t.Context(), execution.Request{Code: "1"}, func(chunk client.Chunk) { printed.WriteString(chunk.Chunk) },
		)
		if cut < len(one) {
			if err == nil {
				t.Fatalf("cut at %d: a stream without events was resumed", cut)
			}
			continue
		}
		if err != nil || result.Value.String() != "3" || printed.String() != "a\nb\n" {
			t.Fatalf("cut at %d: %v, printed %q", cut, err, printed.String())
		}
	}
}

// A stream ends when the execution pauses, with what it has done so far.
func TestStreamPauses(t *testing.T) {
	t.Parallel()
	c := connect(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, one+"id: exec_1:2\nevent: paused\ndata: {\"id\":\"exec_1\",\"status\":\"paused\","+
			"\"waiting\":[{\"seq\":1,\"kind\":\"sleep\"}]}\n\n")
	})
	result, err := c.ExecuteStream(t.Context(), execution.Request{Code: "1"}, nil)
	if err != nil || result.Status != execution.Paused || len(result.Waiting) != 1 {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestStreamFails(t *testing.T) {
	t.Parallel()
	c := connect(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(
			w, one+"id: exec_1:2\nevent: error\ndata: {\"status\":503,\"code\":\"unavailable\",\"detail\":\"lost\"}\n\n",
		)
	})
	var p *client.Problem
	if _, err := c.ExecuteStream(t.Context(), execution.Request{Code: "1"}, nil); !errors.As(err, &p) ||
		p.Code != "unavailable" {
		t.Errorf("%v", err)
	}
}

// A run is cancelled when its caller leaves, unless its caller may come back with a key.
func TestStreamIsAbandoned(t *testing.T) {
	t.Parallel()
	for name, given := range map[string][]client.Option{
		"DELETE /api/result/exec_1": nil,
		"":                          {client.IdempotencyKey("k")},
	} {
		t.Run(name, func(t *testing.T) { testAbandoned(t, given, name) })
	}
}

func testAbandoned(t *testing.T, given []client.Option, want string) {
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := ""
	c := connect(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			cancelled = r.Method + " " + r.URL.Path
			return
		}
		_, _ = io.WriteString(w, one)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	if _, err := c.ExecuteStream(
		ctx, execution.Request{Code: "1"}, func(client.Chunk) { cancel() }, given...,
	); !errors.Is(err, context.Canceled) || cancelled != want {
		t.Errorf("%v, %q was requested, want %q", err, cancelled, want)
	}
}

// Results print, whatever they are.
func TestResults(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"status":"completed","result":{"a":[1]},"error":null,"limit":null}`:  `completed: {"a":[1]}`,
		`{"status":"completed","result":null}`:                                 "completed: null",
		`{"status":"timeout","result":null,"error":"too long","limit":"wall"}`: "timeout (wall): too long",
		`{"id":"exec_1","status":"queued"}`:                                    "queued",
	} {
		var r client.Result
		if err := json.Unmarshal([]byte(body), &r); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(r); got != want {
			t.Errorf("%s prints as %q, want %q", body, got, want)
		}
		var v any
		if err := r.Decode(&v); (err == nil) != strings.HasPrefix(want, "completed") {
			t.Errorf("%s: %v", body, err)
		}
		again, err := json.Marshal(r)
		if err != nil || !strings.Contains(string(again), `"status":"`+string(r.Status)+`"`) {
			t.Errorf("%s: %s %v", body, again, err)
		}
	}
}

// A refusal that asks for another try gets one; code that may have run is not run again without a key.
func TestRetries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  int
		code    string
		options []client.Option
		again   bool
		after   int
	}{
		"busy":                       {429, "rate_limited", nil, true, 7},
		"a minute's limit":           {429, "rate_limited", nil, true, 61},
		"a limit of an hour":         {429, "rate_limited", nil, false, 3600},
		"a full queue":               {503, "queue_full", nil, true, 7},
		"a lost run":                 {503, "unavailable", nil, false, 7},
		"a lost run with a key":      {503, "unavailable", []client.Option{client.IdempotencyKey("k")}, true, 7},
		"a wrong request":            {400, "invalid_request", nil, false, 7},
		"a wrong request with a key": {400, "invalid_request", []client.Option{client.IdempotencyKey("k")}, false, 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				answer := func(r *http.Request) (*http.Response, error) {
					tries++
					if (r.Header.Get("Idempotency-Key") == "k") != (c.options != nil) {
						t.Error("the key is wrong")
					}
					status, body := c.status, `{"code":"`+c.code+`"}`
					if tries > 1 {
						status, body = 200, `{"status":"completed"}`
					}
					return &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {strconv.Itoa(c.after)}},
						Body: io.NopCloser(strings.NewReader(body))}, nil
				}
				airlock, err := client.New(client.Config{URL: "http://gateway", Retries: 1,
					HTTP: &http.Client{Transport: transport(answer)}})
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				_, err = airlock.Execute(t.Context(), execution.Request{Code: "1"}, c.options...)
				if (err == nil) != c.again || (tries == 2) != c.again {
					t.Errorf("%d tries, %v", tries, err)
				}
				if took := time.Since(began); c.again && took != time.Duration(c.after)*time.Second {
					t.Errorf("the tries took %v", took)
				}
			})
		})
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A hostile gateway cannot have a tool run twice for one call, or run one that the caller did not offer.
func TestCallsOfHostileGateways(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	answers := map[string]string{}
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/execute/stream" {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			answers[r.URL.Path] += string(body)
			mu.Unlock()
			return
		}
		for _, call := range []string{`1,"tool":"none"`, `2,"tool":"pay"`, `2,"tool":"pay"`} {
			_, _ = io.WriteString(w, "id: exec_1:1\nevent: call\ndata: {\"params\":{},\"seq\":"+call+"}\n\n")
		}
		w.(http.Flusher).Flush()
		for mu.Lock(); len(answers) < 2; mu.Lock() {
			mu.Unlock()
			runtime.Gosched()
		}
		mu.Unlock()
		_, _ = io.WriteString(w, "event: complete\ndata: {\"id\":\"exec_1\",\"status\":\"completed\",\"result\":1}\n\n")
	}))
	defer gateway.Close()
	c, err := client.New(client.Config{URL: gateway.URL})
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	_, err = c.Execute(t.Context(), execution.Request{Code: "1"}, client.Tools(client.Tool{Name: "pay",
		Call: func(context.Context, json.RawMessage) (any, error) { ran++; return ran, nil }}))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"/api/executions/exec_1/calls/1": `{"error":"there is no tool none"}`,
		"/api/executions/exec_1/calls/2": `{"value":1}`,
	}
	if !maps.Equal(answers, want) || ran != 1 {
		t.Errorf("the tool ran %d times, and the answers are %v", ran, answers)
	}
}
