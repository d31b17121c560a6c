package gateway_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy/audit"
)

func TestHookDryRun(t *testing.T) {
	t.Parallel()
	s := kept(t, options{})
	for scheme, sample := range map[string]string{
		"standard": "contact.created", "github": "push", "stripe": "payment_intent.succeeded", "slack": "slash_command",
		"shopify": "orders/create", "hmac-sha256": "json", "shared-header": "text",
	} {
		want(
			t,
			s.do(
				t, "PUT", "/api/functions/f",
				fmt.Sprintf(`{"code":"1","hook":{"scheme":%q,"secret":"It is a secret of 32 characters."}}`, scheme),
			),
			201,
		)
		for range 2 { // nothing is remembered
			a := want(
				t, s.do(t, "POST", "/api/functions/f/hook/dry-run", `{"sample":"`+sample+`"}`), 200, `"event":{"method":"POST"`,
				`"answer":{"status":200`, `"status":"completed"`,
			)
			if strings.Contains(string(a.body), "It is a secret of 32 characters.") {
				t.Errorf("%s: the secret is in the response: %s", scheme, a.body)
			}
		}
		if detail, _ := s.do(
			t, "POST", "/api/functions/f/hook/dry-run", `{"sample":"nope"}`,
		).problem(t, 400); !strings.Contains(detail, sample) {
			t.Error(detail)
		}
		want(t, s.do(t, "DELETE", "/api/functions/f", ""), 204)
	}
	want(t, s.do(t, "PUT", "/api/functions/f", code("1")), 201)
	s.do(t, "POST", "/api/functions/f/hook/dry-run", `{"sample":"json"}`).problem(t, 409)
	s.do(t, "POST", "/api/functions/g/hook/dry-run", `{"sample":"json"}`).problem(t, 404)
	want(t, s.do(t, "PUT", "/api/functions/f", `{"code":"1","hook":{"scheme":"none"}}`), 200)
	for _, body := range []string{
		`{}`, `{"sample":"json","execution":"exec_0123456789"}`, `{"sample":1}`, `{"nope":1}`, `[]`, `{"execution":"x"}`,
	} {
		s.do(t, "POST", "/api/functions/f/hook/dry-run", body).problem(t, 400)
	}
	s.do(t, "POST", "/api/functions/f/hook/dry-run", `{"execution":"exec_0123456789"}`).problem(t, 404)
}

// A dry run passes the same text to the function as a delivery: nothing in it is escaped for HTML.
func TestHookDryRunEncodesLikeADelivery(t *testing.T) {
	t.Parallel()
	input := make(chan string, 1)
	s := kept(t, options{invoke: func(
		ctx context.Context, inv execution.Invocation, onLog func(execution.Log),
	) (execution.Reply, error) {
		input <- string(inv.Request.Input)
		return mirror(ctx, inv, onLog)
	}})
	want(t, s.do(t, "PUT", "/api/functions/f",
		`{"code":"1","hook":{"scheme":"slack","secret":"It is a secret of 32 characters."}}`), 201)
	want(t, s.do(t, "POST", "/api/functions/f/hook/dry-run", `{"sample":"slash_command"}`), 200)
	if got := <-input; !strings.Contains(got, "&team_id=") {
		t.Errorf("the event is %s", got)
	}
}

// The current version of the function processes the event of an earlier delivery.
func TestHookRedelivered(t *testing.T) {
	t.Parallel()
	s := kept(t, options{auth: tokens(t)})
	ann, eve := tenantToken(t, "ann", "acme", "functions execute"), tenantToken(t, "eve", "other", "functions execute")
	put := func(code, more string) {
		a := s.do(
			t, "PUT", "/api/functions/f", `{"code":"`+code+`","hook":{"scheme":"github","secret":"`+hookSecret+`"`+more+`}}`,
			ann,
		)
		if a.StatusCode > 201 {
			t.Fatalf("%s", a.body)
		}
	}
	put("1", "")
	signed := "X-Hub-Signature-256: sha256=" + hex.EncodeToString(signature(hookSecret, `{"n":7}`))
	first := want(t, s.do(t, "POST", "/hooks/acme/f", `{"n":7}`, signed), 200)
	id := first.Header.Get("X-Execution-Id")
	if !execution.ValidID(id) {
		t.Fatalf("%v", first.Header)
	}
	put("2", "")
	again := want(
		t, s.do(t, "POST", "/api/functions/f/hook/redeliver", `{"execution":"`+id+`"}`, ann), 200, `"body":{"n":7}`,
		`"rawBody":"{\"n\":7}"`, `"version":2`, `"answer":{"status":200`, `"subject":"hook:f"`, `"via":"hook"`,
	)
	second := again.json(t)["execution"].(map[string]any)["id"].(string)
	if second == id {
		t.Error("the same id twice")
	}
	want(t, s.do(t, "POST", "/api/functions/f/hook/redeliver", `{"execution":"`+second+`"}`, ann), 200, `"body":{"n":7}`)
	s.do(t, "POST", "/api/functions/f/hook/redeliver", `{"execution":"`+id+`"}`).problem(t, 401)
	s.do(t, "POST", "/api/functions/f/hook/redeliver", `{"execution":"`+id+`"}`, eve).problem(t, 404)
	s.do(
		t, "POST", "/api/functions/f/hook/redeliver", `{"execution":"`+id+`"}`, tenantToken(t, "ann", "acme", "execute"),
	).problem(t, 403)
	put("2", `,"async":true`)
	key := "Idempotency-Key: once"
	later := want(t, s.do(t, "POST", "/api/functions/f/hook/redeliver", `{"execution":"`+id+`"}`, ann, key), 202)
	repeated := want(t, s.do(t, "POST", "/api/functions/f/hook/redeliver", `{"execution":"`+id+`"}`, ann, key), 202)
	if location := later.Header.Get("Location"); location == "" || repeated.Header.Get("Location") != location ||
		string(later.body) != string(repeated.body) {
		t.Errorf("%v %v", later.Header, repeated.Header)
	}
}

// If the event has expired in the state, the audit record may have it.
func TestHookRedeliveredFromTheRecord(t *testing.T) {
	t.Parallel()
	records := &ledger{added: make(chan audit.Record, 100)}
	s := kept(t, options{records: records})
	want(t, s.do(t, "PUT", "/api/functions/f", `{"code":"1","hook":{"scheme":"none"}}`), 201)
	record := audit.Record{
		ID: "exec_0123456789", Via: "hook", Caller: audit.Caller{Subject: "hook:f", Tenant: "default"},
		Inputs: audit.Inputs{Request: []byte(`{"code":"1","input":{"method":"POST","body":5}}`)},
	}
	foreign, bare := record, record
	foreign.ID, foreign.Caller.Subject = "exec_1123456789", "hook:g"
	bare.ID, bare.Request = "exec_2123456789", nil
	for _, r := range []audit.Record{record, foreign, bare} {
		if err := records.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	want(t, s.do(t, "POST", "/api/functions/f/hook/redeliver", `{"execution":"exec_0123456789"}`), 200, `"body":5`)
	s.do(t, "POST", "/api/functions/f/hook/redeliver", `{"execution":"exec_1123456789"}`).problem(t, 404)
	if detail, code := s.do(
		t, "POST", "/api/functions/f/hook/redeliver", `{"execution":"exec_2123456789"}`,
	).problem(t, 409); code != "event_gone" || !strings.Contains(detail, "AUDIT_CODE") {
		t.Error(detail, code)
	}
}
