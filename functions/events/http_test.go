package events_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/events"
	"github.com/airlock-run/airlock/functions/execution"
)

// httpAnswer is the response of any HTTP kind.
type httpAnswer struct {
	StatusCode        int                 `json:"statusCode"`
	StatusDescription string              `json:"statusDescription"`
	Headers           map[string]string   `json:"headers"`
	MultiValueHeaders map[string][]string `json:"multiValueHeaders"`
	Body              string              `json:"body"`
	IsBase64Encoded   bool                `json:"isBase64Encoded"`
}

func (a httpAnswer) header(name string) string {
	if v := a.MultiValueHeaders[name]; v != nil {
		return strings.Join(v, ", ")
	}
	return a.Headers[name]
}

func exchange(t *testing.T, a adapted, payload []byte) httpAnswer {
	t.Helper()
	raw, err := answer(t, a, payload)
	if err != nil {
		t.Fatal(err)
	}
	var got httpAnswer
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return got
}

// urlEvent is a Function URL request that IAM has authenticated.
func urlEvent(t *testing.T, change func(map[string]any)) []byte {
	t.Helper()
	var event map[string]any
	if err := json.Unmarshal(read(t, "../../infra/deploy/events/function-url.json"), &event); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(event)
	}
	b, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func anonymous(event map[string]any) {
	delete(event["requestContext"].(map[string]any), "authorizer")
}

func TestHTTPRuns(t *testing.T) {
	tests := map[string]execution.Caller{
		"function-url":  {Subject: "iam:arn:aws:iam::123456789012:user/demo", IP: "192.0.2.7"},
		"http-api":      {Subject: "jwt:https://issuer.example/demo-user", IP: "192.0.2.7"},
		"rest-api":      {Subject: "authorizer:demo-user", IP: "192.0.2.7"},
		"load-balancer": {IP: "192.0.2.7"},
	}
	for name, caller := range tests {
		t.Run(name, func(t *testing.T) {
			rec := &recorder{}
			a := adapter(t, rec, func(c *events.AdapterConfig) { c.OpenHTTP = name == "load-balancer" })
			got := exchange(t, a, read(t, "../../infra/deploy/events/"+name+".json"))
			if got.StatusCode != 200 || got.header("Content-Type") != "application/json" ||
				!strings.Contains(got.Body, `"result":{"ran":true}`) {
				t.Fatalf("got %+v", got)
			}
			if len(rec.seen) != 1 {
				t.Fatalf("ran %+v", rec.seen)
			}
			ran := rec.seen[0]
			if ran.Caller != caller {
				t.Errorf("ran for %+v, want %+v", ran.Caller, caller)
			}
			if ran.Via != execution.ViaHTTP || ran.Request.Code != "6 * 7" {
				t.Errorf("ran %q via %s", ran.Request.Code, ran.Via)
			}
			if name == "load-balancer" && got.StatusDescription != "200 OK" {
				t.Errorf("description %q", got.StatusDescription)
			}
		})
	}
}

func TestHTTPAuthentication(t *testing.T) {
	verify := func(header http.Header, body []byte) error {
		if header.Get("X-Signature") != "good" || !strings.Contains(string(body), "6 * 7") {
			return errors.New("internal reason")
		}
		return nil
	}
	signed := func(signature string) func(map[string]any) {
		return func(event map[string]any) {
			anonymous(event)
			event["headers"].(map[string]any)["x-signature"] = signature
		}
	}
	tests := map[string]struct {
		event  func(map[string]any)
		config func(*events.AdapterConfig)
		want   int
	}{
		"iam":                  {nil, nil, 200},
		"nobody":               {anonymous, nil, 401},
		"nobody, open":         {anonymous, func(c *events.AdapterConfig) { c.OpenHTTP = true }, 200},
		"good signature":       {signed("good"), func(c *events.AdapterConfig) { c.Verify = verify }, 200},
		"bad signature":        {signed("bad"), func(c *events.AdapterConfig) { c.Verify = verify }, 401},
		"no signature":         {anonymous, func(c *events.AdapterConfig) { c.Verify = verify }, 401},
		"signature, no verify": {signed("good"), nil, 401},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			rec := &recorder{}
			got := exchange(t, adapter(t, rec, tc.config), urlEvent(t, tc.event))
			if got.StatusCode != tc.want || (len(rec.seen) == 1) != (tc.want == 200) {
				t.Errorf("status %d, want %d; ran %d", got.StatusCode, tc.want, len(rec.seen))
			}
			if strings.Contains(got.Body, "internal reason") {
				t.Errorf("the reason leaked: %s", got.Body)
			}
		})
	}
}

