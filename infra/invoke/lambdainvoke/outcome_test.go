package lambdainvoke_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/invoke/invoketest"
	"github.com/airlock-run/airlock/infra/invoke/lambdainvoke"
)

const (
	logLine    = `{"log":{"level":"log","message":"one"}}` + "\n"
	resultLine = `{"result":{"id":"exec_00000000000000000000000001","status":"completed","result":1}}` + "\n"
)

// odd serves answers that a service or a proxy may give, and counts requests.
func odd(t *testing.T, answer http.HandlerFunc) (url string, asked *atomic.Int32) {
	asked = new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func says(status int, kind, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if kind != "" {
			w.Header().Set("X-Amzn-Errortype", kind)
		}
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		w.Write([]byte(body))
	}
}

// eventStream returns an event stream of chunks, ended by an InvokeComplete event with that JSON unless it is "".
func eventStream(complete string, chunks ...string) []byte {
	var out bytes.Buffer
	e := eventstream.NewEncoder()
	add := func(kind, body string) {
		var m eventstream.Message
		m.Headers.Set(":message-type", eventstream.StringValue("event"))
		m.Headers.Set(":event-type", eventstream.StringValue(kind))
		m.Payload = []byte(body)
		e.Encode(&out, m)
	}
	for _, c := range chunks {
		add("PayloadChunk", c)
	}
	if complete != "" {
		add("InvokeComplete", complete)
	}
	return out.Bytes()
}

func streams(body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		w.Write(body)
	}
}

