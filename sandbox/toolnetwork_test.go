package sandbox_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// TestToolOverTheNetwork checks that a tool with a protocol of its own uses the run's network, under its rules.
func TestToolOverTheNetwork(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("X-Own") != "1" {
			t.Error(err, r.Header)
		}
		_, _ = w.Write(body)
	}))
	defer server.Close()
	tool := sandbox.Tool{Name: "echo:say",
		CallVia: func(network http.RoundTripper) func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return func(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
				r, err := http.NewRequestWithContext(ctx, "POST", server.URL, strings.NewReader(string(params)))
				if err != nil {
					return nil, err
				}
				r.Header.Set("X-Own", "1")
				res, err := network.RoundTrip(r)
				if err != nil {
					return nil, err
				}
				defer res.Body.Close()
				return io.ReadAll(res.Body)
			}
		}}
	for host, want := range map[string]string{"127.0.0.1": `{"n":1}`,
		"": `"tool echo:say: the host ` + strings.TrimPrefix(server.URL, "http://") +
			` is not among the hosts that this execution may reach"`} {
		grants := sandbox.Grants{Tools: []sandbox.Tool{tool}}
		if host != "" {
			grants.Network.OpenedHosts = []string{host}
		}
		out, err := newEngine(t).Run(t.Context(),
			sandbox.Script{Code: "try { return await echo.say({n: 1}) } catch (e) { return e.message }"}, grants)
		if err != nil || string(out.Value) != want || out.Usage.APICalls != 1 {
			t.Errorf("%q: %s %v %+v", host, out.Value, err, out.Usage)
		}
	}
}