func TestHTTPRefuses(t *testing.T) {
	set := func(name string, value any) func(map[string]any) {
		return func(event map[string]any) { event[name] = value }
	}
	tests := map[string]struct {
		event  func(map[string]any)
		status int
		detail string
	}{
		"no body":       {set("body", ""), 400, ""},
		"no JSON":       {set("body", "Hello from client!"), 400, ""},
		"unknown field": {set("body", `{"code":"1","cod":1}`), 400, "cod"},
		"bad base64":    {func(e map[string]any) { e["body"], e["isBase64Encoded"] = "%%%", true }, 400, "base64"},
		"not UTF-8": {func(e map[string]any) {
			e["body"], e["isBase64Encoded"] = base64.StdEncoding.EncodeToString([]byte("{\"code\":\"\xff\"}")), true
		}, 400, ""},
		"too large": {set("body", strings.Repeat(" ", events.DefaultMaxBody+1)), 413,
			fmt.Sprint(events.DefaultMaxBody+1, " bytes")},
		"GET": {func(e map[string]any) {
			e["requestContext"].(map[string]any)["http"].(map[string]any)["method"] = "GET"
		}, 405, "POST"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			rec := &recorder{}
			got := exchange(t, adapter(t, rec, nil), urlEvent(t, tc.event))
			var p struct {
				Type, Title, Detail, Error string
				Status                     int
			}
			if err := json.Unmarshal([]byte(got.Body), &p); err != nil {
				t.Fatalf("%v in %q", err, got.Body)
			}
			if got.StatusCode != tc.status || p.Status != tc.status {
				t.Errorf("status %d, and %d in the problem; want %d", got.StatusCode, p.Status, tc.status)
			}
			if !strings.Contains(p.Detail, tc.detail) {
				t.Errorf("detail %q, want %q", p.Detail, tc.detail)
			}
			if p.Error != p.Detail {
				t.Errorf("error %q, want the detail %q", p.Error, p.Detail)
			}
			if got.header("Content-Type") != "application/problem+json" || len(rec.seen) != 0 {
				t.Errorf("type %q, ran %d", got.header("Content-Type"), len(rec.seen))
			}
		})
	}
}

func TestHTTPPlatformFailures(t *testing.T) {
	tests := []struct {
		err        error
		status     int
		retryAfter string
	}{
		{&execution.Error{Code: execution.InvalidRequest, Field: "policy", Message: "no such tier"}, 400, ""},
		{&execution.Error{Code: execution.Throttled, Message: "busy", RetryAfter: 1500 * time.Millisecond}, 429, "2"},
		{&execution.Error{Code: execution.Unavailable, Message: "away"}, 503, "1"},
		{&execution.Error{Code: execution.Unrecorded, Message: "not recorded"}, 503, "1"},
		{&execution.Error{Code: execution.Internal, Message: "ours", Err: errors.New("secret path /var/task")}, 500, ""},
		{errors.New("secret path /var/task"), 500, ""},
	}
	for _, tc := range tests {
		rec := &recorder{answer: func(execution.Invocation) (execution.Result, error) { return execution.Result{}, tc.err }}
		got := exchange(t, adapter(t, rec, nil), urlEvent(t, nil))
		if got.StatusCode != tc.status || got.header("Retry-After") != tc.retryAfter || strings.Contains(got.Body, "secret") {
			t.Errorf("%v: got %d, Retry-After %q, %s", tc.err, got.StatusCode, got.header("Retry-After"), got.Body)
		}
	}
}

func TestHTTPGuestFailureIsAnAnswer(t *testing.T) {
	message := "Error: no"
	rec := &recorder{answer: func(execution.Invocation) (execution.Result, error) {
		r := completed("null")
		r.Status, r.Error = execution.Failed, &message
		return r, nil
	}}
	if got := exchange(t, adapter(t, rec, nil), urlEvent(t, nil)); got.StatusCode != 200 ||
		!strings.Contains(got.Body, `"status":"error"`) {
		t.Errorf("got %+v", got)
	}
}

func TestHTTPResultTooLarge(t *testing.T) {
	huge := completed(`"` + strings.Repeat("x", 1<<20) + `"`)
	rec := &recorder{answer: func(execution.Invocation) (execution.Result, error) { return huge, nil }}
	a := adapter(t, rec, func(c *events.AdapterConfig) { c.OpenHTTP = true })
	if got := exchange(t, a, urlEvent(t, nil)); got.StatusCode != 200 {
		t.Errorf("a Function URL carries 1 MiB: got %d", got.StatusCode)
	}
	got := exchange(t, a, read(t, "../../infra/deploy/events/load-balancer.json"))
	if got.StatusCode != 500 || !strings.Contains(got.Body, huge.ID) {
		t.Errorf("a load balancer does not: got %d %.200s", got.StatusCode, got.Body)
	}
}