// breaks answers with part of an answer and then loses the connection.
func breaks(body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		w.Write(body)
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

func TestOutcomes(t *testing.T) {
	whole := eventStream("{}", logLine, resultLine)
	cases := map[string]struct {
		answer   http.HandlerFunc
		buffered bool
		code     execution.Code   // of the error; "" is none
		status   execution.Status // without an error
		limit    string
		recorded bool
		logs     int
	}{
		"a stream": {answer: streams(whole), status: execution.Completed, recorded: true},
		"a stream in bits": {answer: streams(eventStream("{}", logLine[:9], logLine[9:]+resultLine[:3],
			resultLine[3:])), status: execution.Completed, recorded: true},
		"throttled": {answer: says(429, "TooManyRequestsException", `{"message":"Rate Exceeded."}`,
			"Retry-After", "7"), code: execution.Throttled},
		"not found": {answer: says(404, "ResourceNotFoundException", `{}`), code: execution.Internal},
		"forbidden": {answer: says(403, "AccessDeniedException", `{"message":"arn:aws:iam::1:role/x"}`),
			code: execution.Internal},
		"too large":       {answer: says(413, "RequestTooLargeException", `{}`), code: execution.TooLarge},
		"service failure": {answer: says(500, "ServiceException", `{}`), code: execution.Unavailable},
		// it may have run
		"a proxy's page":       {answer: says(502, "", "<html>Bad gateway</html>"), status: execution.Failed},
		"a stream without end": {answer: streams(eventStream("", logLine)), status: execution.Failed, logs: 1},
		"a stream cut in two":  {answer: streams(whole[:len(whole)-20]), status: execution.Failed, logs: 1},
		"a stream that is none": {answer: streams([]byte("hello, this is not an event stream at all")),
			status: execution.Failed},
		"a lost connection": {answer: breaks(eventStream("", logLine)), status: execution.Failed, logs: 1},
		"nothing at all": {answer: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			status: execution.Failed},
		"a timeout": {answer: streams(eventStream(`{"ErrorCode":"Sandbox.Timedout","ErrorDetails":"Task `+
			`timed out after 3.00 seconds"}`, logLine)), status: execution.TimedOut, limit: "wall", logs: 1},
		"a timeout by its words": {answer: streams(eventStream(`{"ErrorCode":"Unhandled","ErrorDetails":"2026 id Task ` +
			`timed out after 3.00 seconds"}`)), status: execution.TimedOut, limit: "wall"},
		"out of memory": {answer: streams(eventStream(`{"ErrorCode":"Runtime.OutOfMemory",` +
			`"ErrorDetails":"signal: killed"}`)), status: execution.Failed, limit: "memory"},
		"a crash": {answer: streams(eventStream(`{"ErrorCode":"Runtime.ExitError","ErrorDetails":"exit `+
			`status 1"}`, logLine)), status: execution.Failed, logs: 1},
		"a crash after the end": {answer: streams(eventStream(`{"ErrorCode":"Runtime.ExitError"}`, resultLine)),
			status: execution.Completed, recorded: true},
		"a panic": {answer: streams(eventStream(`{"ErrorCode":"Unhandled","ErrorDetails":"{\"errorType\":\"runtimeError\",` +
			`\"errorMessage\":\"secret\"}"}`)), code: execution.Internal},
		"a typed error": {answer: streams(eventStream(`{"ErrorCode":"unrecorded","ErrorDetails":"no store"}`)),
			code: execution.Unrecorded},
		"garbage inside": {answer: streams(eventStream("{}", "hello\n")), code: execution.Internal},

		"buffered": {buffered: true, answer: says(200, "", logLine+resultLine),
			status: execution.Completed, recorded: true},
		"buffered function error": {buffered: true,
			answer: says(200, "", `{"errorType":"Runtime.ExitError","errorMessage":"exit status 1"}`, "X-Amz-Function-Error",
				"Unhandled"), status: execution.Failed},
		"buffered error without a say": {buffered: true,
			answer: says(200, "", `{"errorType":"invalid_request","errorMessage":"no code"}`), code: execution.InvalidRequest},
		"buffered timeout in words": {buffered: true,
			answer: says(200, "", `2026-01-01 Task timed out after 3.00 seconds`), status: execution.TimedOut, limit: "wall"},
		"buffered garbage": {buffered: true, answer: says(200, "", `hello`), code: execution.Internal},
		"buffered nothing": {buffered: true, answer: says(200, "", ``), code: execution.Internal},
		"buffered cut off": {buffered: true, answer: says(200, "", resultLine[:30]), code: execution.Internal},
		"buffered error of no shape": {buffered: true, answer: says(200, "", `oh`, "X-Amz-Function-Error", "Unhandled"),
			code: execution.Internal},
		"buffered throttled": {buffered: true, answer: says(429, "TooManyRequestsException", `{}`),
			code: execution.Throttled},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			url, asked := odd(t, c.answer)
			v := newClient(t, lambdainvoke.Config{Endpoint: url, Buffered: c.buffered})
			logs := 0
			r, err := v.Invoke(t.Context(), invoketest.Invocation(1, "x"), func(execution.Log) { logs++ })
			if n := asked.Load(); n != 1 {
				t.Errorf("was asked %d times: an execution must never be sent twice", n)
			}
			var e *execution.Error
			if c.code != "" {
				if !errors.As(err, &e) || e.Code != c.code {
					t.Fatalf("got %v and %v, want %s", r.Result.Status, err, c.code)
				}
				if strings.Contains(e.Message, "secret") || strings.Contains(e.Message, "arn:") {
					t.Errorf("shows too much: %q", e.Message)
				}
				if c.code == execution.Throttled && e.RetryAfter < time.Second {
					t.Errorf("may be tried again after %v", e.RetryAfter)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			limit := ""
			if r.Result.Limit != nil {
				limit = *r.Result.Limit
			}
			if r.Result.Status != c.status || r.Recorded != c.recorded || limit != c.limit {
				t.Errorf("%s, recorded %v, limit %q; want %s, %v, %q", r.Result.Status, r.Recorded, limit, c.status, c.recorded,
					c.limit)
			}
			if !c.recorded && (logs != c.logs || len(r.Result.Logs) != c.logs) {
				t.Errorf("%d logs were streamed and %d returned, want %d", logs, len(r.Result.Logs), c.logs)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	v := newClient(t, lambdainvoke.Config{Endpoint: server.URL})
	var e *execution.Error
	if _, err := v.Invoke(t.Context(), invoketest.Invocation(1, "x"), nil); !errors.As(err, &e) ||
		e.Code != execution.Unavailable || e.RetryAfter == 0 {
		t.Errorf("got %v", err)
	}
	if err := v.Ready(t.Context()); !errors.As(err, &e) || e.Code != execution.Unavailable {
		t.Errorf("ready: %v", err)
	}
}

func TestTooLargeIsNotSent(t *testing.T) {
	url, asked := odd(t, says(500, "", ""))
	inv := invoketest.Invocation(1, "x")
	inv.Request.Input = []byte(`"` + strings.Repeat("x", 6<<20) + `"`)
	_, err := newClient(t, lambdainvoke.Config{Endpoint: url}).Invoke(t.Context(), inv, nil)
	var e *execution.Error
	if !errors.As(err, &e) || e.Code != execution.TooLarge || asked.Load() != 0 {
		t.Errorf("got %v after %d requests", err, asked.Load())
	}
}

func TestWhatIsSent(t *testing.T) {
	seen := make(chan *http.Request, 4)
	url, _ := odd(t, func(w http.ResponseWriter, r *http.Request) {
		seen <- r
		streams(eventStream("{}", resultLine))(w, r)
	})
	arn := "arn:aws:lambda:eu-central-1:123456789012:function:run"
	for _, tenants := range []bool{false, true} {
		for _, tenant := range []string{"", "acme"} {
			v := newClient(t, lambdainvoke.Config{Endpoint: url, Function: arn, Qualifier: "live", Tenants: tenants})
			inv := invoketest.Invocation(1, "x")
			inv.Caller.Tenant = tenant
			if _, err := v.Invoke(t.Context(), inv, nil); err != nil {
				t.Fatal(err)
			}
			r := <-seen
			want := ""
			if tenants {
				want = map[string]string{"": "none", "acme": "acme"}[tenant]
			}
			if got := r.Header.Get("X-Amz-Tenant-Id"); got != want {
				t.Errorf("tenant %q with tenants %v: sent %q", tenant, tenants, got)
			}
			if r.URL.Query().Get("Qualifier") != "live" || !strings.Contains(r.URL.Path, arn) ||
				r.Header.Get("Authorization") == "" {
				t.Errorf("%s, signed %v", r.URL, r.Header.Get("Authorization") != "")
			}
		}
	}
}

func TestReadyIsKept(t *testing.T) {
	url, asked := odd(t, says(204, "", ""))
	now := time.Unix(1, 0)
	v := newClient(t, lambdainvoke.Config{Endpoint: url, Now: func() time.Time { return now }})
	for range 5 {
		if err := v.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	now = now.Add(time.Minute)
	if err := v.Ready(t.Context()); err != nil || asked.Load() != 2 {
		t.Errorf("%v after %d", err, asked.Load())
	}
}

func TestNewRefuses(t *testing.T) {
	for name, cfg := range map[string]lambdainvoke.Config{
		"no function":    {},
		"negative grace": {Function: "f", Grace: -1},
		"no tiers":       {Function: "f-{policy}", Region: "eu-central-1"},
		"no place":       {Function: "f", Policies: []string{"strict"}, Region: "eu-central-1"},
	} {
		if _, err := lambdainvoke.New(context.Background(), cfg); err == nil {
			t.Errorf("%s: was accepted", name)
		}
	}
}
