package interpreter

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/access"
	"github.com/airlock-run/airlock/gateway/api"
)

// steps begins steps of a session, and counts those that run at once.
type steps struct {
	Sessions
	running, most atomic.Int32
}

func (s *steps) Begin(_ context.Context, id string, of *api.Submission) (release func(), err error) {
	n := s.running.Add(1)
	for most := s.most.Load(); n > most && !s.most.CompareAndSwap(most, n); most = s.most.Load() {
	}
	of.ID, of.Session = "exec_0123456789", &execution.SessionStep{SessionRef: execution.SessionRef{ID: id, Step: 7}}
	return func() { s.running.Add(-1) }, nil
}

// direct decodes bodies at once.
type direct struct{}

func (direct) Turn(context.Context, string, string) (func(), error) { return func() {}, nil }

// An executorFunc runs submissions.
type executorFunc func(ctx context.Context, s api.Submission) (execution.Result, error)

func (f executorFunc) Execute(ctx context.Context, s api.Submission) (execution.Result, error) {
	return f(ctx, s)
}

// gateway serves steps that execute runs, and returns its address.
func gateway(t *testing.T, sessions *steps, execute executorFunc) string {
	t.Helper()
	h := &Handlers{
		Sessions: sessions, Executor: execute, Turns: direct{}, Places: access.NewPlaces(1, time.Now).Streams,
		Problem: func(err error, path, _ string) []byte {
			return fmt.Appendf(nil, `{"detail":"%s: %v"}`, path, err)
		},
		WriteTimeout: 10 * time.Second, Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return time.Unix(1, 0) },
	}
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Post("/execute", h.Execute)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = app.Listener(listener) }()
	t.Cleanup(func() { _ = app.Shutdown() })
	return "http://" + listener.Addr().String() + "/execute"
}

// send sends a step.
func send(ctx context.Context, url string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url,
		strings.NewReader(`{"code":"1","context_id":"sess_0123456789"}`))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Close = true // a shutdown waits for connections
	return http.DefaultClient.Do(r)
}

// begun sends a step, closes began when its response begins, and returns what it responds.
func begun(t *testing.T, url string, began chan<- struct{}) string {
	t.Helper()
	res, err := send(t.Context(), url)
	close(began)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

const number = `{"type":"number_of_executions","execution_count":7}`

func stdout(text string) string {
	encoded, _ := json.Marshal(text)
	return `{"type":"stdout","text":` + string(encoded) + `,"timestamp":"1970-01-01T00:00:01Z"}`
}

// Lines arrive while the code runs. What is not sent by then comes from the result: texts that the logs cut, and calls
// that they do not list.
func TestLinesArriveWhileCodeRuns(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100)
	logs := []execution.Log{
		{Level: "log", Message: "a"}, {Level: "log", Message: long[:10] + "..."}, {Level: "log", Message: "b"},
		{Level: "warn", Message: "… 1 more console calls are not listed; at most 3 are"},
	}
	read := make(chan struct{})
	url := gateway(t, new(steps), func(ctx context.Context, s api.Submission) (execution.Result, error) {
		s.Admitted()
		for i, l := range logs {
			s.OnLog(l)
			if i == 0 {
				select {
				case <-read:
				case <-ctx.Done():
					return execution.Result{}, ctx.Err()
				}
			}
		}
		return execution.Result{
			Status: execution.Completed, Result: []byte("1"), Output: "a\n" + long + "\nb\nc\n", Logs: logs,
			Usage: execution.Usage{LogsDropped: 1},
		}, nil
	})
	res, err := send(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if id := res.Header.Get(api.ExecutionID); id != "exec_0123456789" {
		t.Error(id)
	}
	var got []string
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if got = append(got, lines.Text()); len(got) == 2 {
			close(read) // the step goes on only now
		}
	}
	want := []string{
		number, stdout("a\n"), stdout(long + "\n"), stdout("b\n"), stdout("c\n"),
		`{"type":"result","text":"1","is_main_result":true}`, `{"type":"end_of_execution"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The response begins soon after the step has its place, so that the client counts the timeout of the code from there.
func TestResponseBeginsBeforeCodePrints(t *testing.T) {
	t.Parallel()
	began := make(chan struct{})
	url := gateway(t, new(steps), func(ctx context.Context, s api.Submission) (execution.Result, error) {
		s.Admitted()
		select {
		case <-began:
		case <-ctx.Done():
		}
		return execution.Result{Status: execution.Completed}, nil
	})
	if got, want := begun(t, url, began), number+"\n"+`{"type":"end_of_execution"}`+"\n"; got != want {
		t.Error(got)
	}
}

// An error has its own status if the response has not begun, and is a line if it has.
func TestErrorsOfThePlatform(t *testing.T) {
	t.Parallel()
	url := gateway(t, new(steps), func(context.Context, api.Submission) (execution.Result, error) {
		return execution.Result{}, fiber.NewError(503, "lost")
	})
	res, err := send(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != 503 {
		t.Error(res.StatusCode)
	}
	for name, end := range map[string]func(){"error": func() {}, "panic": func() { panic("lost") }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := make(chan struct{})
			url := gateway(t, new(steps), func(ctx context.Context, s api.Submission) (execution.Result, error) {
				s.OnLog(execution.Log{Level: "log", Message: "a"}) // the response begins with this line
				select {
				case <-began:
				case <-ctx.Done():
				}
				end()
				return execution.Result{}, errors.New("lost")
			})
			got := begun(t, url, began)
			if !strings.Contains(got, `"name":"PlatformError","value":"/execute: `) {
				t.Error(got)
			}
			if !strings.HasSuffix(got, `{"type":"end_of_execution"}`+"\n") {
				t.Error(got)
			}
		})
	}
}

// A client that hangs up stops its step.
func TestHangingUpStopsAStep(t *testing.T) {
	t.Parallel()
	stopped := make(chan struct{})
	url := gateway(t, new(steps), func(ctx context.Context, s api.Submission) (execution.Result, error) {
		s.OnLog(execution.Log{Level: "log", Message: "a"})
		<-ctx.Done()
		close(stopped)
		return execution.Result{Status: execution.Cancelled}, nil
	})
	ctx, hangUp := context.WithCancel(t.Context())
	res, err := send(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	hangUp()
	<-stopped
}

// Calls at once in one context run one after the other.
func TestCallsInOneContextTakeTurns(t *testing.T) {
	t.Parallel()
	sessions := new(steps)
	url := gateway(t, sessions, func(context.Context, api.Submission) (execution.Result, error) {
		return execution.Result{Status: execution.Completed}, nil
	})
	errs := make(chan error)
	const calls = 8
	for range calls {
		go func() {
			res, err := send(t.Context(), url)
			if err == nil {
				_, err = io.ReadAll(res.Body)
				_ = res.Body.Close()
			}
			errs <- err
		}()
	}
	for range calls {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if most := sessions.most.Load(); most != 1 {
		t.Errorf("%d steps ran at once", most)
	}
}

// Calls beyond the bound do not wait, nor do those whose caller has left, and nothing is kept of a context without
// calls.
func TestTurns(t *testing.T) {
	t.Parallel()
	var all turns
	first := all.enter(t.Context(), "a")
	gone, leave := context.WithCancel(t.Context())
	leave()
	var leaving []func()
	for range maxInTurn + 1 {
		leaving = append(leaving, all.enter(gone, "a"))
	}
	first()
	next := all.enter(t.Context(), "b")
	next()
	for _, leave := range leaving {
		leave()
	}
	if len(all.taken) > 0 {
		t.Error(all.taken)
	}
}
