package hooks_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/hooks"
)

func TestNewAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value, body, kind string
		status            int
	}{
		{``, "", "", 204},
		{`null`, "", "", 204},
		{`{"a":1}`, `{"a":1}`, "application/json", 200},
		{`"text"`, `"text"`, "application/json", 200},
		{`{"status":201,"body":"made"}`, "made", "text/plain; charset=utf-8", 201},
		{`{"status":200,"body":{"challenge":"x"}}`, `{"challenge":"x"}`, "application/json", 200},
		{`{"status":302,"headers":{"location":"/x"}}`, "", "", 302},
		{`{"status":200,"headers":{"content-type":"text/html"},"body":"<b>"}`, "<b>", "text/html", 200},
		{`{"status":99,"body":"x"}`, `{"status":99,"body":"x"}`, "application/json", 200},
		{`{"status":"ok"}`, `{"status":"ok"}`, "application/json", 200},
		{`{"status":200,"more":1}`, `{"status":200,"more":1}`, "application/json", 200},
		{`{"status":200,"headers":{"x":"a\r\nb: c"}}`, `{"status":200,"headers":{"x":"a\r\nb: c"}}`, "application/json", 200},
		{`{"status":200,"headers":{"x y":"a"}}`, `{"status":200,"headers":{"x y":"a"}}`, "application/json", 200},
	} {
		a, ok := hooks.NewAnswer(json.RawMessage(c.value))
		if !ok || a.Status != c.status {
			t.Errorf("%s: status %d, want %d (%t)", c.value, a.Status, c.status, ok)
		}
		if kind := a.Headers["Content-Type"]; a.Body != c.body || kind != c.kind {
			t.Errorf("%s: %q as %s, want %q as %s", c.value, a.Body, kind, c.body, c.kind)
		}
	}
	if _, ok := hooks.NewAnswer(json.RawMessage(`"` + strings.Repeat("x", hooks.MaxAnswerBytes) + `"`)); ok {
		t.Error("an answer of more than a mebibyte was taken")
	}
}

// Headers of an answer pass an allowlist. X- headers pass if the deployment allows them, and never if browsers or
// proxies act on them.
func TestAnswerHeaders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		names  string // name: value
		named  []string
		passes bool
	}{
		"type":                       {200, "Content-Type: text/html; charset=utf-8", nil, true},
		"type that is none":          {200, "Content-Type: ;;", nil, false},
		"language":                   {200, "content-language: en", nil, true},
		"disposition":                {200, "Content-Disposition: attachment; filename=a", nil, true},
		"caching":                    {200, "Cache-Control: max-age=60", nil, true},
		"etag":                       {200, "ETag: \"a\"", nil, true},
		"last modified":              {304, "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT", nil, true},
		"vary":                       {200, "Vary: Accept", nil, true},
		"retry after":                {503, "Retry-After: 5", nil, true},
		"location":                   {303, "Location: https://example.com/x?y=1", nil, true},
		"location, path":             {201, "Location: /things/1", nil, true},
		"location of 200":            {200, "Location: https://example.com/", nil, false},
		"location of 304":            {304, "Location: https://example.com/", nil, false},
		"location, script":           {302, "Location: javascript:alert(1)", nil, false},
		"location, data":             {302, "Location: data:text/html,x", nil, false},
		"location, other host":       {302, "Location: //evil.example", nil, false},
		"location, disguised host":   {302, "Location: /\\\\evil.example", nil, false},
		"location, user":             {302, "Location: https://good.example@evil.example/", nil, false},
		"location, relative":         {302, "Location: x", nil, false},
		"named":                      {200, "X-Own: a", []string{"x-own"}, true},
		"not named":                  {200, "X-Other: a", []string{"x-own"}, false},
		"named and acted on":         {200, "X-Accel-Redirect: /x", []string{"x-accel-redirect"}, false},
		"named and the service's":    {200, "X-Request-Id: a", []string{"X-Request-Id"}, false},
		"named and no X- header":     {200, "Link: <x>", []string{"link"}, false},
		"named and a credential":     {200, "X-Auth-Token: a", []string{"x-auth-token"}, false},
		"type of an empty answer":    {204, "Content-Type: text/plain", nil, false},
		"language of a reset answer": {205, "Content-Language: en", nil, false},
	} {
		header, value, _ := strings.Cut(c.names, ": ")
		raw, err := json.Marshal(map[string]any{"status": c.status, "headers": map[string]string{header: value}, "body": "x"})
		if err != nil {
			t.Fatal(err)
		}
		a, ok := hooks.NewAnswer(raw, c.named...)
		got := a.Headers[http.CanonicalHeaderKey(header)]
		if !ok || a.Status != c.status || (got == value) != c.passes {
			t.Errorf("%s: %+v", name, a)
		}
		if none := c.status == 204 || c.status == 205 || c.status == 304; (a.Body == "") != none {
			t.Errorf("%s: the body of a %d is %q", name, c.status, a.Body)
		}
	}
	for _, header := range []string{
		"NEL", "Report-To", "Reporting-Endpoints", "X-Accel-Redirect", "X-Accel-Buffering", "X-Sendfile", "Link",
		"Permissions-Policy",
		"Cross-Origin-Opener-Policy", "Cross-Origin-Embedder-Policy", "Cross-Origin-Resource-Policy", "Via", "Set-Cookie",
		"Set-Cookie2",
		"Set-Login", "Clear-Site-Data", "Content-Security-Policy", "Content-Security-Policy-Report-Only",
		"Strict-Transport-Security",
		"Public-Key-Pins", "Access-Control-Allow-Origin", "Alt-Svc", "Refresh", "Server", "Date", "Age", "Connection",
		"Keep-Alive", "Upgrade",
		"Transfer-Encoding", "Content-Length", "Content-Encoding", "Content-Location", "Content-Range", "Accept-Ranges",
		"Accept-Ch", "Trailer",
		"Www-Authenticate", "Proxy-Authenticate", "Proxy-Authorization", "Authentication-Info", "Service-Worker-Allowed",
		"SourceMap",
		"Speculation-Rules", "Origin-Agent-Cluster", "Timing-Allow-Origin", "Expect-Ct", "X-Frame-Options",
		"X-Content-Type-Options",
		"X-Robots-Tag", "X-Forwarded-For", "X-Http-Method-Override", "X-Execution-Id", "Idempotency-Replayed",
		"RateLimit-Limit", "X-Own",
		"Surrogate-Control", "Cdn-Cache-Control", "No-Vary-Search", "Use-As-Dictionary", "Traceparent", "N",
	} {
		raw, err := json.Marshal(map[string]any{"status": 200, "headers": map[string]string{header: "x"}})
		if err != nil {
			t.Fatal(err)
		}
		if a, _ := hooks.NewAnswer(raw); len(a.Headers) != 0 {
			t.Errorf("%v passes", a.Headers)
		}
	}
}

