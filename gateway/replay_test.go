package gateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/policy/audit"
)

// A function replays what was recorded, and leaves no record.
func TestReplay(t *testing.T) {
	t.Parallel()
	good := record("exec_01AAAAAAAAAA", "acme", "completed", 0)
	good.Request, good.Usage.Ticks = json.RawMessage(`{"code":"1"}`), 7
	changed, blocked, reused, odd := good, good, good, good
	changed.ID, changed.Usage.Ticks = "exec_01BBBBBBBBBB", 8
	blocked.ID, blocked.Status = "exec_01CCCCCCCCCC", "blocked"
	reused.ID, reused.Reused = "exec_01DDDDDDDDDD", good.ID
	odd.ID, odd.Limit = "exec_01EEEEEEEEEE", "odd"
	bare, markup := record("exec_01FFFFFFFFFF", "acme", "completed", 0), good
	markup.ID, markup.Request = "exec_01GGGGGGGGGG", json.RawMessage(`{"code":"`+strings.Repeat("<b>", 4<<20/3)+`"}`)
	l := &ledger{records: []audit.Record{good, changed, blocked, reused, odd, bare, markup}}
	s := serve(t, options{records: l, auth: authn.Config{Keys: hs256(t)}, invoke: func(
		_ context.Context, inv execution.Invocation, _ func(execution.Log),
	) (execution.Reply, error) {
		var of audit.Record
		if err := json.Unmarshal(inv.Replay, &of); err != nil || of.Caller.Tenant != "acme" {
			t.Errorf("%v: %s", err, inv.Replay)
		}
		if of.Limit == "odd" {
			return execution.Reply{}, &execution.Error{
				Code: execution.InvalidRequest, Field: "replay", Message: "its journal was cut",
			}
		}
		return execution.Reply{
			Recorded: true, Result: execution.Result{ID: inv.ID, Status: execution.Completed, Usage: execution.Usage{Ticks: 7}},
		}, nil
	}})
	who := bearer(token(t, "someone", "acme", "audit:read execute"))
	path := func(id string) string { return "/api/audit/execution/" + id + "/replay" }
	v := s.do(t, "POST", path(good.ID), "", who).json(t)
	members(t, v, map[string]any{"same": true, "differences": []any{}, "id": good.ID})
	members(t, v["result"].(map[string]any), map[string]any{"status": "completed"})
	want(t, s.do(t, "POST", path(markup.ID), "", who), 200, `"same":true`) // no byte is sent as six
	v = s.do(t, "POST", path(changed.ID), "", who).json(t)
	if d, _ := v["differences"].([]any); v["same"] != false || len(d) != 1 || d[0] != "ticks: 8 then, 7 now" {
		t.Error(v)
	}
	for id, says := range map[string]string{
		blocked.ID: "nothing ran", reused.ID: good.ID, odd.ID: "its journal was cut", bare.ID: "AUDIT_CODE=keep",
	} {
		if detail, code := s.do(t, "POST", path(id), "", who).problem(t, 409); code != "not_replayable" ||
			!strings.Contains(detail, says) {
			t.Errorf("%s: %s, %s", id, code, detail)
		}
	}
	first, again := s.do(t, "POST", path(good.ID), "", who, "Idempotency-Key: k"), s.do(
		t, "POST", path(good.ID), "", who, "Idempotency-Key: k",
	)
	if again.Header.Get("Idempotency-Replayed") != "true" || string(first.body) != string(again.body) {
		t.Errorf("%s\n%s", first.body, again.body)
	}
	s.do(t, "POST", path("exec_01ZZZZZZZZZZ"), "", who).problem(t, 404)
	s.do(t, "POST", path(good.ID), "", bearer(token(t, "someone", "globex", "audit:read execute"))).problem(t, 404)
	s.do(t, "POST", path(good.ID), "", bearer(token(t, "someone", "acme", "audit:read"))).problem(t, 403)
	s.do(t, "POST", path(good.ID), "", bearer(token(t, "someone", "acme", "execute"))).problem(t, 403)
	if len(l.records) != 7 {
		t.Errorf("%d records", len(l.records))
	}
}

// An altered record is not shown, and neither it nor a step whose session has it can be replayed, however often
// somebody tries.
func TestReplayOfAlteredSession(t *testing.T) {
	t.Parallel()
	first := record("exec_01AAAAAAAAAA", "acme", "completed", 0)
	first.Session, first.Step = "sess_1", 1
	second := record("exec_01BBBBBBBBBB", "acme", "completed", 0)
	second.Session, second.Step, second.Request = "sess_1", 2, json.RawMessage(`{"code":"1"}`)
	s := serve(t, options{
		records: &ledger{records: []audit.Record{second, first}, altered: first.ID}, auth: authn.Config{Keys: hs256(t)},
	})
	who := bearer(token(t, "someone", "acme", "audit:read execute"))
	for _, request := range []string{
		"GET /api/audit/execution/" + first.ID, "POST /api/audit/execution/" + first.ID + "/replay",
		"GET /api/reports/execution/" + first.ID,
	} {
		method, path, _ := strings.Cut(request, " ")
		a := s.do(t, method, path, "", who)
		if _, code := a.problem(t, 500); code != "record_altered" || a.Header.Get("Retry-After") != "" {
			t.Errorf("%s: %s", request, code)
		}
	}
	detail, code := s.do(t, "POST", "/api/audit/execution/"+second.ID+"/replay", "", who).problem(t, 409)
	if code != "not_replayable" || !strings.Contains(detail, "step 1") {
		t.Errorf("%s: %s", code, detail)
	}
}
