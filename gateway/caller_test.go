package gateway_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/ratelimit"
)

func hs256(t testing.TB) []authn.Key {
	t.Helper()
	key, err := authn.SecretKey([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	return []authn.Key{key}
}

func token(t testing.TB, subject, tenant, scope string) string {
	t.Helper()
	claims := jwt.MapClaims{"sub": subject, "scope": scope, "exp": time.Now().Add(time.Hour).Unix()}
	if tenant != "" {
		claims["tenant"] = tenant
	}
	signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// endpoints are all routes with the scope that each needs; "" is any caller, "-" nobody.
func endpoints() []struct{ method, path, body, scope string } {
	return []struct{ method, path, body, scope string }{
		{"GET", "/healthz", "", "-"},
		{"GET", "/readyz", "", "-"},
		{"POST", "/api/execute", `{"code":"1"}`, authn.Execute},
		{"POST", "/api/analyze", `{"code":"1"}`, authn.Execute},
		{"GET", "/api/engines", "", ""},
		{"GET", "/api/policies", "", ""},
		{"GET", "/api/stats", "", ""},
		{"GET", "/api/metrics/executions", "", ""},
		{"GET", "/api/metrics/series", "", authn.AuditRead},
		{"GET", "/metrics", "", ""},
		{"GET", "/api/audit/executions", "", authn.AuditRead},
		{"GET", "/api/audit/security-summary", "", authn.AuditRead},
		{"GET", "/api/audit/stats", "", authn.AuditRead},
		{"POST", "/api/execute/stream", `{"code":"1"}`, authn.Execute},
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()
	s := serve(t, options{auth: authn.Config{APIKey: apiKey, Keys: hs256(t)}})
	for _, e := range endpoints() {
		t.Run(e.path, func(t *testing.T) {
			t.Parallel()
			if e.scope == "-" {
				if a := s.do(t, e.method, e.path, e.body); a.StatusCode != 200 {
					t.Errorf("without credentials: %d", a.StatusCode)
				}
				return
			}
			a := s.do(t, e.method, e.path, e.body)
			a.problem(t, 401)
			if got := a.Header.Get("WWW-Authenticate"); got != `Bearer realm="airlock"` {
				t.Errorf("WWW-Authenticate %q", got)
			}
			a = s.do(t, e.method, e.path, e.body, bearer("x.y.z"))
			a.problem(t, 401)
			if got := a.Header.Get("WWW-Authenticate"); !strings.Contains(got, `error="invalid_token"`) {
				t.Errorf("WWW-Authenticate %q", got)
			}
			s.do(t, e.method, e.path, e.body, bearer(apiKey), bearer(apiKey)).problem(t, 401)
			s.do(t, e.method, e.path, e.body, "Authorization: Basic Zm9vOmJhcg==").problem(t, 401)
			for _, h := range []string{bearer(apiKey), "X-API-Key: " + apiKey, bearer(token(t, "a", "", e.scope))} {
				if a := s.do(t, e.method, e.path, e.body, h); a.StatusCode != 200 {
					t.Errorf("%s: %d %s", h, a.StatusCode, a.body)
				}
			}
			if e.scope == "" {
				return
			}
			for _, scope := range []string{"", "other", e.scope + "x", strings.ToUpper(e.scope), "priority"} {
				a := s.do(t, e.method, e.path, e.body, bearer(token(t, "a", "", scope)))
				if _, kind := a.problem(t, 403); kind != "insufficient_scope" ||
					!strings.Contains(a.Header.Get("WWW-Authenticate"), `scope="`+e.scope+`"`) {
					t.Errorf("%s %v", kind, a.Header)
				}
			}
		})
	}
	for _, path := range []string{"/api/nothing", "/api/execute"} {
		s.do(t, "GET", path, "").problem(t, 401)
	}
}

func TestPriorityNeedsItsScope(t *testing.T) {
	t.Parallel()
	s := serve(t, options{auth: authn.Config{Keys: hs256(t)}})
	body := `{"code":"1","priority":"high"}`
	s.do(t, "POST", "/api/execute", body, bearer(token(t, "a", "", "execute"))).problem(t, 403)
	if a := s.do(t, "POST", "/api/execute", body, bearer(token(t, "a", "", "execute priority"))); a.StatusCode != 200 {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
}

func TestTenantsAreSeparate(t *testing.T) {
	t.Parallel()
	s := serve(t, options{auth: authn.Config{Keys: hs256(t)}})
	scope := "execute audit:read"
	alice, bob := bearer(token(t, "alice", "acme", scope)), bearer(token(t, "bob", "globex", scope))
	colleague := bearer(token(t, "carol", "acme", scope))
	auditor := bearer(token(t, "eve", "", "execute audit:read:all"))
	id := s.do(t, "POST", "/api/execute", code("eval('1')"), alice).json(t)["id"].(string)

	for who, want := range map[string]int{alice: 200, bob: 404, colleague: 404, auditor: 200} {
		if a := s.do(t, "GET", "/api/result/"+id, "", who); a.StatusCode != want {
			t.Errorf("result: %d, want %d", a.StatusCode, want)
		}
	}
	for who, want := range map[string]int{alice: 200, bob: 404, colleague: 200, auditor: 200} {
		if a := s.do(t, "GET", "/api/audit/execution/"+id, "", who); a.StatusCode != want {
			t.Errorf("record: %d, want %d", a.StatusCode, want)
		}
		items := s.do(t, "GET", "/api/audit/executions", "", who).json(t)["items"].([]any)
		if (len(items) == 1) != (want == 200) {
			t.Errorf("list: %d records", len(items))
		}
	}
	if r := s.records.records[0]; r.Caller.Subject != "jwt:/alice" || r.Caller.Tenant != "acme" ||
		r.Caller.IP != "127.0.0.1" {
		t.Errorf("%+v", r.Caller)
	}
	// A chain has the records of all tenants, and a caller must not learn whose record precedes their own.
	own := s.do(t, "POST", "/api/execute", code("eval('2')"), bob).json(t)["id"].(string)
	for _, path := range []string{
		"/api/audit/executions", "/api/audit/execution/" + own, "/api/reports/execution/" + own,
		"/api/reports/execution/" + own + "?format=csv",
	} {
		if a := s.do(t, "GET", path, "", bob); a.StatusCode != 200 || strings.Contains(string(a.body), id) {
			t.Errorf("%s: %d %s", path, a.StatusCode, a.body)
		}
		if a := s.do(t, "GET", path, "", auditor); a.StatusCode != 200 || !strings.Contains(string(a.body), id) {
			t.Errorf("%s, with the right to read all: %d %s", path, a.StatusCode, a.body)
		}
	}
	if got, failed := use(t, s.agent(t, "", token(t, "bob", "globex", scope), nil), "get_execution",
		map[string]any{"id": own}); failed || got["record"] == nil ||
		got["record"].(map[string]any)["chain"].(map[string]any)["prevId"] != nil {
		t.Errorf("over MCP: %v", got)
	}
}

// Editors analyze while people type, so analysis has a limit of its own.
func TestAnalysisLimit(t *testing.T) {
	t.Parallel()
	analyses, err := ratelimit.New(ratelimit.Config{Window: time.Minute, Max: 3, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, options{max: 1, analyses: analyses})
	for range 3 {
		want(t, s.do(t, "POST", "/api/analyze", `{"code":"1"}`), 200)
	}
	s.do(t, "POST", "/api/analyze", `{"code":"1"}`).problem(t, 429)
	want(t, s.do(t, "POST", "/api/execute", `{"code":"1"}`), 200)
	s.do(t, "POST", "/api/execute", `{"code":"1"}`).problem(t, 429)
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	s := serve(t, options{max: 3, auth: authn.Config{Keys: hs256(t)}})
	alice, bob := bearer(token(t, "alice", "", "execute")), bearer(token(t, "bob", "", "execute"))
	for i := range 3 {
		a := s.do(t, "GET", "/api/engines", "", alice)
		a.headers(t, "RateLimit-Limit", "3", "RateLimit-Remaining", strconv.Itoa(2-i), "RateLimit-Policy", "3;w=60")
		if a.StatusCode != 200 {
			t.Errorf("%d %v", a.StatusCode, a.Header)
		}
	}
	a := s.do(t, "GET", "/api/engines", "", alice)
	a.problem(t, 429)
	after, err := strconv.Atoi(a.Header.Get("Retry-After"))
	a.headers(t, "RateLimit-Remaining", "0", "RateLimit-Reset", a.Header.Get("Retry-After"))
	if err != nil || after < 1 || after > 61 {
		t.Errorf("%v", a.Header)
	}
	if a := s.do(t, "GET", "/api/engines", "", bob); a.StatusCode != 200 {
		t.Errorf("another caller: %d", a.StatusCode)
	}
	for range 3 {
		s.do(t, "GET", "/api/engines", "", bearer("guess")).problem(t, 401)
	}
	s.do(t, "GET", "/api/engines", "", bearer("guess")).problem(t, 429)
	s.do(t, "GET", "/api/engines", "", bob).problem(t, 429) // whatever the credential, because it is not checked
	if a := s.do(t, "GET", "/healthz", ""); a.StatusCode != 200 {
		t.Errorf("health checks are limited: %d", a.StatusCode)
	}
}

func TestWithoutCredentials(t *testing.T) {
	t.Parallel()
	s := serve(t, options{config: gateway.Config{CORSOrigins: []string{"https://app.example.com"}}})
	port := s.addr[strings.LastIndex(s.addr, ":"):]
	cases := map[string]struct {
		headers []string
		status  int
	}{
		"curl":                {nil, 200},
		"localhost":           {[]string{"Host: localhost" + port}, 200},
		"subdomain":           {[]string{"Host: app.localhost:1"}, 200},
		"IPv6":                {[]string{"Host: [::1]" + port}, 200},
		"rebound":             {[]string{"Host: evil.example" + port}, 403},
		"rebound, look-alike": {[]string{"Host: localhost.evil.example"}, 403},
		"a public address":    {[]string{"Host: 93.184.216.34"}, 403},
		"same origin":         {[]string{"Origin: " + s.url, "Sec-Fetch-Site: same-origin"}, 200},
		"listed origin":       {[]string{"Origin: https://app.example.com", "Sec-Fetch-Site: cross-site"}, 200},
		"foreign origin":      {[]string{"Origin: https://evil.example"}, 403},
		"other port":          {[]string{"Origin: http://127.0.0.1:1"}, 403},
		"null origin":         {[]string{"Origin: null"}, 403},
		"https of the same":   {[]string{"Origin: https://" + s.addr}, 403},
		"cross site":          {[]string{"Sec-Fetch-Site: cross-site"}, 403},
		"same site":           {[]string{"Sec-Fetch-Site: same-site"}, 403},
		"typed address":       {[]string{"Sec-Fetch-Site: none"}, 200},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, a := range []answer{
				s.do(t, "POST", "/api/execute", code("1"), c.headers...), s.do(t, "GET", "/api/stats", "", c.headers...),
			} {
				if a.StatusCode != c.status {
					t.Errorf("%s: %d, want %d\n%s", a.Request.Method, a.StatusCode, c.status, a.body)
				}
			}
		})
	}
	if a := s.do(
		t, "GET", "/api/stats", "", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate",
	); a.StatusCode != 200 {
		t.Errorf("a link: %d", a.StatusCode)
	}
	s.do(t, "POST", "/api/execute", code("1"), "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate").problem(t, 403)
}

func TestCORS(t *testing.T) {
	t.Parallel()
	s := serve(
		t,
		options{
			auth:   authn.Config{APIKey: apiKey},
			config: gateway.Config{CORSOrigins: []string{"https://app.example.com", "http://localhost:5173"}},
		},
	)
	preflight := []string{
		"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization,content-type",
	}
	a := s.do(t, "OPTIONS", "/api/execute", "", append(preflight, "Origin: https://app.example.com")...)
	if a.StatusCode != 204 {
		t.Errorf("status %d", a.StatusCode)
	}
	if got := a.Header.Get("Access-Control-Allow-Origin"); got != "https://app.example.com" {
		t.Errorf("allows the origin %q", got)
	}
	if got := a.Header.Get("Access-Control-Allow-Methods"); !strings.Contains(got, "POST") {
		t.Errorf("allows the methods %q", got)
	}
	if got := a.Header.Get("Access-Control-Allow-Headers"); !strings.Contains(got, "Authorization") {
		t.Errorf("allows the headers %q", got)
	}
	if got := a.Header.Get("Access-Control-Allow-Credentials"); got != "" {
		t.Errorf("allows credentials: %q", got)
	}
	for _, origin := range []string{
		"https://evil.example", "https://app.example.com.evil.example", "https://app.example.com:8443",
		"http://app.example.com", "null",
	} {
		for _, a := range []answer{
			s.do(t, "OPTIONS", "/api/execute", "", append(preflight, "Origin: "+origin)...),
			s.do(t, "POST", "/api/execute", code("1"), "Origin: "+origin, bearer(apiKey)),
		} {
			if got := a.Header.Get("Access-Control-Allow-Origin"); got != "" {
				t.Errorf("%s %s: allowed %q", a.Request.Method, origin, got)
			}
		}
	}
	a = s.do(t, "POST", "/api/execute", code("1"), "Origin: http://localhost:5173", bearer(apiKey))
	if a.StatusCode != 200 || a.Header.Get("Access-Control-Allow-Origin") != "http://localhost:5173" ||
		!strings.Contains(a.Header.Get("Access-Control-Expose-Headers"), "Retry-After") {
		t.Errorf("%d %v", a.StatusCode, a.Header)
	}
	// A browser shows a refusal to the page only if it carries the header, too.
	if a := s.do(t, "POST", "/api/execute", code("1"), "Origin: http://localhost:5173"); a.StatusCode != 401 ||
		a.Header.Get("Access-Control-Allow-Origin") == "" {
		t.Errorf("%d %v", a.StatusCode, a.Header)
	}
	if !strings.Contains(a.Header.Get("Vary"), "Origin") {
		t.Errorf("Vary %q", a.Header.Get("Vary"))
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	for _, path := range []string{"/healthz", "/api/execute", "/nothing"} {
		a := s.do(t, "GET", path, "")
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Cache-Control":           "no-store",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "Server": "",
		} {
			if got := a.Header.Get(name); got != want {
				t.Errorf("%s: %s %q", path, name, got)
			}
		}
		if !strings.HasPrefix(a.Header.Get("X-Request-Id"), "req_") {
			t.Errorf("%s: X-Request-Id %q", path, a.Header.Get("X-Request-Id"))
		}
	}
	for given, kept := range map[string]bool{
		"abc-123_x.y:z": true, strings.Repeat("x", 129): false, `"><script>`: false, "a b": false, "é": false,
	} {
		got := s.do(t, "GET", "/healthz", "", "X-Request-Id: "+given).Header.Get("X-Request-Id")
		if (got == given) != kept {
			t.Errorf("%q came back as %q", given, got)
		}
	}
}

func TestConfigRefused(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{
		"app.example.com", "https://app.example.com/", "https://*.example.com", "HTTPS://app.example.com", "ftp://x", "null",
		"https://a.example,https://b.example",
	} {
		if _, err := gateway.New(gateway.Config{CORSOrigins: []string{origin}}, gateway.Deps{}); err == nil ||
			!strings.Contains(err.Error(), "not an origin") {
			t.Errorf("%q: %v", origin, err)
		}
	}
	for want, cfg := range map[string]gateway.Config{
		"Auth, Invoker, Limits.Limiter, Logger, NewID, Now, Policy, Records": {},
		"negative: Places, QueueWait":                                        {Places: -1, QueueWait: -1},
	} {
		if _, err := gateway.New(cfg, gateway.Deps{}); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v, want the end %q", err, want)
		}
	}
}

// The metrics name a tenant, and say what it stores, to its own callers and to those who may read the records of all.
func TestMetricsOfTenants(t *testing.T) {
	t.Parallel()
	s := kept(t, options{auth: authn.Config{Keys: hs256(t)}})
	alice := bearer(token(t, "alice", "acme", "execute functions"))
	want(t, s.do(t, "PUT", "/api/functions/f", code("1"), alice), 201)
	for who, sees := range map[string]bool{
		alice:                                 true,
		bearer(token(t, "carol", "acme", "")): true,
		bearer(token(t, "bob", "globex", "execute audit:read functions")): false,
		bearer(token(t, "eve", "", "audit:read:all")):                     true,
	} {
		text := string(want(t, s.do(t, "GET", "/metrics", "", who), 200).body)
		if strings.Contains(text, `tenant="acme"`) != sees {
			t.Errorf("the metrics name the tenant: %v, want %v", !sees, sees)
		}
		if !strings.Contains(text, "\nairlock_state_bytes{") {
			t.Error("the metrics lack what all tenants store together")
		}
	}
}
