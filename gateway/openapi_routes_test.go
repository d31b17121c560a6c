package gateway_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/gateway/authn"
)

// The document has exactly the routes that are served.
func TestOpenAPIHasTheRoutes(t *testing.T) {
	t.Parallel()
	s := serve(t, options{auth: authn.Config{APIKey: apiKey}})
	a := s.do(t, "GET", "/openapi.json", "")
	if a.StatusCode != 200 || a.Header.Get("Content-Type") != "application/json" {
		t.Fatal(a.Status, a.Header)
	}
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(a.body, &doc); err != nil {
		t.Fatal(err)
	}
	var described []string
	for path, item := range doc.Paths {
		for method := range item {
			described = append(described, strings.ToUpper(method)+" "+path)
		}
	}
	routes := s.Routes()
	for _, r := range routes {
		if !slices.Contains(described, r) {
			t.Errorf("%s is served, and not in gateway/openapi/document/paths", r)
		}
	}
	for _, d := range described {
		if !slices.Contains(routes, d) {
			t.Errorf("%s is described, and not served", d)
		}
	}
}

func TestDescriptionIsKept(t *testing.T) {
	t.Parallel()
	s := serve(t, options{auth: authn.Config{APIKey: apiKey}})
	tag := s.do(t, "GET", "/openapi.json", "").Header.Get("ETag")
	again := s.do(t, "GET", "/openapi.json", "", "If-None-Match: "+tag)
	again.headers(t, "ETag", tag)
	if tag == "" || again.StatusCode != 304 || len(again.body) != 0 {
		t.Errorf("%q, %s", tag, again.Status)
	}
	if other := s.do(t, "GET", "/openapi.json", "", `If-None-Match: "x"`); other.StatusCode != 200 {
		t.Errorf("another version: %s", other.Status)
	}
}

// Everybody may read the description, under a policy that lets only our own scripts run.
func TestDocs(t *testing.T) {
	t.Parallel()
	s := serve(t, options{auth: authn.Config{APIKey: apiKey}})
	for name, headers := range map[string][]string{
		"nobody": nil, "a key": {"X-API-Key: " + apiKey}, "a wrong key": {"X-API-Key: wrong"},
		"a session that is over": {"Cookie: airlock=AAAA"},
	} {
		a := s.do(t, "GET", "/docs", "", headers...)
		if a.StatusCode != 200 || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %s", name, a.Status)
		}
		csp := a.Header.Values("Content-Security-Policy")
		if len(csp) != 1 || !strings.Contains(csp[0], "script-src 'self';") || strings.Contains(csp[0], "unsafe") {
			t.Errorf("%s: the policies are %q", name, csp)
		}
		if !strings.Contains(string(a.body), `href="/login?next=%2Fdocs"`) {
			t.Errorf("%s: the page does not lead to the login", name)
		}
	}
}

// A browser that asks whether the page of the description has changed gets the whole page again, with its policy: a 304
// would have none. What the page loads may be a 304, to which no policy applies.
func TestDocsAgain(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	first := s.do(t, "GET", "/docs", "")
	if tag := first.Header.Get("ETag"); tag != "" || first.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("the page may be kept: ETag %q, %q", tag, first.Header.Get("Cache-Control"))
	}
	again := s.do(t, "GET", "/docs", "", "If-None-Match: *", "If-Modified-Since: Thu, 01 Jan 2099 00:00:00 GMT")
	if again.StatusCode != 200 {
		t.Errorf("asked again: %s", again.Status)
	}
	if diff := cmp.Diff(first.Header["Content-Security-Policy"], again.Header["Content-Security-Policy"]); diff != "" {
		t.Errorf("the policy differs (-first +again):\n%s", diff)
	}
	sheet := s.do(t, "GET", "/assets/docs/docs.css", "")
	known := s.do(t, "GET", "/assets/docs/docs.css", "", "If-None-Match: "+sheet.Header.Get("ETag"))
	if sheet.StatusCode != 200 || known.StatusCode != 304 {
		t.Errorf("the sheet is %s, and then %s", sheet.Status, known.Status)
	}
}
