//go:build unix

package localinvoke_test

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/airlock-run/airlock/functions/execution"
)

// request is a bare execution request with code as its command.
func request(code string) string {
	b, _ := json.Marshal(map[string]any{"code": code, "input": 7})
	return string(b)
}

func TestServiceAPI(t *testing.T) {
	server := httptest.NewServer(newPool(t, config(t)).ServiceHandler())
	defer server.Close()
	cfg := config(t)
	cfg.MaxExecution, cfg.Grace = 300*time.Millisecond, 10*time.Millisecond
	hasty := httptest.NewServer(newPool(t, cfg).ServiceHandler())
	defer hasty.Close()
	const buffered, streaming = "/2015-03-31/functions/%s/invocations",
		"/2021-11-15/functions/%s/response-streaming-invocations"
	cases := []struct {
		name, path, function, body string
		header                     map[string]string
		status                     int
		says                       string // in the body
		carries                    map[string]string
	}{
		{name: "by name", body: request("echo"), status: 200, says: `"result":7`,
			carries: map[string]string{"X-Amz-Function-Error": "", "X-Amz-Executed-Version": "$LATEST"}},
		{name: "by ARN", function: "arn:aws:lambda:eu-central-1:123456789012:function:airlock", body: request("echo"),
			status: 200, says: `"result":7`},
		{name: "by ARN with version", function: "arn:aws:lambda:eu-central-1:123456789012:function:airlock:live",
			body: request("echo"), status: 200},
		{name: "by partial ARN", function: "123456789012:function:airlock", body: request("echo"), status: 200},
		{name: "unknown", function: "other", body: request("echo"), status: 404, says: "Function not found",
			carries: map[string]string{"X-Amzn-Errortype": "ResourceNotFoundException"}},
		{name: "not JSON", body: "{", status: 400,
			carries: map[string]string{"X-Amzn-Errortype": "InvalidRequestContentException"}},
		{name: "too large", body: `"` + strings.Repeat("x", 7<<20) + `"`, status: 413,
			carries: map[string]string{"X-Amzn-Errortype": "RequestTooLargeException"}},
		{name: "empty", body: "", status: 200, says: `"errorType":"invalid_request"`,
			carries: map[string]string{"X-Amz-Function-Error": "Unhandled"}},
		{name: "bad request", body: `{"cod":1}`, status: 200, says: `"errorType":"invalid_request"`,
			carries: map[string]string{"X-Amz-Function-Error": "Unhandled"}},
		{name: "failure", body: request("fail unrecorded"), status: 200, says: `"errorType":"unrecorded"`,
			carries: map[string]string{"X-Amz-Function-Error": "Unhandled"}},
		{name: "crash", body: request("exit 3"), status: 200, says: `"Runtime.ExitError"`,
			carries: map[string]string{"X-Amz-Function-Error": "Unhandled"}},
		{name: "timeout", body: request("deaf"), status: 200, says: "Task timed out after 0.30 seconds",
			carries: map[string]string{"X-Amz-Function-Error": "Unhandled"}},
		{name: "large answer", body: request("large 6400000"), status: 200, says: "Function.ResponseSizeTooLarge",
			carries: map[string]string{"X-Amz-Function-Error": "Unhandled"}},
		{name: "dry run", header: map[string]string{"X-Amz-Invocation-Type": "DryRun"}, body: request("echo"), status: 204},
		{name: "later", header: map[string]string{"X-Amz-Invocation-Type": "Event"}, body: request("echo"), status: 202},
		{name: "later, too large", header: map[string]string{"X-Amz-Invocation-Type": "Event"},
			body: `"` + strings.Repeat("x", 2<<20) + `"`, status: 413},
		{name: "some day", header: map[string]string{"X-Amz-Invocation-Type": "Perhaps"}, body: request("echo"), status: 400},
		{name: "streaming unknown", path: streaming, function: "other", body: request("echo"), status: 404},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path, name := c.path, c.function
			if path == "" {
				path = buffered
			}
			if name == "" {
				name = "airlock"
			}
			at := server.URL
			if c.name == "timeout" {
				at = hasty.URL
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
				at+strings.Replace(path, "%s", url.PathEscape(name), 1), strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			for k, v := range c.header {
				req.Header.Set(k, v)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != c.status || !strings.Contains(string(body), c.says) {
				t.Errorf("%s: %.300s", resp.Status, body)
			}
			if resp.Header.Get("X-Amzn-Requestid") == "" {
				t.Error("no request id")
			}
			for k, want := range c.carries {
				if got := resp.Header.Get(k); got != want {
					t.Errorf("%s is %q, want %q", k, got, want)
				}
			}
		})
	}
}

