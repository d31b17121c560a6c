package gateway_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/gateway/authn"
)

const aPage = "Accept: text/html"

// enter logs in and returns the cookie as a header.
func (s *served) enter(t *testing.T, token string) string {
	t.Helper()
	a := s.login(t, token, "", "Origin: "+s.url)
	if a.StatusCode != http.StatusSeeOther || len(a.Cookies()) != 1 {
		t.Fatalf("%s %v\n%s", a.Status, a.Header, a.body)
	}
	return "Cookie: " + a.Cookies()[0].Name + "=" + a.Cookies()[0].Value
}

// The second secret of a session, which the login page draws.
const (
	secondSecret = "a-request-token-of-43-characters-or-more-AB"
	withToken    = "X-Airlock-Request-Token: " + secondSecret
)

func (s *served) login(t *testing.T, token, next string, headers ...string) answer {
	t.Helper()
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	form := url.Values{"token": {token}, "next": {next}, "request_token": {secondSecret}}.Encode()
	return s.do(
		t, "POST", "/login", form,
		append([]string{"Content-Type: ", "Content-Type: application/x-www-form-urlencoded"}, headers...)...,
	)
}

func (a answer) is(t *testing.T, status int, location string) {
	t.Helper()
	if a.StatusCode != status || a.Header.Get("Location") != location {
		t.Errorf(
			"%s %s: %d to %q, want %d to %q\n%.300s", a.Request.Method, a.Request.URL, a.StatusCode, a.Header.Get("Location"),
			status, location, a.body,
		)
	}
}

