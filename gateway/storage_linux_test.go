package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
	"github.com/airlock-run/airlock/infra/state/statetest"
)

// When the disk of the state is full, requests that change the state get 507, and /readyz gets 503 with the reason.
// Requests without state continue, and everything recovers with the disk.
func TestFullDisk(t *testing.T) {
	disk := statetest.NewDisk(t, 8<<20)
	if disk == nil {
		return
	}
	var ahead time.Duration
	store, err := sqlitestate.Open(disk.Dir, sqlitestate.Config{Now: func() time.Time { return time.Now().Add(ahead) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	s := serve(t, options{state: store, invoke: mirror})
	code := fmt.Sprintf(`{"code":%q}`, "//"+strings.Repeat("x", 100<<10)+"\n1")
	if a := s.do(t, "PUT", "/api/functions/f", `{"code":"1"}`); a.StatusCode != 201 {
		t.Fatalf("%d %s", a.StatusCode, a.body)
	}
	// the journal has no room of its own
	if err := store.Prune(t.Context(), time.Now(), time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	disk.Fill()
	for _, c := range []struct{ method, path, body, header string }{
		{"PUT", "/api/functions/g", code, "X: y"},
		{"DELETE", "/api/functions/f", "", "X: y"},
		{"POST", "/api/execute", code, "Prefer: respond-async"},
	} {
		if _, code := s.do(t, c.method, c.path, c.body, c.header).problem(
			t, http.StatusInsufficientStorage,
		); code != "store_full" {
			t.Errorf("%s %s: %s", c.method, c.path, code)
		}
	}
	ahead += time.Hour // what was known of the file is old
	if detail, _ := s.do(t, "GET", "/readyz", "").problem(t, 503); !strings.Contains(detail, "store_full") {
		t.Errorf("readyz: %s", detail)
	}
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/api/execute", `{"code":"1"}`}, {"GET", "/api/functions/f", ""}, {"GET", "/healthz", ""},
	} {
		if a := s.do(t, c.method, c.path, c.body); a.StatusCode != 200 {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.StatusCode, a.body)
		}
	}
	disk.Free()
	if a := s.do(t, "GET", "/readyz", ""); a.StatusCode != 200 {
		t.Errorf("readyz: %d %s", a.StatusCode, a.body)
	}
	if a := s.do(t, "PUT", "/api/functions/g", code); a.StatusCode != 201 {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
}

// The problem of a tenant that used up a quota says which quota, how much is used, and what to do.
func TestStorageQuota(t *testing.T) {
	t.Parallel()
	store, err := sqlitestate.Open(t.TempDir(), sqlitestate.Config{Storage: func(string) execution.Storage {
		return execution.Storage{Functions: 64 << 10, Keys: 32 << 10}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	s := serve(t, options{state: store, invoke: mirror})
	code := fmt.Sprintf(`{"code":%q}`, "//"+strings.Repeat("x", 40<<10)+"\n1")
	if a := s.do(t, "PUT", "/api/functions/f", code); a.StatusCode != 201 {
		t.Fatalf("%d %s", a.StatusCode, a.body)
	}
	detail, problem := s.do(t, "PUT", "/api/functions/g", code).problem(t, 507)
	if problem != "storage_quota" {
		t.Errorf("the problem is %s", problem)
	}
	for _, part := range []string{`"functions" is used up: 4`, "of 65536 bytes", "delete some"} {
		if !strings.Contains(detail, part) {
			t.Errorf("%s does not contain %s", detail, part)
		}
	}
	var refused answer
	for n := range 100 {
		if refused = s.do(
			t, "POST", "/api/execute", `{"code":"1"}`, "Prefer: respond-async", fmt.Sprint("Idempotency-Key: k", n),
		); refused.StatusCode != 202 {
			break
		}
	}
	detail, problem = refused.problem(t, 429)
	if problem != "storage_quota" || refused.Header.Get("Retry-After") == "" || !strings.Contains(detail, `"keys"`) {
		t.Errorf("%s %s", problem, detail)
	}
	metrics := string(s.do(t, "GET", "/metrics", "").body)
	for _, want := range []string{
		`airlock_state_bytes{quota="functions"} 4`, `airlock_state_tenant_bytes{quota="keys",tenant="default"} `,
		`airlock_state_items{quota="functions"} 2`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("%s is not among the metrics", want)
		}
	}
}

// faulty is a state whose store has a fault.
type faulty struct {
	gateway.State
	err error
}

func (f faulty) Ready(context.Context) error { return f.err }

func (f faulty) Function(context.Context, string, string) (execution.SavedFunction, error) {
	return execution.SavedFunction{}, fmt.Errorf("read: %w", f.err)
}

func (f faulty) Submit(context.Context, execution.Job) error { return fmt.Errorf("submit: %w", f.err) }

// Each fault of the store has its status, its code and, if trying again helps, Retry-After. None is 500, and /readyz
// names the fault.
func TestStoreFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault  execution.StoreFault
		status int
		code   string
	}{
		{execution.StoreFull, 507, "store_full"}, {execution.StoreBusy, 503, "store_busy"},
		{execution.StoreCorrupt, 503, "store_corrupt"},
		{execution.StoreReadOnly, 503, "store_read_only"}, {execution.StoreLost, 503, "store_lost"},
	} {
		t.Run(string(c.fault), func(t *testing.T) {
			t.Parallel()
			s := serve(
				t,
				options{state: faulty{unworked{opened(t)}, &execution.StoreError{Fault: c.fault, Err: errors.New("/secret/path")}}},
			)
			for _, a := range []answer{
				s.do(t, "GET", "/api/functions/f", ""), s.do(t, "POST", "/api/execute", `{"code":"1"}`, "Prefer: respond-async"),
			} {
				if _, code := a.problem(t, c.status); code != c.code || strings.Contains(string(a.body), "secret") ||
					(a.Header.Get("Retry-After") != "") != (c.status == 503) {
					t.Errorf("%s, %v: %s", code, a.Header, a.body)
				}
			}
			if detail, code := s.do(t, "GET", "/readyz", "").problem(t, 503); code != "not_ready" ||
				!strings.Contains(detail, c.code) {
				t.Errorf("readyz: %s %s", code, detail)
			}
		})
	}
}

// A required part that fails makes a gateway not ready. An optional one shows as degraded.
func TestReadyzChecksEveryPart(t *testing.T) {
	t.Parallel()
	part := func(optional bool, err error) gateway.Health {
		return gateway.Health{Name: "part", Optional: optional, Ready: func(context.Context) error { return err }}
	}
	lost := errors.New("lost")
	for _, c := range []struct {
		name   string
		part   gateway.Health
		status int
		body   string
	}{
		{"needed and well", part(false, nil), 200, `"part":"ok"`},
		{"needed and lost", part(false, lost), 503, `part does not answer`},
		{"optional and well", part(true, nil), 200, `"part":"ok"`},
		{"optional and lost", part(true, lost), 200, `"part":"degraded"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, options{health: []gateway.Health{c.part}})
			if a := s.do(t, "GET", "/readyz", ""); a.StatusCode != c.status || !strings.Contains(string(a.body), c.body) {
				t.Errorf("%d %s", a.StatusCode, a.body)
			}
		})
	}
}
