package callbacks_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/callbacks"
)

const traceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestSend(t *testing.T) {
	t.Parallel()
	secret := callbacks.NewSecret()
	signer, err := standardwebhooks.NewWebhook(secret)
	if err != nil || secret == callbacks.NewSecret() {
		t.Fatal(err)
	}
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = signer.Verify(body, r.Header)
		}
		if err != nil || r.Method != http.MethodPost {
			t.Errorf("%s: %v", r.Method, err)
		}
		for name, want := range map[string]string{
			"webhook-id": "msg_0123456789", "Content-Type": "application/json", "Traceparent": traceParent,
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		var got struct {
			Type, ID, Status string
			Timestamp        time.Time
			Data             execution.Result
		}
		if err := json.Unmarshal(body, &got); err != nil || got.Type != "execution.timeout" {
			t.Errorf("%s is not of the type: %v", body, err)
		}
		if got.ID != "exec_0123456789" || got.Data.ID != got.ID {
			t.Errorf("the IDs are %q and %q", got.ID, got.Data.ID)
		}
		if got.Timestamp.IsZero() {
			t.Errorf("%s has no time", body)
		}
		switch r.URL.Path {
		case "/gone":
			w.WriteHeader(http.StatusGone)
		case "/later":
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(http.StatusTooManyRequests)
		case "/away":
			http.Redirect(w, r, "/ok", http.StatusTemporaryRedirect)
		case "/broken":
			w.Header().Set("Content-Length", "100")
		}
	}))
	t.Cleanup(receiver.Close)
	s := callbacks.NewSender([]string{"127.0.0.1"}, time.Now)
	t.Cleanup(s.Close)
	job := execution.Job{
		ID: "exec_0123456789", TraceParent: traceParent, Status: execution.TimedOut,
		Times:  execution.Times{EndedAt: time.Now()},
		Result: json.RawMessage(`{"id":"exec_0123456789"}`),
	}
	for path, is := range map[string]func(delivered, gone bool, after time.Duration) bool{
		"/ok":   func(delivered, _ bool, _ time.Duration) bool { return delivered },
		"/gone": func(delivered, gone bool, _ time.Duration) bool { return gone && !delivered },
		"/later": func(delivered, gone bool, after time.Duration) bool {
			return !delivered && !gone && after == 2*time.Minute
		},
		"/away":   func(delivered, gone bool, _ time.Duration) bool { return !delivered && !gone },
		"/broken": func(delivered, gone bool, _ time.Duration) bool { return !delivered && !gone },
	} {
		job.Callback = &execution.Callback{URL: receiver.URL + path, Secret: secret}
		if r := s.Send(t.Context(), job); !is(r.Delivered, r.Gone, r.After) || r.Delivered != (r.Problem == "") {
			t.Errorf("%s: %+v", path, r)
		}
	}
	closed := callbacks.NewSender(nil, time.Now)
	t.Cleanup(closed.Close)
	for _, url := range []string{receiver.URL, "http://169.254.169.254/latest/meta-data", "http://[::1]:1/"} {
		job.Callback = &execution.Callback{URL: url, Secret: secret}
		if r := closed.Send(t.Context(), job); r.Delivered || r.Gone || !strings.Contains(r.Problem, "not public") {
			t.Errorf("%s: %+v", url, r)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`"https://example.com/x"`, `{"url":"http://a.example","secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}`,
		`"file:///etc/passwd"`, `1`, `{"url":"//x"}`, `"http://u:p@x"`, ``,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := callbacks.Decode(raw)
		var e *execution.Error
		switch {
		case err != nil && !errors.As(err, &e):
			t.Errorf("%q: %v", raw, err)
		case err == nil && !strings.HasPrefix(strings.ToLower(c.URL), "http"):
			t.Errorf("%q: %s", raw, c.URL)
		}
	})
}
