package events_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/functions/execution"
)

const envelope = `{"airlock":1,"id":"exec_0123456789","request":{"code":"1"},"caller":{"tenant":"t"},"via":"http",` +
	`"receivedAt":"2026-01-02T03:04:05Z","queueMs":1.5,"stream":true}`

// done is a Run that returns a completed result.
func done(_ context.Context, inv execution.Invocation, _ func(execution.Log)) (execution.Result, error) {
	return execution.Result{ID: inv.ID, Status: execution.Completed, Result: json.RawMessage(`"<b>"`)}, nil
}

func handled(t *testing.T, h events.Handler, payload string) string {
	t.Helper()
	r, err := h(t.Context(), json.RawMessage(payload))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := r.(io.Closer); ok {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	return string(b)
}

func TestBareRequest(t *testing.T) {
	var got execution.Invocation
	h := events.NewHandler(func(ctx context.Context, inv execution.Invocation,
		onLog func(execution.Log)) (execution.Result, error) {
		got = inv
		onLog(execution.Log{Message: "heard by nobody"})
		return done(ctx, inv, onLog)
	}, events.Clock(func() time.Time { return time.Unix(1_700_000_000, 0) }),
		events.Random(strings.NewReader(strings.Repeat("x", 10))))
	text := handled(t, h, `{"code":"1+1"}`)
	var r execution.Result
	if err := json.Unmarshal([]byte(text), &r); err != nil || r.Status != execution.Completed {
		t.Fatalf("%s: %v", text, err)
	}
	if !execution.ValidID(got.ID) {
		t.Errorf("the ID %q is not valid", got.ID)
	}
	if r.ID != got.ID {
		t.Errorf("the result has the ID %q, the invocation %q", r.ID, got.ID)
	}
	type story struct {
		Via, Code string
		Received  int64
	}
	if diff := cmp.Diff(story{execution.ViaLambda, "1+1", 1_700_000_000},
		story{got.Via, got.Request.Code, got.ReceivedAt.Unix()}); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(text, `"<b>"`) {
		t.Errorf("the result was escaped: %s", text)
	}
}

func TestEnvelope(t *testing.T) {
	var got execution.Invocation
	h := events.NewHandler(func(ctx context.Context, inv execution.Invocation,
		onLog func(execution.Log)) (execution.Result, error) {
		got = inv
		return done(ctx, inv, onLog)
	})
	text := handled(t, h, strings.Replace(envelope, `,"stream":true`, "", 1))
	if !strings.HasPrefix(text, `{"id":"exec_0123456789","status":"completed"`) {
		t.Error(text)
	}
	type story struct {
		ID, Tenant, Via string
		QueueMs         float64
		Year            int
	}
	if diff := cmp.Diff(story{"exec_0123456789", "t", "http", 1.5, 2026},
		story{got.ID, got.Caller.Tenant, got.Via, got.QueueMs, got.ReceivedAt.Year()}); diff != "" {
		t.Error(diff)
	}
}

func TestStreamFlushesEachLog(t *testing.T) {
	heard := make(chan struct{})
	h := events.NewHandler(func(ctx context.Context, inv execution.Invocation,
		onLog func(execution.Log)) (execution.Result, error) {
		onLog(execution.Log{Level: "log", Message: "one"})
		<-heard // that the first log can be read while the code runs is the point
		onLog(execution.Log{Level: "warn", Message: "two"})
		return done(ctx, inv, onLog)
	})
	r, err := h(t.Context(), json.RawMessage(envelope))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(r)
	lines.Scan()
	if lines.Text() != `{"log":{"level":"log","message":"one","atMs":0}}` {
		t.Errorf("first: %s", lines.Text())
	}
	close(heard)
	var rest []string
	for lines.Scan() {
		rest = append(rest, lines.Text())
	}
	if len(rest) != 2 {
		t.Fatalf("%d lines after the first, want 2: %q", len(rest), rest)
	}
	if !strings.Contains(rest[0], "two") {
		t.Errorf("the second line is %s", rest[0])
	}
	if !strings.HasPrefix(rest[1], `{"result":{"id":"exec_0123456789"`) {
		t.Errorf("the last line is %s", rest[1])
	}
}

func TestFailures(t *testing.T) {
	secret := errors.New("/var/lib/secret")
	cases := map[string]struct {
		run  events.Run
		code string
		says string
	}{
		"typed": {func(context.Context, execution.Invocation, func(execution.Log)) (execution.Result, error) {
			return execution.Result{}, &execution.Error{Code: execution.Unrecorded, Field: "f", Message: "no record",
				Err: secret}
		}, "unrecorded", "no record"},
		"untyped": {func(context.Context, execution.Invocation, func(execution.Log)) (execution.Result, error) {
			return execution.Result{}, secret
		}, "internal", "inside the platform"},
		"panic": {func(context.Context, execution.Invocation, func(execution.Log)) (execution.Result, error) {
			panic(secret)
		}, "internal", "inside the platform"},
		"no JSON": {func(context.Context, execution.Invocation, func(execution.Log)) (execution.Result, error) {
			return execution.Result{Result: json.RawMessage("{")}, nil
		}, "internal", "could not be encoded"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			h := events.NewHandler(c.run, events.Logger(slog.New(slog.NewTextHandler(&log, nil))))
			line := handled(t, h, envelope)
			var e execution.Event
			if err := json.Unmarshal([]byte(line), &e); err != nil || e.Error == nil {
				t.Fatalf("streamed: %v: %s", err, line)
			}
			if string(e.Error.Code) != c.code {
				t.Errorf("streamed: code %q, want %q", e.Error.Code, c.code)
			}
			if !strings.Contains(e.Error.Message, c.says) {
				t.Errorf("streamed: message %q, want %q", e.Error.Message, c.says)
			}
			_, err := h(t.Context(), json.RawMessage(`{"code":"1"}`))
			var typed messages.InvokeResponse_Error
			if !errors.As(err, &typed) {
				t.Fatalf("not streamed: %#v", err)
			}
			if typed.Type != c.code {
				t.Errorf("not streamed: type %q, want %q", typed.Type, c.code)
			}
			if !strings.Contains(typed.Message, c.says) {
				t.Errorf("not streamed: message %q, want %q", typed.Message, c.says)
			}
			if typed.ShouldExit || typed.StackTrace != nil {
				t.Errorf("not streamed: it exits (%t), or shows its stack: %v", typed.ShouldExit, typed.StackTrace)
			}
			if strings.Contains(line, "secret") || strings.Contains(typed.Message, "secret") {
				t.Errorf("shows its cause: %s, %s", line, typed.Message)
			}
			if name != "no JSON" && !strings.Contains(log.String(), "secret") {
				t.Errorf("the cause is not in the log: %s", &log)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	h := events.NewHandler(done)
	for payload, field := range map[string]string{
		`{}`:                             "code",
		`{"code":1}`:                     "code",
		`{"code":"1","cod":1}`:           "cod",
		`{"airlock":2,"request":{}}`:     "airlock",
		`{"airlock":1,"request":{}}`:     "",
		`{"airlock":1,"id":"../x"}`:      "id",
		`{"code":"1","code":"2"}`:        "code",
		`[1]`:                            "",
		`{"Records":[]}`:                 "Records",
		`{"code":"1","timeout":"never"}`: "timeout",
	} {
		_, err := h(t.Context(), json.RawMessage(payload))
		var typed messages.InvokeResponse_Error
		if !errors.As(err, &typed) || typed.Type != "invalid_request" || !strings.Contains(typed.Message, field) {
			t.Errorf("%s: %#v", payload, err)
		}
	}
}

// waiting is a Run that signals when it began and waits for its context.
func waiting(began chan<- struct{}) events.Run {
	return func(ctx context.Context, inv execution.Invocation, _ func(execution.Log)) (execution.Result, error) {
		began <- struct{}{}
		<-ctx.Done()
		return execution.Result{ID: inv.ID, Status: execution.Cancelled}, nil
	}
}

func TestCancelFrom(t *testing.T) {
	in, out := io.Pipe()
	began := make(chan struct{}, 1)
	h := events.NewHandler(waiting(began), events.CancelFrom(in))
	r, err := h(t.Context(), json.RawMessage(envelope))
	if err != nil {
		t.Fatal(err)
	}
	<-began
	if _, err := io.WriteString(out, "exec_another000\nexec_0123456789\n"); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); err != nil || !strings.Contains(string(b), `"status":"cancelled"`) {
		t.Errorf("%s, %v", b, err)
	}
	// A cancellation may arrive before its invocation. The empty line is read from the pipe only after the line before
	// it was handled.
	for _, line := range []string{"exec_early000000\n", "\n"} {
		if _, err := io.WriteString(out, line); err != nil {
			t.Fatal(err)
		}
	}
	if text := handled(t, h, strings.Replace(envelope, "exec_0123456789", "exec_early000000", 1)); !strings.Contains(text,
		`"status":"cancelled"`) {
		t.Error(text)
	}
}

// Lines that code prints within a few milliseconds arrive in one read.
func TestStreamGathersLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		h := events.NewHandler(func(ctx context.Context, inv execution.Invocation,
			onLog func(execution.Log)) (execution.Result, error) {
			for range 50 {
				onLog(execution.Log{Level: "log", Message: "line"})
			}
			<-goOn
			return done(ctx, inv, onLog)
		})
		began := time.Now()
		r, err := h(t.Context(), json.RawMessage(envelope))
		if err != nil {
			t.Fatal(err)
		}
		buffer := make([]byte, 64<<10)
		n, err := r.Read(buffer)
		if lines := bytes.Count(buffer[:n], []byte("\n")); err != nil || lines != 50 {
			t.Errorf("%d lines were read at once, want 50; %v", lines, err)
		}
		if waited := time.Since(began); waited != 5*time.Millisecond {
			t.Errorf("they were read after %v, want 5ms", waited)
		}
		close(goOn)
		rest, err := io.ReadAll(r)
		if err != nil || !bytes.HasPrefix(rest, []byte(`{"result":`)) {
			t.Errorf("then %q was read; %v", rest, err)
		}
		if err := r.(io.Closer).Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestCloseEndsTheExecution(t *testing.T) {
	began := make(chan struct{}, 1)
	ended := false
	run := waiting(began)
	h := events.NewHandler(func(ctx context.Context, inv execution.Invocation,
		onLog func(execution.Log)) (execution.Result, error) {
		defer func() { ended = true }()
		return run(ctx, inv, onLog)
	})
	r, err := h(t.Context(), json.RawMessage(envelope))
	if err != nil {
		t.Fatal(err)
	}
	<-began
	if err := r.(io.Closer).Close(); err != nil || !ended {
		t.Errorf("closed while it ran: %v, ended: %v", err, ended)
	}
}
