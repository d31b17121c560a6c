package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/state/pgstate/pgtest"
)

// A takeover is a fleet whose gateways die while functions on Lambda run their jobs.
type takeover struct {
	*testing.T
	database *pgtest.Server
	url      string
	common   []string // the environment of the gateways
}

func newTakeover(t *testing.T) *takeover {
	t.Helper()
	database := pgtest.New(t)
	url := database.Database(t)
	return &takeover{t, database, url, []string{"AIRLOCK_STATE=" + url, "AUDIT_STORE=file://" +
		filepath.Join(t.TempDir(), "audit"), "INVOKER=lambda", "LAMBDA_FUNCTION=fn", "AWS_EC2_METADATA_DISABLED=true"}}
}

func (w *takeover) gateway(lambda string) *program {
	w.Helper()
	return start(w.T, append(w.common, "LAMBDA_ENDPOINT="+lambda)...)
}

// submit submits a job that calls a URL and may take a time.
func (w *takeover) submit(p *program, url string, timeout time.Duration) (id string) {
	w.Helper()
	body, err := json.Marshal(map[string]any{"code": "return (await fetch(input)).status", "input": url,
		"timeout": timeout.Milliseconds()})
	if err != nil {
		w.Fatal(err)
	}
	status, v := p.post(w.Context(), w.T, "/api/execute", string(body), "Prefer: respond-async")
	if status != http.StatusAccepted {
		w.Fatalf("%d %v", status, v)
	}
	return v["id"].(string)
}

// kill kills a gateway that runs a job.
func (w *takeover) kill(p *program) {
	w.Helper()
	if err := p.Process.Kill(); err != nil {
		w.Fatal(err)
	}
	_ = p.Wait() // it was killed
}

// age makes the last heartbeat of the gateway that runs a job older.
func (w *takeover) age(id string, by time.Duration) {
	w.Helper()
	w.database.Exec(w.T, w.url, `UPDATE airlock.processes SET seen = seen - make_interval(secs => $2)
		WHERE id = (SELECT owner FROM airlock.jobs WHERE id = $1)`, []byte(id), by.Seconds())
}

// ended waits until a job has ended.
func (w *takeover) ended(p *program, id string) (result map[string]any) {
	w.Helper()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for ; ; <-look.C {
		if err := json.Unmarshal([]byte(fetch(w.T, p.url+"/api/result/"+id)), &result); err != nil {
			w.Fatal(err)
		}
		if final(result["status"]) {
			return result
		}
	}
}

// A function on Lambda goes on when its gateway dies. While it runs, no other gateway runs its job again. When it has
// left its record, another one ends the job by that record.
func TestFunctionOutlivesItsGateway(t *testing.T) {
	t.Parallel()
	w := newTakeover(t)
	var calls atomic.Int32
	called, release := make(chan struct{}, 10), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		calls.Add(1)
		called <- struct{}{}
		<-release
	}))
	t.Cleanup(server.Close)
	functions := startLambdaLocal(t, "fn", append(w.common, "EGRESS_ALLOW=127.0.0.1")...)
	dead := w.gateway(functions)
	id := w.submit(dead, server.URL, 15*time.Second)
	<-called
	w.kill(dead)
	w.age(id, 20*time.Second) // the lease is over, and the time of the function is not
	heir := w.gateway(functions)
	close(release)
	result := w.ended(heir, id)
	if record := fetch(t, heir.url+"/api/audit/execution/"+id); !strings.Contains(record, `"status":"completed"`) {
		t.Errorf("the record of the function is not there: %s", record)
	}
	if text := fmt.Sprint(result["error"]); !strings.Contains(text, "completed, but the service was restarted") {
		t.Errorf("the job has another result than its record: %s", text)
	}
	if n := calls.Load(); n != 1 {
		t.Errorf("it ran %d times", n)
	}
}

// A job whose gateway died runs again when its function must have ended, by the time that the job asked for.
func TestJobRunsAgainAfterItsOwnTime(t *testing.T) {
	t.Parallel()
	w := newTakeover(t)
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	t.Cleanup(server.Close)
	invoked, done := make(chan struct{}, 10), make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		invoked <- struct{}{}
		<-done
	}))
	t.Cleanup(silent.Close)
	t.Cleanup(func() { close(done) })
	dead := w.gateway(silent.URL)
	id := w.submit(dead, server.URL, 8*time.Second)
	<-invoked
	w.kill(dead)
	w.age(id, 35*time.Second) // 15 of the lease, 8 of the job, and 10 for its record
	heir := w.gateway(startLambdaLocal(t, "fn", append(w.common, "EGRESS_ALLOW=127.0.0.1")...))
	result := w.ended(heir, id)
	if result["status"] != "completed" || result["result"] != 200.0 {
		t.Errorf("it ended with %v", result)
	}
	if n := calls.Load(); n != 1 {
		t.Errorf("it ran %d times", n)
	}
}

// A gateway that is suspended until it counts as dead, and then continues, does not begin the job that it had claimed:
// another one has run it.
func TestSuspendedGatewayBeginsNothing(t *testing.T) {
	t.Parallel()
	w := newTakeover(t)
	w.common = append(w.common[:2], "EGRESS_ALLOW=127.0.0.1")
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	t.Cleanup(server.Close)
	held, release := make(chan struct{}, 1), make(chan struct{})
	holding := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		held <- struct{}{}
		<-release
	}))
	t.Cleanup(holding.Close)
	suspended := start(t, w.common...)
	busy := make(chan struct{})
	go func() { // it takes the only place
		defer close(busy)
		suspended.post(t.Context(), t, "/api/execute", fmt.Sprintf(`{"code":"await fetch('%s')"}`, holding.URL))
	}()
	<-held
	id := w.submit(suspended, server.URL, 8*time.Second)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for !strings.Contains(fetch(t, suspended.url+"/api/result/"+id), `"status":"running"`) {
		<-look.C
	}
	if err := suspended.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	heir := start(t, w.common...)
	if result := w.ended(heir, id); result["status"] != "completed" {
		t.Errorf("it ended with %v", result)
	}
	if err := suspended.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	close(release)
	<-busy
	// The place is free. This execution gets it after all that waited.
	if _, v := suspended.post(t.Context(), t, "/api/execute", `{"code":"1"}`); v["status"] != "completed" {
		t.Errorf("the gateway runs no code any more: %v", v)
	}
	if n := calls.Load(); n != 1 {
		t.Errorf("it ran %d times", n)
	}
}
