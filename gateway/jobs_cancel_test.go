package gateway_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
)

// onePlace returns a server whose one place an execution holds until it is cancelled, what receives the IDs of
// executions that begin, and a function that submits one and returns the path of its result.
func onePlace(t *testing.T) (s *served, began <-chan string, post func() string) {
	t.Helper()
	ids := make(chan string, 10)
	s = kept(t, options{config: gateway.Config{Places: 1}, invoke: func(
		ctx context.Context, inv execution.Invocation, _ func(execution.Log),
	) (execution.Reply, error) {
		ids <- inv.ID
		<-ctx.Done()
		return execution.Reply{}, ctx.Err()
	}})
	return s, ids, func() string {
		return want(t, s.do(t, "POST", "/api/execute", code("1"), prefer), 202).Header.Get("Location")
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	s, began, post := onePlace(t)
	runs := post()
	if id := <-began; "/api/result/"+id != runs {
		t.Fatalf("%s runs, not %s", id, runs)
	}
	waits := post()
	want(t, s.do(t, "GET", runs, ""), 200, `"status":"running"`)
	if after := want(t, s.do(t, "GET", waits, ""), 200, `"status":"queued"`).Header.Get("Retry-After"); after != "1" {
		t.Errorf("a queued result has Retry-After %q", after)
	}
	for _, location := range []string{waits, runs} {
		want(t, s.do(t, "DELETE", location, ""), 200, `"status":"cancelled"`)
		want(t, s.do(t, "GET", location, ""), 200, `"status":"cancelled"`)
		want(t, s.do(t, "DELETE", location, ""), 200, `"status":"cancelled"`)
		if r, err := s.records.Get(t.Context(), strings.TrimPrefix(location, "/api/result/")); err != nil ||
			r.Status != "cancelled" {
			t.Errorf("%s: recorded as %q, %v", location, r.Status, err)
		}
	}
	select {
	case id := <-began:
		t.Errorf("%s ran", id)
	default:
	}
}

// Callers with the scope cancel the jobs of their tenant that others submitted, and those of webhooks. They see no
// result.
func TestCancelOthers(t *testing.T) {
	t.Parallel()
	began := make(chan string, 10)
	s := kept(t, options{auth: tokens(t), config: gateway.Config{Places: 1}, invoke: func(
		ctx context.Context, inv execution.Invocation, _ func(execution.Log),
	) (execution.Reply, error) {
		began <- inv.ID
		<-ctx.Done()
		return execution.Reply{}, ctx.Err()
	}})
	ann := tenantToken(t, "ann", "acme", "execute functions")
	running := want(t, s.do(t, "POST", "/api/execute", code("1"), prefer, ann), 202).json(t)["id"].(string)
	<-began
	queued := want(t, s.do(t, "POST", "/api/execute", code("1"), prefer, ann), 202).json(t)["id"].(string)
	saved := s.do(t, "PUT", "/api/functions/push", `{"code":"1","hook":{"scheme":"none","async":true}}`, ann)
	path := want(t, saved, 201).json(t)["hook"].(map[string]any)["path"].(string)
	hooked := want(t, s.do(t, "POST", path, `{}`), 202).json(t)["id"].(string)
	for _, id := range []string{queued, hooked, running} {
		for _, as := range []string{
			tenantToken(t, "bob", "acme", "execute"), tenantToken(t, "bob", "acme", "execute audit:read functions approve"),
			tenantToken(t, "wes", "other", "execute cancel"),
		} {
			want(t, s.do(t, "DELETE", "/api/executions/"+id, "", as), 404)
		}
		want(t, s.do(t, "DELETE", "/api/executions/"+id, "", tenantToken(t, "wes", "acme", "cancel")), 403)
		warden := tenantToken(t, "wes", "acme", "execute cancel")
		body := want(t, s.do(t, "DELETE", "/api/executions/"+id, "", warden), 202).json(t)
		if diff := cmp.Diff(map[string]any{"id": id, "status": "cancelled"}, body); diff != "" {
			t.Errorf("the answer differs (-want +got):\n%s", diff)
		}
		want(t, s.do(t, "GET", "/api/result/"+id, "", warden), 404)
		if r, err := s.records.Get(t.Context(), id); err != nil || r.Status != "cancelled" {
			t.Errorf("%s: recorded as %q, %v", id, r.Status, err)
		}
	}
}

// A cancelled job that has not begun is not cancelled without a record. If the record cannot be written, the job is
// ended with one later, and does not run.
func TestCancelWithoutRecord(t *testing.T) {
	t.Parallel()
	s, began, post := onePlace(t)
	runs := post()
	<-began
	waits := post()
	s.records.breaks(errors.New("the disk is full"))
	want(t, s.do(t, "DELETE", waits, ""), 503, "unrecorded")
	want(t, s.do(t, "GET", waits, ""), 200, `"status":"queued"`)
	s.records.breaks(nil)
	want(t, s.do(t, "DELETE", runs, ""), 200, `"status":"cancelled"`)
	want(t, s.ended(t, waits), 200, `"status":"cancelled"`)
	if r, err := s.records.Get(t.Context(), strings.TrimPrefix(waits, "/api/result/")); err != nil ||
		r.Status != "cancelled" {
		t.Errorf("recorded as %q, %v", r.Status, err)
	}
	select {
	case id := <-began:
		t.Errorf("%s ran", id)
	default:
	}
}

// An execution that waits can be cancelled when its stored request is lost. Its record says that.
func TestCancelWithoutRequest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, err := sqlitestate.Open(dir, sqlitestate.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	s := serve(t, options{state: store})
	const id = "exec_0000000001"
	err = store.Submit(t.Context(), execution.Job{
		ID: id, Tenant: "default", Status: execution.Queued, Kinds: true, ReceivedAt: time.Now(),
		Request: execution.Request{Code: strings.Repeat("x", 2<<20)},
		Times:   execution.Times{NotBefore: time.Now().Add(30 * time.Minute)},
	})
	if err == nil {
		err = os.RemoveAll(filepath.Join(dir, "contents"))
	}
	if err != nil {
		t.Fatal(err)
	}
	want(t, s.do(t, "DELETE", "/api/result/"+id, ""), 202, `"status":"cancelled"`)
	if status, err := store.JobStatus(t.Context(), id); err != nil || status != execution.Cancelled {
		t.Errorf("stored as %q, %v", status, err)
	}
	r, err := s.records.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != "cancelled" {
		t.Errorf("recorded as %q", r.Status)
	}
	if r.CodeSHA256 != "" || len(r.Reasons) != 1 {
		t.Errorf("recorded with the code %q and %v", r.CodeSHA256, r.Reasons)
	}
}
