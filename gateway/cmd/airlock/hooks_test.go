package main

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// Webhooks on an address of their own, through real function processes: code sees no credential, and the quota of
// the policy and the limit of the settings hold.
func TestHooksOfTheirOwn(t *testing.T) {
	t.Parallel()
	p := start(t, "HOOKS_HOST=127.0.0.1:0", "HOOKS_PER_MINUTE=3", "HOOKS_ANSWER_HEADERS=X-Own")
	own := regexp.MustCompile(`webhooks +on (127\.0\.0\.1:\d+) alone`).FindStringSubmatch(p.start)
	if own == nil {
		t.Fatalf("it does not say where webhooks are served:\n%s", p.start)
	}
	ask := func(method, url, body string) (int, http.Header, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{
			"Content-Type": {"application/json"}, "Cookie": {"airlock=CANARY"}, "Authorization": {"Bearer CANARY"},
			"Proxy-Authorization": {"Basic CANARY"}, "X-Github-Event": {"push"},
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, res.Header, string(text)
	}
	const function = `{"code":"export default input => ({status: 202, headers: {'X-Own': 'a', ` +
		`'X-Sendfile': '/etc/passwd', Link: '<x>'}, ` +
		`body: JSON.stringify(input)})","hook":{"scheme":"none"}}`
	if status, _, body := ask("PUT", p.url+"/api/functions/f", function); status != 201 {
		t.Fatalf("%d %s", status, body)
	}
	if status, _, _ := ask("POST", p.url+"/hooks/f", "{}"); status != 404 {
		t.Errorf("the API's address serves webhooks: %d", status)
	}
	if status, _, _ := ask("GET", "http://"+own[1]+"/api/functions", ""); status != 404 {
		t.Errorf("the webhooks' address serves the API: %d", status)
	}
	for n := range 5 {
		status, header, body := ask("POST", "http://"+own[1]+"/hooks/f", "{}")
		if n >= 3 {
			if status != 429 || header.Get("Retry-After") == "" {
				t.Errorf("delivery %d: %d %s", n, status, body)
			}
			continue
		}
		if status != 202 || strings.Contains(body, "CANARY") || !strings.Contains(body, `"x-github-event":"push"`) {
			t.Errorf("%d %s", status, body)
		}
		if header.Get("X-Own") != "a" || header.Get("X-Sendfile") != "" || header.Get("Link") != "" {
			t.Errorf("%v", header)
		}
	}
}