func TestNewEvent(t *testing.T) {
	t.Parallel()
	h := execution.FunctionHook{Scheme: hooks.SharedHeader, Secret: "s"}
	header := headers("X-Webhook-Secret: s", "X-Event: a", "X-Event: b")
	for _, c := range []struct{ body, want string }{
		{`{"a":[1]}`, `{"a":[1]}`},
		{``, `null`},
		{`a=b`, `"a=b"`},
		{
			strings.Repeat("[", 600) + strings.Repeat("]", 600), `"` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `"`,
		},
	} {
		raw, err := json.Marshal(hooks.NewEvent(h, "POST", "/hooks/x", url.Values{"q": {"1", "2"}}, header, []byte(c.body)))
		if err != nil {
			t.Fatal(err)
		}
		var e struct {
			Method, Path, RawBody string
			Query, Headers        map[string]string
			Body                  json.RawMessage
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		got := []string{e.Method, e.Path, e.Query["q"], e.Headers["x-event"], string(e.Body), e.RawBody}
		if diff := cmp.Diff([]string{"POST", "/hooks/x", "1,2", "a, b", c.want, c.body}, got); diff != "" {
			t.Errorf("the event differs (-want +got):\n%s", diff)
		}
		if strings.Contains(string(raw), "x-webhook-secret") {
			t.Errorf("the secret is in the event: %s", raw)
		}
	}
}

func FuzzNewAnswer(f *testing.F) {
	for _, s := range []string{
		``, `null`, `{"status":201,"headers":{"X-A":"b","Set-Cookie":"c"},"body":"made"}`,
		`{"status":200,"headers":{"a":1},"body":[1]}`, `{"status":99}`, `[1]`, `{"status":1e999}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		a, ok := hooks.NewAnswer(value)
		if !ok {
			return
		}
		if a.Status < 200 || a.Status > 599 || len(a.Body) > hooks.MaxAnswerBytes {
			t.Errorf("%q: %+v", value, a)
		}
		for name, v := range a.Headers {
			if strings.ContainsAny(name+v, "\r\n\x00") || strings.EqualFold(name, "Set-Cookie") ||
				strings.EqualFold(name, "Content-Length") {
				t.Errorf("%q: the header %q: %q", value, name, v)
			}
		}
	})
}

func FuzzNewEvent(f *testing.F) {
	f.Add("POST", "/hooks/f", "a=1", "X-A", "b", []byte(`{"a":1}`))
	f.Add("POST", "/", "", "", "", []byte("\xff"))
	f.Fuzz(func(t *testing.T, method, path, query, name, value string, body []byte) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		h := execution.FunctionHook{Scheme: hooks.SharedHeader, Secret: "s"}
		raw, err := json.Marshal(hooks.NewEvent(h, method, path, values, map[string][]string{name: {value}}, body))
		if err != nil {
			t.Fatalf("%v: %q", err, body)
		}
		if _, err := execution.DecodeRequest([]byte(`{"code":"1","input":` + string(raw) + `}`)); err != nil {
			t.Errorf("no input of an execution: %v: %s", err, raw)
		}
	})
}
