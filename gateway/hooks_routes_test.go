package gateway_test

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway"
)

func signature(secret, text string) []byte {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte(text))
	return m.Sum(nil)
}

// answering returns a function that counts its executions and responds with the result of next.
func answering(
	count *int, next func(inv execution.Invocation) execution.Result,
) func(context.Context, execution.Invocation, func(execution.Log)) (execution.Reply, error) {
	return func(_ context.Context, inv execution.Invocation, _ func(execution.Log)) (execution.Reply, error) {
		*count++
		result := next(inv)
		result.ID = inv.ID
		return execution.Reply{Recorded: true, Result: result}, nil
	}
}

func completed(value string) execution.Result {
	return execution.Result{Status: execution.Completed, Result: json.RawMessage(value)}
}

func TestHookSeesTheEvent(t *testing.T) {
	t.Parallel()
	s := kept(t, options{})
	want(t, s.do(t, "PUT", "/api/functions/f", `{"code":"1","hook":{"scheme":"none"}}`), 201, `"path":"/hooks/f"`)
	a := want(t, s.do(t, "POST", "/hooks/f?a=1&a=2", `{"x":[1]}`, "X-Event: ping", "Content-Type: application/json"), 200,
		`"method":"POST"`, `"path":"/hooks/f"`, `"query":{"a":"1,2"}`, `"x-event":"ping"`, `"body":{"x":[1]}`,
		`"rawBody":"{\"x\":[1]}"`, `"via":"hook"`)
	if a.Header.Get("Content-Type") != "application/json" ||
		!strings.Contains(a.Header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("%v", a.Header)
	}
	want(t, s.do(t, "POST", "/hooks/f", `a=b`, "Content-Type: application/x-www-form-urlencoded"), 200,
		`"body":{"a":"b"}`, `"rawBody":"a=b"`)
	want(t, s.do(t, "POST", "/hooks/f", `a=b`, "Content-Type: text/plain"), 200, `"body":"a=b"`)
	want(t, s.do(t, "POST", "/hooks/f", `{"a":1,"a":2}`), 200, `"body":"{\"a\":1,\"a\":2}"`)
	want(t, s.do(t, "POST", "/hooks/f", ""), 200, `"body":null`)
	s.do(t, "POST", "/hooks/f", "x", "Content-Encoding: gzip").problem(t, 415)
	s.do(t, "POST", "/hooks/g", "{}").problem(t, 404)
	s.do(t, "POST", "/hooks/..%2Ff", "{}").problem(t, 404)
	want(t, s.do(t, "PUT", "/api/functions/f", code("1")), 200)
	s.do(t, "POST", "/hooks/f", "{}").problem(t, 404)
}

func TestHookAnswers(t *testing.T) {
	t.Parallel()
	count, line, limit := 0, "x", "output"
	ends := map[string]execution.Result{
		"made": completed(
			`{"status":201,"headers":{"X-Own":"1","X-Other":"2","Set-Cookie":"a=b","Content-Length":"5000"},"body":"made"}`,
		),
		"nothing": completed(`null`),
		"value":   completed(`[1,2]`),
		"failed":  {Status: execution.Failed, Failure: execution.Failure{Error: &line}},
		"large":   {Status: execution.Failed, Failure: execution.Failure{Error: &line, Limit: &limit}},
		"larger":  completed(`"` + strings.Repeat("x", 1<<20) + `"`),
		"late":    {Status: execution.TimedOut, Failure: execution.Failure{Error: &line}},
	}
	s := kept(t, options{
		config: gateway.Config{Hooks: gateway.HooksConfig{AnswerHeaders: []string{"X-Own"}}},
		invoke: answering(
			&count, func(inv execution.Invocation) execution.Result { return ends[strings.Trim(inv.Request.Code, "'")] },
		),
	})
	put := func(code string) {
		want(t, s.do(t, "PUT", "/api/functions/f", fmt.Sprintf(`{"code":"'%s'","hook":{"scheme":"none"}}`, code)), 201)
	}
	put("made")
	made := want(t, s.do(t, "POST", "/hooks/f", "{}"), 201)
	made.headers(t, "X-Own", "1", "X-Other", "", "Set-Cookie", "")
	if string(made.body) != "made" {
		t.Errorf("%s", made.body)
	}
	put("nothing")
	want(t, s.do(t, "POST", "/hooks/f", "{}"), 204)
	put("value")
	want(t, s.do(t, "POST", "/hooks/f", "{}"), 200, "[1,2]")
	put("failed")
	want(t, s.do(t, "POST", "/hooks/f", "{}"), 500, `"code":"function_failed"`)
	put("large")
	want(t, s.do(t, "POST", "/hooks/f", "{}"), 500, `"code":"function_limit"`, "limit output")
	put("larger")
	want(t, s.do(t, "POST", "/hooks/f", "{}"), 500, `"code":"function_limit"`, "1048576 bytes")
	put("late")
	s.do(t, "POST", "/hooks/f", "{}").problem(t, 504)
	want(t, s.do(t, "PUT", "/api/functions/f", `{"code":"eval('1')","hook":{"scheme":"none"}}`), 201, `"allow":false`)
	s.do(t, "POST", "/hooks/f", "{}").problem(t, 403)
	if count != 7 {
		t.Errorf("%d ran", count)
	}
}

