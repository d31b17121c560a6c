package events_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/functions/execution"
)

func hooked(t *testing.T, rec *recorder) adapted {
	t.Helper()
	return adapter(t, rec, func(c *events.AdapterConfig) { c.Bound = boundToAll("export default input => input") })
}

func TestHookInput(t *testing.T) {
	rec := &recorder{}
	exchange(t, hooked(t, rec), urlEvent(t, func(e map[string]any) {
		e["rawPath"], e["body"] = "/hook", `{"a": [1]}`
		e["queryStringParameters"] = map[string]any{"q": "1"}
		e["cookies"] = []string{"a=1", "b=2"}
		e["requestContext"].(map[string]any)["http"].(map[string]any)["method"] = "PUT"
	}))
	if len(rec.seen) != 1 || rec.seen[0].Via != execution.ViaHook {
		t.Fatalf("ran %+v", rec.seen)
	}
	want := `{"method":"PUT","path":"/hook","query":{"q":"1"},"headers":{"content-type":"application/json"},` +
		`"body":{"a":[1]},"rawBody":"{\"a\": [1]}"}`
	if got := string(rec.seen[0].Request.Input); got != want {
		t.Errorf("input\n%s, want\n%s", got, want)
	}
}

// Credentials do not reach the code, whatever kind of event carries them and whoever the caller is.
func TestHookInputHidesCredentials(t *testing.T) {
	names := []string{
		"authorization", "proxy-authorization", "cookie", "Set-Cookie", "X-Api-Key", "x_api_key", "x-auth-token",
		"x-amz-security-token",
		"x-amzn-oidc-data", "x-forwarded-access-token", "x-unknown", "x-forwarded-for", "referer",
	}
	header := func(e map[string]any) {
		for _, name := range names {
			e["headers"].(map[string]any)[name] = "SECRET"
			if many, ok := e["multiValueHeaders"].(map[string]any); ok {
				many[name] = []string{"SECRET"}
			}
		}
		e["headers"].(map[string]any)["X-Wanted"] = "wanted"
	}
	rec := &recorder{}
	a := adapter(t, rec, func(c *events.AdapterConfig) {
		c.OpenHTTP, c.Bound, c.Headers = true, boundToAll("input"), []string{"X-Wanted"}
	})
	for _, file := range []string{"apigw-v2-request-no-authorizer", "lambda-urls-request", "apigw-request",
		"alb-lambda-target-request-headers-only"} {
		var e map[string]any
		if err := json.Unmarshal(read(t, "testdata/provider/"+file+".json"), &e); err != nil {
			t.Fatal(err)
		}
		header(e)
		payload, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := answer(t, a, payload); err != nil {
			t.Fatal(err)
		}
		if last := string(rec.seen[len(rec.seen)-1].Request.Input); !strings.Contains(last, `"x-wanted":"wanted"`) {
			t.Errorf("%s: the header that was asked for is not in %s", file, last)
		}
	}
	exchange(t, a, urlEvent(t, header))
	exchange(t, a, urlEvent(t, func(e map[string]any) {
		header(e)
		anonymous(e)
		e["cookies"] = []string{"SECRET=SECRET"}
	}))
	for _, file := range []string{"sqs", "sns"} {
		payload := strings.ReplaceAll(string(read(t, "../../infra/deploy/events/"+file+".json")),
			`"UnsubscribeUrl": "EXAMPLE"`, `"UnsubscribeUrl": "SECRET"`)
		payload = strings.ReplaceAll(payload, "AQEB", "SECRET")
		payload = strings.NewReplacer(
			`"messageAttributes": {}`, `"messageAttributes": {"Authorization":{"stringValue":"SECRET","dataType":"String"}}`,
			`"MessageAttributes": {}`, `"MessageAttributes": {"X-Api-Key":{"Type":"String","Value":"SECRET"}}`,
		).Replace(payload)
		if _, err := answer(t, a, []byte(payload)); err != nil {
			t.Fatal(err)
		}
	}
	if len(rec.seen) < 8 {
		t.Errorf("only %d ran", len(rec.seen))
	}
	for _, inv := range rec.seen {
		if strings.Contains(string(inv.Request.Input), "SECRET") {
			t.Errorf("%s", inv.Request.Input)
		}
	}
	for _, name := range []string{"authorization", "cookie", "x-api-key", "a b", "*"} {
		if _, err := events.NewAdapter(events.AdapterConfig{Headers: []string{name}}); err == nil {
			t.Errorf("%s may be asked for", name)
		}
	}
}

