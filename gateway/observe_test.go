package gateway_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/gateway/authn"
)

// Every request has one line in the access log and is counted by its route, whatever became of it. Paths that a caller
// makes up make no new counters.
func TestRequestsAreObserved(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	s := serve(t, options{
		auth: authn.Config{Keys: hs256(t)}, access: slog.New(slog.NewJSONHandler(&lines, nil)),
	})
	alice := bearer(token(t, "alice", "acme", "execute"))
	const parent = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	run := s.do(t, "POST", "/api/execute", code("1"), alice, "X-Request-Id: mine", parent)
	s.do(t, "POST", "/api/execute?secret=s", `{"cod":"1"}`, alice)
	s.do(t, "GET", "/api/result/exec_0123456789", "", alice)
	s.do(t, "POST", "/api/execute", code("1"))
	s.do(t, "GET", "/made/up%1b[2J", "", alice)
	s.do(t, "PATCH", "/api/execute", "", alice)

	type line struct {
		Level, Msg, Method, Path, Route, Subject, Tenant, RequestID, Execution, Trace string
		Status                                                                        int
		Ms                                                                            float64
	}
	var got []line
	dec := json.NewDecoder(&lines)
	for dec.More() {
		var l line
		if err := dec.Decode(&l); err != nil {
			t.Fatal(err)
		}
		if l.Level != "INFO" || l.Msg != "request" {
			t.Errorf("level and message of %+v", l)
		}
		if l.Ms < 0 || l.RequestID == "" {
			t.Errorf("time and request of %+v", l)
		}
		got = append(got, l)
	}
	if len(got) != 6 {
		t.Fatalf("%d lines of 6 requests: %+v", len(got), got)
	}
	f := got[0]
	if diff := cmp.Diff(
		[]string{"mine", "jwt:/alice", "acme", "0af7651916cd43dd8448eb211c80319c", run.Header.Get("X-Execution-Id")},
		[]string{f.RequestID, f.Subject, f.Tenant, f.Trace, f.Execution},
	); diff != "" || f.Execution == "" {
		t.Errorf("the first line differs (-want +got):\n%s", diff)
	}
	for i, want := range []struct {
		route  string
		status int
	}{
		{"/api/execute", 200}, {"/api/execute", 400}, {"/api/result/:id", 404}, {"/api", 401}, {"none", 404},
		{"none", 405},
	} {
		if got[i].Route != want.route || got[i].Status != want.status || strings.Contains(got[i].Path, "secret") {
			t.Errorf("line %d: %+v, want route %s and status %d", i, got[i], want.route, want.status)
		}
	}

	text := string(want(t, s.do(t, "GET", "/metrics", "", alice), 200).body)
	for _, counted := range []string{
		`airlock_http_requests_total{code="200",method="POST",route="/api/execute"} 1`,
		`airlock_http_requests_total{code="400",method="POST",route="/api/execute"} 1`,
		`airlock_http_requests_total{code="401",method="POST",route="/api"} 1`,
		`airlock_http_requests_total{code="404",method="GET",route="none"} 1`,
		`airlock_http_request_duration_seconds_count{method="POST",route="/api/execute"} 2`,
		`airlock_build_info{goversion="go`,
	} {
		if !strings.Contains(text, counted) {
			t.Errorf("%s is missing in\n%s", counted, text)
		}
	}
}

// The metrics follow the conventions of Prometheus.
func TestMetricsFollowConventions(t *testing.T) {
	t.Parallel()
	s := kept(t, options{})
	want(t, s.do(t, "POST", "/api/execute", code("1")), 200)
	found, err := promlint.New(bytes.NewReader(s.do(t, "GET", "/metrics", "").body)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	found = slices.DeleteFunc(found, func(p promlint.Problem) bool { return strings.HasPrefix(p.Metric, "go_") })
	if len(found) > 0 {
		t.Errorf("%+v", found)
	}
}

// Jobs and deliveries are counted by their outcome, records as they are written, and the jobs that have not ended are
// exposed.
func TestWorkIsCounted(t *testing.T) {
	t.Parallel()
	s := kept(t, options{})
	accepted := want(t, s.do(t, "POST", "/api/execute", code("1"), prefer), 202)
	s.ended(t, accepted.Header.Get("Location"))
	want(t, s.do(t, "PUT", "/api/functions/f", `{"code":"1","hook":{"scheme":"none"}}`), 201)
	want(t, s.do(t, "PUT", "/api/functions/later", `{"code":"1","hook":{"scheme":"none","async":true}}`), 201)
	want(t, s.do(t, "POST", "/hooks/f", "{}"), 200)
	want(t, s.do(t, "POST", "/hooks/later", "{}"), 202)
	for range 2 {
		want(t, s.do(t, "POST", "/hooks/f", "{}", "Idempotency-Key: one"), 200)
	}
	s.do(t, "POST", "/hooks/none", "{}").problem(t, 404)
	text := string(want(t, s.do(t, "GET", "/metrics", ""), 200).body)
	for _, counted := range []string{
		`airlock_hook_deliveries_total{outcome="answered"} 2`, `airlock_hook_deliveries_total{outcome="accepted"} 1`,
		`airlock_hook_deliveries_total{outcome="repeated"} 1`, `airlock_hook_deliveries_total{outcome="refused"} 1`,
		`airlock_hook_deliveries_total{outcome="failed"} 0`, `airlock_callback_attempts_total{outcome="delivered"} 0`,
		`airlock_jobs{status="paused"} 0`, `airlock_jobs_oldest_queued_age_seconds `,
		`airlock_audit_write_failures_total 0`, `airlock_audit_write_duration_seconds_count `,
	} {
		if !strings.Contains(text, counted) {
			t.Errorf("%s is missing in\n%s", counted, text)
		}
	}
	if strings.Contains(text, `airlock_jobs_ended_total{status="completed"} 0`) {
		t.Errorf("a job ended, and none is counted in\n%s", text)
	}
}

// A record that cannot be written is counted.
func TestFailedWritesAreCounted(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	s.records.breaks(errors.New("no space left"))
	s.do(t, "POST", "/api/execute", `{"code":"eval(input)","policy":"strict"}`).problem(t, 503)
	s.records.breaks(nil)
	text := string(want(t, s.do(t, "GET", "/metrics", ""), 200).body)
	if counted := "airlock_audit_write_failures_total 1"; !strings.Contains(text, counted) {
		t.Errorf("%s is missing in\n%s", counted, text)
	}
}