func TestHookVerifiesAndRunsOnce(t *testing.T) {
	t.Parallel()
	const secret = "It's a Secret to Everybody"
	stamp := func(off time.Duration) string { return fmt.Sprint(time.Now().Add(off).Unix()) }
	standard := func(id, at, body string) []string {
		return []string{
			"webhook-id: " + id, "webhook-timestamp: " + at,
			"webhook-signature: v1," + base64.StdEncoding.EncodeToString(signature(secret, id+"."+at+"."+body)),
		}
	}
	schemes := map[string]func(at, body string) []string{
		"github": func(_, body string) []string {
			return []string{"X-Hub-Signature-256: sha256=" + hex.EncodeToString(signature(secret, body))}
		},
		"shopify": func(_, body string) []string {
			return []string{"X-Shopify-Hmac-Sha256: " + base64.StdEncoding.EncodeToString(signature(secret, body))}
		},
		"hmac-sha256": func(_, body string) []string {
			return []string{"X-Signature: " + hex.EncodeToString(signature(secret, body))}
		},
		"stripe": func(at, body string) []string {
			return []string{"Stripe-Signature: t=" + at + ",v1=" + hex.EncodeToString(signature(secret, at+"."+body))}
		},
		"slack": func(at, body string) []string {
			return []string{
				"X-Slack-Request-Timestamp: " + at,
				"X-Slack-Signature: v0=" + hex.EncodeToString(signature(secret, "v0:"+at+":"+body)),
			}
		},
		"standard": func(at, body string) []string { return standard("msg_1", at, body) },
	}
	bodies := map[string]string{
		"stripe":       `{"id":"evt_1NG8Du2eZvKYlo2CUI79vXWy","object":"event"}`,
		"stripe other": `{"id":"evt_2","object":"event"}`,
		"slack":        `{"type":"event_callback","event_id":"Ev08MFMKH6"}`,
		"slack other":  `{"type":"event_callback","event_id":"Ev2"}`,
	}
	for scheme, sign := range schemes {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			count := 0
			s := kept(
				t, options{invoke: answering(&count, func(execution.Invocation) execution.Result { return completed(`"ok"`) })},
			)
			want(
				t, s.do(t, "PUT", "/api/functions/f", fmt.Sprintf(`{"code":"1","hook":{"scheme":%q,"secret":%q}}`, scheme, secret)),
				201,
			)
			at := stamp(0)
			for name, headers := range map[string][]string{
				"none": nil, "other body": sign(at, "{ }"),
				"other secret": append([]string{strings.Replace(sign(at, "{}")[0], ": ", ": 0", 1)}, sign(at, "{}")[1:]...),
			} {
				if _, code := s.do(t, "POST", "/hooks/f", "{}", headers...).problem(t, 401); code != "invalid_signature" ||
					count != 0 {
					t.Errorf("%s: %s, %d ran", name, code, count)
				}
			}
			if scheme == "stripe" || scheme == "slack" || scheme == "standard" {
				s.do(t, "POST", "/hooks/f", "{}", sign(stamp(-time.Hour), "{}")...).problem(t, 401)
				s.do(t, "POST", "/hooks/f", "{}", sign(stamp(time.Hour), "{}")...).problem(t, 401)
			}
			body := cmp.Or(bodies[scheme], "{}")
			want(t, s.do(t, "POST", "/hooks/f", body, sign(at, body)...), 200, `"ok"`)
			again := s.do(t, "POST", "/hooks/f", body, sign(at, body)...)
			switch scheme {
			case "stripe", "slack", "standard":
				if _, code := again.problem(t, 409); code != "replayed" {
					t.Error(code)
				}
				again = s.do(t, "POST", "/hooks/f", body, sign(stamp(-time.Minute), body)...)
			}
			if want(t, again, 200, `"ok"`).Header.Get("Idempotency-Replayed") != "true" {
				t.Errorf("the message that is sent again: %v", again.Header)
			}
			if count != 1 {
				t.Errorf("%d ran", count)
			}
			if other := bodies[scheme+" other"]; other != "" {
				want(t, s.do(t, "POST", "/hooks/f", other, sign(at, other)...), 200, `"ok"`)
				if count != 2 {
					t.Errorf("another event: %d ran", count)
				}
			}
		})
	}
}