// Beyond the limit of concurrency, callers who wait for an answer are throttled in Lambda's words.
func TestServiceAPIThrottles(t *testing.T) {
	cfg := config(t)
	cfg.Concurrency, cfg.MaxExecution, cfg.Grace = 1, 3*time.Second, 10*time.Millisecond
	server := httptest.NewServer(newPool(t, cfg).ServiceHandler())
	defer server.Close()
	post := func(path, body string) *http.Response {
		t.Helper()
		resp, err := http.Post(server.URL+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp
	}
	const buffered = "/2015-03-31/functions/airlock/invocations"
	const streaming = "/2021-11-15/functions/airlock/response-streaming-invocations"
	inv := invocation("deaf")
	inv.Airlock, inv.Stream = execution.InvocationVersion, true
	payload, err := inv.Encode()
	if err != nil {
		t.Fatal(err)
	}
	running := post(streaming, string(payload)) // returns with its first log
	for _, path := range []string{buffered, streaming} {
		resp := post(path, request("echo"))
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		const want = `{"Reason":"ReservedFunctionConcurrentInvocationLimitExceeded","Type":"User",` +
			`"message":"Rate Exceeded."}`
		if resp.StatusCode != 429 || string(body) != want {
			t.Errorf("%s: %s, want %s", resp.Status, body, want)
		}
		for name, want := range map[string]string{
			"X-Amzn-Errortype": "TooManyRequestsException", "Content-Type": "application/json",
		} {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if resp.Header.Get("Retry-After") == "" {
			t.Error("there is no Retry-After")
		}
	}
	events, err := io.ReadAll(running.Body)
	if err != nil || !strings.Contains(string(events), "Error: Task timed out after 3.00 seconds") ||
		!strings.Contains(string(events), `"ErrorCode":"Sandbox.Timedout"`) {
		t.Errorf("the call that ran: %q, %v", events, err)
	}
	if resp := post(buffered, request("echo")); resp.StatusCode != 200 || resp.Header.Get("X-Amz-Function-Error") != "" {
		t.Errorf("afterwards: %s", resp.Status)
	}
}

func TestServiceAPILogTail(t *testing.T) {
	server := httptest.NewServer(newPool(t, config(t)).ServiceHandler())
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		server.URL+"/2015-03-31/functions/airlock/invocations", strings.NewReader(request("exit 3")))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Amz-Log-Type", "Tail")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	tail, err := base64.StdEncoding.DecodeString(resp.Header.Get("X-Amz-Log-Result"))
	if err != nil || !strings.Contains(string(tail), "exit as asked") {
		t.Errorf("%q, %v", tail, err)
	}
}

// TestServiceAPIStreams reads the event stream by hand.
func TestServiceAPIStreams(t *testing.T) {
	server := httptest.NewServer(newPool(t, config(t)).ServiceHandler())
	defer server.Close()
	stream := func(code string) (chunks string, complete map[string]string) {
		inv := invocation(code)
		inv.Airlock, inv.Stream = 1, true
		body, err := json.Marshal(inv)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.Post(server.URL+"/2021-11-15/functions/airlock/response-streaming-invocations", "application/json",
			strings.NewReader(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "application/vnd.amazon.eventstream" {
			t.Fatalf("%s, %s", resp.Status, resp.Header.Get("Content-Type"))
		}
		for d := eventstream.NewDecoder(); ; {
			m, err := d.Decode(resp.Body, nil)
			if err != nil {
				t.Fatalf("after %q: %v", chunks, err)
			}
			if m.Headers.Get(":event-type").String() == "InvokeComplete" {
				if err := json.Unmarshal(m.Payload, &complete); err != nil {
					t.Fatal(err)
				}
				return chunks, complete
			}
			chunks += string(m.Payload)
		}
	}
	if chunks, complete := stream("logs 2"); strings.Count(chunks, "\n") != 3 || len(complete) != 0 {
		t.Errorf("%q, %q", chunks, complete)
	}
	if _, complete := stream("exit 2"); complete["ErrorCode"] != "Runtime.ExitError" ||
		!strings.Contains(complete["ErrorDetails"], "exit status 2") {
		t.Errorf("%q", complete)
	}
}
