package gateway_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
)

// impostors are tokens whose sub is the name of another kind of caller, now or in an older version.
func impostors(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, sub := range []string{"api-key", "key:operator", "local", "operator", "jwt:/ann", "former:api-key", ""} {
		out[sub] = bearer(token(t, sub, "", authn.Execute))
	}
	return out
}

func TestTokenReadsOnlyItsKind(t *testing.T) {
	t.Parallel()
	s := kept(t, options{auth: authn.Config{APIKey: apiKey, Keys: hs256(t)}})
	operator, ann := bearer(apiKey), bearer(token(t, "ann", "", authn.Execute))
	for name, owner := range map[string]string{"the operator": operator, "ann": ann} {
		result := want(
			t, s.do(t, "POST", "/api/execute", code("1"), owner, "Idempotency-Key: one"), 200,
		).json(t)["id"].(string)
		job := want(
			t, s.do(t, "POST", "/api/execute", code("2"), owner, prefer, "Idempotency-Key: two"), 202,
		).json(t)["id"].(string)
		s.ended(t, "/api/result/"+job, owner)
		for sub, impostor := range impostors(t) {
			for _, id := range []string{result, job} {
				s.do(t, "GET", "/api/result/"+id, "", impostor).problem(t, 404)
				if a := s.do(t, "DELETE", "/api/result/"+id, "", impostor); a.StatusCode != 404 && a.StatusCode != 409 {
					t.Errorf("sub %q cancels what %s asked for: %d %s", sub, name, a.StatusCode, a.body)
				}
			}
			if a := want(
				t, s.do(t, "POST", "/api/execute", code("1"), impostor, "Idempotency-Key: one"), 200,
			); a.json(t)["id"] == result {
				t.Errorf("sub %q is given the answer of %s by an Idempotency-Key", sub, name)
			}
		}
	}
}

// formerJob is a job as an older version stored it.
const formerJob = `{"id":"exec_01JD5Z6Q8V0000000000000000","tenant":"default","subject":"api-key","ip":"127.0.0.1",
"via":"http","receivedAt":"2026-01-02T03:04:05Z","status":"queued","request":{"code":"6 * 7"}}`

func TestStateOfOlderVersionsReads(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "edge-state-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	store, err := sqlitestate.Open(dir, sqlitestate.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	keep := func(id, tenant, subject string) {
		var job execution.Job
		if err := json.Unmarshal([]byte(formerJob), &job); err != nil {
			t.Fatal(err)
		}
		job.ID, job.Tenant, job.Subject = id, tenant, subject
		if err := store.Submit(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		body := code("6 * 7")
		sum := sha256.Sum256([]byte(body))
		key := "idempotency\x00" + tenant + "\x00" + subject + "\x00/api/execute\x00former"
		if begun, _, _, err := store.Begin(
			t.Context(), execution.Key{Name: key}, hex.EncodeToString(sum[:])+" "+id, time.Now(), time.Now().Add(time.Hour),
		); err != nil || !begun {
			t.Fatal(begun, err)
		}
		if err := store.Finish(t.Context(), key, []byte(`{"Status":202,"Body":"e30=","Header":{}}`)); err != nil {
			t.Fatal(err)
		}
	}
	const operators, anns = "exec_01JD5Z6Q8V0000000000000001", "exec_01JD5Z6Q8V0000000000000002"
	keep(operators, authn.DefaultTenant, "api-key")
	keep(anns, "acme", "ann")
	s := serve(t, options{state: unworked{store}, auth: authn.Config{APIKey: apiKey, Keys: hs256(t)}})
	operator, ann := bearer(apiKey), bearer(token(t, "ann", "acme", authn.Execute))
	for id, owner := range map[string]string{operators: operator, anns: ann} {
		want(t, s.do(t, "GET", "/api/result/"+id, "", owner), 200, `"status":"queued"`)
		again := s.do(t, "POST", "/api/execute", code("6 * 7"), owner, "Prefer: respond-async", "Idempotency-Key: former")
		if again.StatusCode != 202 || again.Header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%s: an Idempotency-Key of the older version is not recognized: %d %s", id, again.StatusCode, again.body)
		}
		for _, impostor := range impostors(t) {
			s.do(t, "GET", "/api/result/"+id, "", impostor).problem(t, 404)
		}
	}
	a := want(
		t,
		s.do(
			t, "POST", "/api/execute", code("6 * 7"), bearer(token(t, "api-key", "", authn.Execute)), "Prefer: respond-async",
			"Idempotency-Key: former",
		),
		202,
	)
	if a.Header.Get("Idempotency-Replayed") != "" {
		t.Error("a token is answered by the operator's key of an older version")
	}
	want(t, s.do(t, "DELETE", "/api/result/"+anns, "", ann), 200, `"status":"cancelled"`)
}
