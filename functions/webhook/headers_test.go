package webhook_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/webhook"
)

func TestCredential(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"authorization", "Proxy-Authorization", "AUTHORIZATION", "Authentication-Info", "cookie", "Cookie2", "Set-Cookie",
		"x-api-key", "X_API_KEY", "x.api.key",
		"apikey", "X-Auth-Token", "x-accesstoken", "private-token", "x-csrf-token", "x-xsrf", "x-session", "x-sess-id",
		"phpsessid", "x-jwt", "x-oidc-claims",
		"x-amz-security-token", "x-vault-token", "x-functions-key", "x-parse-master-key", "x-forwarded-user",
		"x-forwarded-client-cert", "ssl-client-cert",
		"remote-user", "x-remote-user", "x-secret", "x-password", "x-passwd", "dpop", "x-auth-request-email",
		"x-goog-iap-jwt-assertion", "key", "Sec-WebSocket-Protocol", "Tailscale-User-Login", "Remote-Email",
		"x-remote-groups", "X-WebAuth-User", "X-Pomerium-Claim-Email", "X-Vouch-User",
	} {
		if !webhook.Credential(name) {
			t.Errorf("%s is taken for harmless", name)
		}
	}
	for _, name := range []string{
		"content-type", "user-agent", "x-event-key", "x-author", "x-github-event", "x-hub-signature-256", "stripe-signature",
		"webhook-id", "webhook-signature",
		"x-slack-request-timestamp", "x-shopify-topic", "x-shopify-hmac-sha256", "x-monkey", "x-keyboard", "idempotency-key",
		"ce-id",
	} {
		if webhook.Credential(name) {
			t.Errorf("%s is taken for a credential", name)
		}
	}
}

// No list of a provider's headers lets a credential through, by mistake or by a pattern.
func TestProvidersNameNoCredentials(t *testing.T) {
	t.Parallel()
	for _, pattern := range webhook.AnyHeaders() {
		if webhook.Credential(strings.TrimSuffix(pattern, "*")) || pattern != strings.ToLower(pattern) {
			t.Errorf("%s", pattern)
		}
	}
	got := webhook.Visible(http.Header{
		"X-Github-Event": {"push", "pull"}, "X-Github-Token": {"t"}, "X-Githubb": {"x"}, "x-github-event": {"again"},
		"Content-Type": {"a/b"}, "X": {"y"},
	}, webhook.Sees(webhook.GitHubHeaders(), []string{"Authorization", "X-Github-Token"}))
	if len(got) != 2 || got["content-type"] != "a/b" {
		t.Errorf("%v", got)
	}
	for _, value := range []string{"push, pull", "again"} {
		if !strings.Contains(got["x-github-event"], value) {
			t.Errorf("the event is %q, without %q", got["x-github-event"], value)
		}
	}
}

func TestWithout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ event, want string }{
		"nothing to take": {`{"headers": {"x-event":"a"},"body":1}`, `{"headers": {"x-event":"a"},"body":1}`},
		"a cookie": {`{"headers":{"Cookie":"a","x-event":"b"},"body":1}`,
			`{"body":1,"headers":{"x-event":"b"}}`},
		"no headers":              {`{"body":1}`, `{"body":1}`},
		"headers of another form": {`{"headers":{"cookie":["a"]}}`, `{"headers":{}}`},
		"headers that are a list": {`{"headers":["cookie"]}`, `{"headers":{}}`},
		"headers that are null":   {`{"headers":null}`, `{"headers":null}`},
		"no object":               {`[1]`, `[1]`},
		"no JSON":                 {`{`, `null`},
		"two values":              {`{},"via":"cli"`, `null`},
		"nothing":                 {``, ``},
	} {
		if got := string(webhook.WithoutCredentials([]byte(c.event))); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	request := []byte(`{"code":"1","input":{"headers":{"cookie":"a"}}}`)
	if got := string(webhook.RequestWithoutCredentials(request)); got != `{"code":"1","input":{"headers":{}}}` {
		t.Error(got)
	}
}

func FuzzVisible(f *testing.F) {
	for _, name := range []string{"Authorization", "x_api_key", "X-GitHub-Event", "X-Github-Token", "ſession",
		"coo\u212aie", "", "*"} {
		f.Add(name, "value", name)
	}
	f.Fuzz(func(t *testing.T, name, value, asked string) {
		sees := webhook.Sees(webhook.AnyHeaders(), []string{asked})
		for seen, v := range webhook.Visible(http.Header{name: {value}}, sees) {
			if webhook.Credential(seen) || webhook.Credential(name) {
				t.Errorf("%q passes as %q", name, seen)
			}
			if !slices.Contains(sees, seen) && !slices.ContainsFunc(sees,
				func(p string) bool { return strings.HasSuffix(p, "*") }) {
				t.Errorf("%q passes and nothing lets it through", seen)
			}
			if _, err := json.Marshal(v); err != nil {
				t.Error(err)
			}
		}
	})
}

func FuzzWithout(f *testing.F) {
	f.Add([]byte(`{"headers":{"cookie":"a"},"body":1}`))
	f.Add([]byte(`{"headers":[]}`))
	f.Fuzz(func(t *testing.T, event []byte) {
		out := webhook.WithoutCredentials(event)
		if !json.Valid(event) {
			return
		}
		if !json.Valid(out) {
			t.Fatalf("%q became %q", event, out)
		}
		var members map[string]json.RawMessage
		var headers map[string]string
		if json.Unmarshal(out, &members) == nil && json.Unmarshal(members["headers"], &headers) == nil {
			for name := range headers {
				if webhook.Credential(name) {
					t.Errorf("%q stays in %q", name, out)
				}
			}
		}
	})
}