func TestHookInputThatIsNoJSON(t *testing.T) {
	rec := &recorder{}
	exchange(t, hooked(t, rec), urlEvent(t, func(e map[string]any) { e["body"] = "a=1&b=2" }))
	exchange(t, hooked(t, rec), urlEvent(t, func(e map[string]any) { e["body"], e["isBase64Encoded"] = "/w==", true }))
	exchange(t, hooked(t, rec), urlEvent(t, func(e map[string]any) { delete(e, "body") }))
	for i, want := range []string{`"body":"a=1\u0026b=2"`, `"rawBody":"�"`, `"body":null,"rawBody":""`} {
		if !strings.Contains(string(rec.seen[i].Request.Input), want) {
			t.Errorf("%s is not in %s", want, rec.seen[i].Request.Input)
		}
	}
}

func TestHookAnswers(t *testing.T) {
	tests := map[string]struct {
		value       string
		status      int
		contentType string
		body        string
	}{
		"any value":          {`{"ok":true}`, 200, "application/json", `{"ok":true}`},
		"a string":           {`"hi"`, 200, "application/json", `"hi"`},
		"nothing":            {`null`, 204, "", ""},
		"explicit":           {`{"status":201,"headers":{"Content-Type":"text/html"},"body":"<p>"}`, 201, "text/html", "<p>"},
		"explicit JSON":      {`{"status":202,"body":{"a":1}}`, 202, "application/json", `{"a":1}`},
		"explicit text":      {`{"status":400,"body":"no good"}`, 400, "text/plain; charset=utf-8", "no good"},
		"explicit, no body":  {`{"status":304}`, 304, "", ""},
		"status is a word":   {`{"status":"paid"}`, 200, "application/json", `{"status":"paid"}`},
		"status is not HTTP": {`{"status":42}`, 200, "application/json", `{"status":42}`},
		"more fields":        {`{"status":201,"user":1}`, 200, "application/json", `{"status":201,"user":1}`},
		"split header": {`{"status":200,"headers":{"X-A":"a\r\nX-B: b"}}`, 200, "application/json",
			`{"status":200,"headers":{"X-A":"a\r\nX-B: b"}}`},
		"bad header name": {`{"status":200,"headers":{"X A":"a"}}`, 200, "application/json",
			`{"status":200,"headers":{"X A":"a"}}`},
		"header object": {`{"status":200,"headers":{"X-A":{}}}`, 200, "application/json",
			`{"status":200,"headers":{"X-A":{}}}`},
		"framing header": {`{"status":200,"headers":{"content-length":"0","transfer-encoding":"chunked"},"body":"1"}`,
			200, "application/json", "1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			rec := &recorder{answer: func(execution.Invocation) (execution.Result, error) { return completed(tc.value), nil }}
			got := exchange(t, hooked(t, rec), urlEvent(t, nil))
			if got.StatusCode != tc.status || got.header("Content-Type") != tc.contentType || got.Body != tc.body {
				t.Errorf("got %d %q %q", got.StatusCode, got.header("Content-Type"), got.Body)
			}
			for name := range got.Headers {
				if lower := strings.ToLower(name); lower == "content-length" || lower == "transfer-encoding" || lower == "x-b" {
					t.Errorf("header %s got out", name)
				}
			}
		})
	}
}

func TestHookFailuresSayNothingOfTheCode(t *testing.T) {
	for status, want := range map[execution.Status]int{
		execution.Failed: 500, execution.TimedOut: 504, execution.Blocked: 403, execution.Cancelled: 500,
	} {
		message := "ReferenceError: databasePassword is not defined"
		rec := &recorder{answer: func(execution.Invocation) (execution.Result, error) {
			r := completed(`{"status":200}`)
			r.Status, r.Error = status, &message
			return r, nil
		}}
		got := exchange(t, hooked(t, rec), urlEvent(t, nil))
		if got.StatusCode != want || strings.Contains(got.Body, "databasePassword") || !json.Valid([]byte(got.Body)) {
			t.Errorf("%s: got %d %s", status, got.StatusCode, got.Body)
		}
	}
}