// A delivery whose run failed may be repeated.
func TestFailedDeliveryMayBeRepeated(t *testing.T) {
	t.Parallel()
	count := 0
	line := "no"
	s := kept(t, options{invoke: answering(&count, func(execution.Invocation) execution.Result {
		if count == 1 {
			return execution.Result{Status: execution.Failed, Failure: execution.Failure{Error: &line}}
		}
		return completed("1")
	})})
	want(t, s.do(t, "PUT", "/api/functions/f", `{"code":"1","hook":{"scheme":"github","secret":"`+hookSecret+`"}}`), 201)
	signed := "X-Hub-Signature-256: sha256=" + hex.EncodeToString(signature(hookSecret, "{}"))
	s.do(t, "POST", "/hooks/f", "{}", signed).problem(t, 500)
	want(t, s.do(t, "POST", "/hooks/f", "{}", signed), 200, "1")
	want(t, s.do(t, "POST", "/hooks/f", "{}", signed), 200, "1")
	if count != 2 {
		t.Errorf("%d ran", count)
	}
}

func TestAsyncHook(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	s := kept(t, options{invoke: func(
		ctx context.Context, inv execution.Invocation, onLog func(execution.Log),
	) (execution.Reply, error) {
		<-release
		return mirror(ctx, inv, onLog)
	}})
	want(t, s.do(t, "PUT", "/api/functions/f", `{"code":"1","hook":{"scheme":"none","async":true}}`), 201, `"async":true`)
	a := want(t, s.do(t, "POST", "/hooks/f", `{"n":1}`), 202, `"status":"queued"`)
	close(release)
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		job, err := s.state.Job(t.Context(), a.json(t)["id"].(string))
		if err != nil {
			t.Fatal(err)
		}
		if job.Ended() {
			if !strings.Contains(string(job.Result), `"body":{"n":1}`) || job.Via != "hook" {
				t.Errorf("%s", job.Result)
			}
			return
		}
		<-look.C
	}
}

// Guessed signatures are limited by address, valid deliveries are not.
func TestHookSecretGuessesAreLimited(t *testing.T) {
	t.Parallel()
	s := kept(t, options{max: 5})
	want(
		t, s.do(t, "PUT", "/api/functions/f", `{"code":"1","hook":{"scheme":"shared-header","secret":"`+hookSecret+`"}}`),
		201,
	)
	for range 10 {
		want(t, s.do(t, "POST", "/hooks/f", "{}", "X-Webhook-Secret: "+hookSecret), 200)
	}
	for n := range 6 {
		a := s.do(t, "POST", "/hooks/f", "{}", "X-Webhook-Secret: guess")
		if a.StatusCode == 429 {
			if a.Header.Get("Retry-After") == "" || n < 3 {
				t.Errorf("%d: %v", n, a.Header)
			}
			return
		}
		a.problem(t, 401)
	}
	t.Error(errors.New("guessing is not stopped"))
}
