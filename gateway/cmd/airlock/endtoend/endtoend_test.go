package endtoend_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/functions/runner"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/access"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/ratelimit"
	"github.com/airlock-run/airlock/infra/invoke/localinvoke"
	"github.com/airlock-run/airlock/infra/invoke/sealed"
	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/policy/scan"
	"github.com/airlock-run/airlock/sandbox"
)

// TestMain makes this binary a function process if a test starts it as a child.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "function" {
		if err := serveFunction(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// serveFunction serves as a function process: the real one, or one with the tiers that decider changes.
func serveFunction() error {
	if os.Getenv("POLICY") == "on" {
		return process.Serve(context.Background(), os.Getenv, os.Stdin, os.Stderr)
	}
	engine, err := sandbox.New(context.Background(), sandbox.Config{CacheDir: os.Getenv("AIRLOCK_CACHE_DIR")})
	if err != nil {
		return err
	}
	link, _, err := sealed.Inherited()
	if err != nil {
		return err
	}
	r, err := runner.New(runner.Config{Sandbox: engine, Policy: decider(os.Getenv("POLICY")), Records: link})
	if err != nil {
		return err
	}
	return link.Serve(context.Background(), events.NewHandler(r.Run, events.CancelFrom(os.Stdin)).Answer, nil)
}

// rules is the policy of both gateway and function.
type rules interface {
	Decide(policy.Request) policy.Decision
	gateway.Decider
}

// The limits of executions that should end by another limit, even on a busy machine.
const (
	farDeadline = time.Minute
	enoughCPU   = 20 * time.Second
)

// decider returns the built-in tiers if mode is "on". If it is "patient" or "off", their deadline is far; if it is
// "off", they do not scan.
func decider(mode string) rules {
	if mode == "on" {
		return policy.Default()
	}
	r := policy.BuiltinRules()
	for i := range r.Tiers {
		r.Tiers[i].Timeout, r.Tiers[i].CPU = farDeadline, enoughCPU
	}
	if mode == "off" {
		return unscanned{policy.New(r)}
	}
	return policy.New(r)
}

// unscanned grants what the tier grants whatever the code is: the sandbox must hold without the scan.
type unscanned struct{ *policy.Set }

func (u unscanned) Decide(a policy.Request) policy.Decision {
	a.Code, a.Files = "0", nil
	return u.Set.Decide(a)
}

func (u unscanned) DecideWith(ctx context.Context, a policy.Request, read scan.Func) (policy.Decision, error) {
	a.Code, a.Files = "0", nil
	return u.Set.DecideWith(ctx, a, read)
}

// service is a gateway on a real socket with its own function processes and records.
type service struct {
	url     string
	records *filerecords.Store
	pool    *localinvoke.Pool
}

func serve(t testing.TB, mode string, processes int) *service {
	t.Helper()
	dir := t.TempDir()
	records, err := filerecords.Open(dir, filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = records.Close() })
	_, timed := t.(*testing.B)
	if !timed {
		t.Cleanup(func() { replayed(t, records, mode) })
	}
	pool, err := localinvoke.New(t.Context(), localinvoke.Config{
		Command: []string{os.Args[0], "function"}, Processes: processes, MaxMemory: maxMemory, Grace: grace,
		StartTimeout: 30 * time.Second,
		Env:          []string{"POLICY=" + mode, "AIRLOCK_CACHE_DIR=" + filepath.Join(os.TempDir(), "airlock-test-cache")},
		Sealed: &localinvoke.Sealed{Records: records, KeepCode: !timed,
			Outside: process.Outside{Rules: decider(mode), Secret: func(string) string { return "" }}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close(context.Background()) })
	auth, err := authn.New(authn.Config{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	limiter, err := ratelimit.New(ratelimit.Config{Window: time.Minute, Max: 1 << 30, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	state, err := sqlitestate.Open(t.TempDir(), sqlitestate.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = state.Close() })
	cfg := gateway.Config{Overhead: grace, Places: processes}
	if !timed {
		cfg.KeepCode = audit.MaxBytes
	}
	server, err := gateway.New(cfg, gateway.Deps{
		State:   state,
		Invoker: pool, Records: records, Policy: decider(mode), Scanner: scan.New(), Limits: access.Limits{Limiter: limiter},
		Auth: auth, Logger: slog.New(slog.DiscardHandler),
		Now: time.Now, NewID: func() string { return "exec_" + ulid.MustNew(ulid.Now(), rand.Reader).String() },
	})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Shutdown(context.Background()) })
	return &service{"http://" + listener.Addr().String(), records, pool}
}

// execute posts a request and returns its result; the status must be 200.
func (s *service) execute(t testing.TB, request map[string]any) execution.Result {
	t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	post, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/api/execute", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	post.Header.Set("Content-Type", "application/json")
	post.Header.Set("Cache-Control", "no-store")
	answer, err := http.DefaultClient.Do(post)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var result execution.Result
	if err := json.Unmarshal(text, &result); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("status %d: %s", answer.StatusCode, text)
	}
	return result
}

// recorded checks that the result has a record that agrees with it.
func (s *service) recorded(t testing.TB, r execution.Result) audit.Record {
	t.Helper()
	record, err := s.records.Get(t.Context(), r.ID)
	if err != nil {
		t.Errorf("%s has no record: %v", r.ID, err)
	} else if record.Status != string(r.Status) {
		t.Errorf("%s is recorded as %s and was answered as %s", r.ID, record.Status, r.Status)
	}
	return record
}