func TestPagesWithoutCredentials(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.do(t, "GET", "/", "", aPage).is(t, 303, "/dashboard")
	s.do(t, "GET", "/login?next=/security", "", aPage).is(t, 303, "/security")
	for _, path := range []string{"/dashboard", "/security", "/dashboard/execution/exec_1"} {
		a := s.do(t, "GET", path, "", aPage)
		a.is(t, 200, "")
		csp := a.Header.Values("Content-Security-Policy")
		if len(csp) != 1 || !strings.HasPrefix(csp[0], "default-src 'none'; script-src 'self'; style-src 'self'") ||
			strings.Contains(csp[0], "unsafe") {
			t.Errorf("%s: %q", path, csp)
		}
		for name, want := range map[string]string{
			"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "no-store",
		} {
			if got := a.Header.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
	}
	a := s.do(t, "GET", "/assets/base.css", "")
	if a.StatusCode != 200 || a.Header.Get("Content-Type") != "text/css; charset=utf-8" {
		t.Error(a.Status, a.Header)
	}
	if again := s.do(t, "GET", "/assets/base.css", "", "If-None-Match: "+a.Header.Get("Etag")); again.StatusCode != 304 ||
		len(again.body) > 0 {
		t.Error(again.Status)
	}
	// Compressed for clients that accept that, with another entity tag for caches.
	for accepted, coding := range map[string]string{
		"gzip, br": "gzip", "*": "gzip", "identity": "", "br": "", "gzip;q=0": "",
	} {
		c := s.do(t, "GET", "/assets/base.css", "", "Accept-Encoding: "+accepted)
		content := c.body
		if coding == "gzip" {
			unzip, err := gzip.NewReader(bytes.NewReader(content))
			if err != nil {
				t.Fatal(accepted, err)
			}
			if content, err = io.ReadAll(unzip); err != nil {
				t.Error(accepted, err)
			}
		}
		if got := c.Header.Get("Content-Encoding"); got != coding || c.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: coding %q, want %q: %v", accepted, got, coding, c.Header)
		}
		if !bytes.Equal(content, a.body) {
			t.Errorf("%s: it has another content", accepted)
		}
		if tag := c.Header.Get("Etag"); (coding == "gzip") != strings.HasSuffix(tag, `-gzip"`) {
			t.Errorf("%s: tag %s", accepted, tag)
		}
		if again := s.do(
			t, "GET", "/assets/base.css", "", "Accept-Encoding: "+accepted, "If-None-Match: "+c.Header.Get("Etag"),
		); again.StatusCode != 304 {
			t.Error(accepted, again.Status)
		}
	}
	for _, path := range []string{"/assets/", "/assets/../pages.go", "/assets/nothing.js", "/assets/%2e%2e/pages.go"} {
		s.do(t, "GET", path, "").problem(t, 404)
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	s := serve(t, options{auth: authn.Config{APIKey: apiKey}})
	s.login(t, apiKey, "/security?window=6h", "Origin: "+s.url).is(t, 303, "/security?window=6h")
	s.login(t, apiKey, "//evil.example").is(t, 303, "/dashboard")
	s.login(t, apiKey, "", "Origin: https://evil.example").problem(t, 403)
	s.login(t, apiKey, "", "Sec-Fetch-Site: cross-site").problem(t, 403)
	s.do(t, "POST", "/login", `{"token":"x"}`).problem(t, 415)
	for _, wrong := range []string{"", "nonsense", apiKey + "x"} {
		a := s.login(t, wrong, "/security")
		a.is(t, 401, "")
		if len(a.Cookies()) > 0 {
			t.Errorf("%q: sets %v", wrong, a.Cookies())
		}
		if text := string(a.body); !strings.Contains(text, `id="refused"`) || !strings.Contains(text, `value="/security"`) {
			t.Errorf("%q is not refused:\n%s", wrong, text)
		}
		if wrong != "" && strings.Contains(string(a.body), wrong) {
			t.Errorf("the page has %q", wrong)
		}
	}
	s.do(t, "GET", "/dashboard?window=6h", "", aPage).is(t, 303, "/login?next=%2Fdashboard%3Fwindow%3D6h")
	s.do(t, "GET", "/dashboard", "").problem(t, 401)
	s.do(t, "GET", "/dashboard", "", bearer(apiKey)).is(t, 200, "")

	plain := s.login(t, apiKey, "", "Origin: "+s.url).Cookies()[0]
	checkCookie(t, plain, http.Cookie{Name: "airlock", HttpOnly: true, SameSite: http.SameSiteStrictMode, Path: "/"})
	if strings.Contains(plain.Value, apiKey) {
		t.Errorf("the cookie %q holds the key", plain.Value)
	}
	secure := s.login(
		t, apiKey, "", "Sec-Fetch-Site: same-origin", "Origin: https://airlock.example", "Host: airlock.example",
	).Cookies()[0]
	checkCookie(t, secure, http.Cookie{
		Name: "__Host-airlock", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: true, Path: "/",
	})
}

// checkCookie compares a cookie that has a value and expires with what is wanted of it besides.
func checkCookie(t *testing.T, cookie *http.Cookie, want http.Cookie) {
	t.Helper()
	if cookie.Value == "" || cookie.Expires.IsZero() {
		t.Errorf("the cookie has the value %q and expires %v", cookie.Value, cookie.Expires)
	}
	got := *cookie
	got.Value, got.Raw, got.RawExpires, got.Expires = "", "", "", time.Time{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the cookie differs (-want +got):\n%s", diff)
	}
}

// A wrong token costs an attempt of the address, as everywhere else.
func TestLoginIsLimited(t *testing.T) {
	t.Parallel()
	s := serve(t, options{auth: authn.Config{APIKey: apiKey}, max: 2})
	for range 2 {
		s.login(t, "wrong", "").is(t, 401, "")
	}
	s.login(t, "wrong", "").problem(t, 429)
	s.login(t, apiKey, "").problem(t, 429)
}

// A session stands for its credential only in requests of the gateway's own pages.
func TestSession(t *testing.T) {
	t.Parallel()
	s := serve(t, options{auth: authn.Config{APIKey: apiKey}})
	cookie := s.enter(t, apiKey)
	s.do(t, "GET", "/dashboard", "", aPage, cookie).is(t, 200, "")
	if who := s.do(t, "GET", "/session", "", cookie, withToken).json(t); who["subject"] != "key:operator" ||
		who["open"] != false || who["audit"] != true {
		t.Error(who)
	}
	for _, c := range []struct {
		method, path string
		headers      []string
		status       int
	}{
		{"GET", "/api/stats", nil, 200},
		{"GET", "/api/stats", []string{"Sec-Fetch-Site: same-origin"}, 200},
		{"GET", "/api/stats", []string{"Sec-Fetch-Site: same-site"}, 403},
		{"GET", "/api/stats", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"}, 403},
		{"POST", "/api/execute", nil, 403},
		{"POST", "/api/execute", []string{"Origin: https://evil.example"}, 403},
		{"POST", "/api/execute", []string{"Sec-Fetch-Site: same-site", "Origin: https://other.airlock.example"}, 403},
		{"POST", "/api/execute", []string{"Origin: null"}, 403},
		{"POST", "/api/execute", []string{"Origin: " + s.url}, 200},
		{"POST", "/api/execute", []string{"Sec-Fetch-Site: same-origin"}, 200},
		{"POST", "/mcp", []string{"Sec-Fetch-Site: same-origin"}, 401},
		{"GET", "/metrics", nil, 401},
		{"GET", "/api/stats", []string{bearer("wrong")}, 401}, // an explicit credential takes precedence
	} {
		body := ""
		if c.method == "POST" {
			body = code("1")
		}
		if a := s.do(t, c.method, c.path, body, append(c.headers, cookie, withToken)...); a.StatusCode != c.status {
			t.Errorf("%s %s %v: %d, want %d\n%s", c.method, c.path, c.headers, a.StatusCode, c.status, a.body)
		}
	}
	s.do(t, "POST", "/logout", "", cookie).problem(t, 403)
	s.do(t, "POST", "/logout", "", cookie, "Origin: https://evil.example").problem(t, 403)
	out := s.do(t, "POST", "/logout", "", cookie, "Origin: "+s.url)
	out.is(t, 303, "/login")
	if c := out.Cookies(); len(c) != 1 || c[0].Value != "" || c[0].Expires.Year() > 1970 {
		t.Errorf("%+v", c)
	}
	s.do(t, "GET", "/api/stats", "", cookie, withToken).problem(t, 401)
	s.do(t, "GET", "/dashboard", "", aPage, cookie).is(t, 303, "/login?next=%2Fdashboard")
}

// A stolen cookie is useless, whatever else the thief sends: only the pages of the login have the value of one required
// header.
func TestStolenCookie(t *testing.T) {
	t.Parallel()
	s := serve(t, options{auth: authn.Config{APIKey: apiKey}})
	cookie := s.enter(t, apiKey)
	name := strings.TrimPrefix(cookie, "Cookie: airlock=")
	forged := [][]string{
		nil,
		{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors", "Origin: " + s.url, "Referer: " + s.url + "/dashboard"},
		{"Sec-Fetch-Site: none"},
		{"X-Airlock-Request-Token: "},
		{"X-Airlock-Request-Token: " + name},
		{"X-Airlock-Request-Token: " + secondSecret + "x"},
		{"X-Airlock-Request-Token: " + strings.ToLower(secondSecret)},
		{bearer(name)}, {"X-Api-Key: " + name},
		{"Cookie: __Host-airlock=" + name}, {"Cookie: airlock=" + secondSecret},
	}
	for _, more := range forged {
		for _, route := range []string{
			"GET /api/stats", "GET /session", "POST /api/execute", "GET /api/audit/executions", "GET /api/live?view=dashboard",
			"GET /metrics", "GET /api/functions", "POST /mcp",
		} {
			method, path, _ := strings.Cut(route, " ")
			body := ""
			if method == "POST" {
				body = code("1")
			}
			if a := s.do(
				t, method, path, body, append([]string{cookie, "Origin: " + s.url, "Sec-Fetch-Site: same-origin"}, more...)...,
			); a.StatusCode != 401 && a.StatusCode != 403 {
				t.Errorf("%s with %v: %d\n%s", route, more, a.StatusCode, a.body)
			}
		}
	}
	// No page that the cookie opens contains the second secret or the credential.
	for _, path := range []string{
		"/dashboard", "/security", "/playground", "/dashboard/execution/exec_0123456789", "/login",
	} {
		a := s.do(t, "GET", path, "", aPage, cookie, "Sec-Fetch-Site: same-origin")
		for _, secret := range []string{secondSecret, apiKey} {
			if strings.Contains(string(a.body)+fmt.Sprint(a.Header), secret) {
				t.Errorf("%s says a secret", path)
			}
		}
	}
	// The session itself continues, and its second secret is useless without the cookie.
	if a := s.do(t, "GET", "/api/stats", "", cookie, withToken); a.StatusCode != 200 {
		t.Errorf("%d", a.StatusCode)
	}
	s.do(t, "GET", "/api/stats", "", withToken).problem(t, 401)
	// A login without the second secret can open pages and nothing else. A secret that could be guessed is refused.
	form := "Content-Type: application/x-www-form-urlencoded"
	bare := s.do(t, "POST", "/login", "token="+apiKey, "Content-Type: ", form)
	bare.is(t, 303, "/dashboard")
	s.do(t, "GET", "/api/stats", "", "Cookie: airlock="+bare.Cookies()[0].Value, withToken).problem(t, 401)
	s.do(t, "POST", "/login", "token="+apiKey+"&request_token=guess", "Content-Type: ", form).problem(t, 400)
}

// A login makes a new name and ends the previous session. A logout ends every session of the visitor.
func TestSessionsRotate(t *testing.T) {
	t.Parallel()
	s := serve(t, options{auth: authn.Config{APIKey: apiKey}})
	first := s.enter(t, apiKey)
	again := s.login(t, apiKey, "", "Origin: "+s.url, first)
	second := "Cookie: airlock=" + again.Cookies()[0].Value
	if first == second {
		t.Fatal("the name is the same")
	}
	s.do(t, "GET", "/api/stats", "", first, withToken).problem(t, 401)
	third := s.enter(t, apiKey)
	for _, cookie := range []string{second, third} {
		if a := s.do(t, "GET", "/api/stats", "", cookie, withToken); a.StatusCode != 200 {
			t.Errorf("%d", a.StatusCode)
		}
	}
	s.do(t, "POST", "/logout", "", second, "Origin: "+s.url).is(t, 303, "/login")
	for _, cookie := range []string{second, third} {
		s.do(t, "GET", "/api/stats", "", cookie, withToken).problem(t, 401)
	}
}

// A complete attack: a page on another port of this host posts a form to a webhook that verifies nothing, and replays
// what its code returns.
func TestHookSeesNoSession(t *testing.T) {
	t.Parallel()
	s := kept(t, options{auth: authn.Config{APIKey: apiKey}})
	want(t, s.do(t, "PUT", "/api/functions/f", `{"code":"1","hook":{"scheme":"none"}}`, bearer(apiKey)), 201)
	cookie := s.enter(t, apiKey)
	name := strings.TrimPrefix(cookie, "Cookie: airlock=")
	for _, path := range []string{"/hooks/f", "/hooks/default/f", "/hooks/./f", "//hooks/f"} {
		a := s.do(t, "POST", path, "a=b", "Content-Type: ", "Content-Type: application/x-www-form-urlencoded", cookie,
			"Origin: http://127.0.0.1:9",
			"Sec-Fetch-Site: same-site", withToken, "X-Airlock-Request-Token: "+secondSecret)
		if strings.Contains(string(a.body), name) || strings.Contains(string(a.body), secondSecret) {
			t.Errorf("%s: %s", path, a.body)
		}
		if path == "/hooks/f" && a.StatusCode != 200 {
			t.Errorf("%d %s", a.StatusCode, a.body)
		}
	}
}

func TestPolicyReports(t *testing.T) {
	t.Parallel()
	s := serve(t, options{auth: authn.Config{APIKey: apiKey}})
	a := s.do(
		t, "POST", "/csp-report", `{"csp-report":{"violated-directive":"img-src"}}`, "Content-Type: ",
		"Content-Type: application/csp-report",
	)
	if a.StatusCode != 204 {
		t.Error(a.Status)
	}
	s.do(t, "POST", "/csp-report", `{}`).problem(t, 400)
	long := `{"csp-report":{"violated-directive":"` + strings.Repeat("x", 64<<10) + `"}}`
	s.do(t, "POST", "/csp-report", long).problem(t, 413)
	if text := s.do(t, "GET", "/metrics", "", bearer(apiKey)); !strings.Contains(
		string(text.body), "\nairlock_csp_reports 1\n",
	) {
		t.Error("it is not counted")
	}
}
