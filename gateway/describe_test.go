package gateway_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

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

func TestDocs(t *testing.T) {
	t.Parallel()
	s := serve(t, options{auth: authn.Config{APIKey: apiKey}})
	a := s.do(t, "GET", "/docs", "")
	if a.StatusCode != 200 || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") ||
		!strings.HasPrefix(a.Header.Get("Content-Security-Policy"), "default-src 'none'; style-src 'sha256-") {
		t.Fatal(a.Status, a.Header)
	}
	if n := len(a.Header.Values("Content-Security-Policy")); n != 1 {
		t.Errorf("%d policies", n)
	}
	// A caller who has the current version does not get it again.
	for _, path := range []string{"/openapi.json", "/docs"} {
		first := s.do(t, "GET", path, "")
		tag, csp := first.Header.Get("ETag"), first.Header.Get("Content-Security-Policy")
		if again := s.do(t, "GET", path, "", "If-None-Match: "+tag); tag == "" || again.StatusCode != 304 ||
			len(again.body) != 0 || again.Header.Get("ETag") != tag {
			t.Errorf("%s: %q, %s", path, tag, again.Status)
		} else if got := again.Header.Get("Content-Security-Policy"); got != csp { // it replaces that of the kept page
			t.Errorf("%s: the policy of a 304 is %q, that of the page %q", path, got, csp)
		}
		if other := s.do(t, "GET", path, "", `If-None-Match: "x"`); other.StatusCode != 200 {
			t.Errorf("%s: %s", path, other.Status)
		}
	}
}
