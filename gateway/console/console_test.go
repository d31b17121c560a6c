package console_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/airlock-run/airlock/gateway/console"
)

func open(t testing.TB, others map[string]fs.FS) *console.Console {
	t.Helper()
	c, err := console.New(others)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func content(t testing.TB, c *console.Console, name string) string {
	t.Helper()
	a, ok := c.Asset(name)
	if !ok {
		t.Errorf("%s is not there", name)
		return ""
	}
	b, err := a.Content()
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

// Pages have no inline script or style, load only from here, and what they load exists.
func TestPages(t *testing.T) {
	t.Parallel()
	c := open(t, nil)
	all := map[string][]byte{}
	for _, name := range []string{"dashboard", "security", "execution"} {
		p, err := console.Own(name)
		if err != nil {
			t.Fatal(err)
		}
		if all[name], err = c.Render(
			p, console.Visitor{Subject: `<b>"'`, Tenant: `"><script>`, Scopes: []string{"audit:read"}},
		); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if all["login"], err = c.Login(`/dashboard?"><script>`, `<script>`); err != nil {
		t.Fatal(err)
	}
	for name, page := range all {
		for _, forbidden := range []string{
			"http:", "https:", " style=", " onclick=", "<style", "javascript:", "<b>", `"><script>`, "ZgotmplZ",
		} {
			if bytes.Contains(page, []byte(forbidden)) {
				t.Errorf("%s has %s\n%s", name, forbidden, page)
			}
		}
		if n := bytes.Count(page, []byte("<script ")); n != bytes.Count(page, []byte("></script>")) ||
			n != bytes.Count(page, []byte("<script")) {
			t.Errorf("%s has a script with content", name)
		}
		for _, part := range bytes.Split(page, []byte(`"/assets/`))[1:] {
			file, _, _ := bytes.Cut(part, []byte(`"`))
			if len(content(t, c, string(file))) == 0 {
				t.Errorf("%s loads %s, which is not there", name, file)
			}
		}
	}
	if _, err := console.Own("nothing"); err == nil {
		t.Error("a page that is not there was found")
	}
}

// Modules import only from here, and what they import exists. None turns text into markup or code.
func TestModules(t *testing.T) {
	t.Parallel()
	c := open(t, nil)
	for _, name := range []string{
		"frame.js", "theme.js", "login.js", "dashboard.js", "security.js", "execution.js", "chart.js", "plots.js",
		"record.js", "replay.js", "tables.js", "dom.js", "live.js", "filters.js", "format.js", "trouble.js",
	} {
		text := content(t, c, name)
		for _, forbidden := range []string{
			"innerHTML = ", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "setHTML", "srcdoc",
			".style",
		} {
			if strings.Contains(text, forbidden) {
				t.Errorf("%s has %s", name, forbidden)
			}
		}
		for _, part := range strings.Split(text, ` from "`)[1:] {
			path, _, _ := strings.Cut(part, `"`)
			if _, ok := c.Asset(strings.TrimPrefix(path, "/assets/")); !ok {
				t.Errorf("%s imports %s, which is not there", name, path)
			}
		}
	}
}

func TestAssetsOfOthers(t *testing.T) {
	t.Parallel()
	c := open(t, map[string]fs.FS{"play": fstest.MapFS{"a/b.js": {Data: []byte("1")}}})
	if got := content(t, c, "play/a/b.js"); got != "1" {
		t.Errorf("the asset is %q", got)
	}
	a, _ := c.Asset("play/a/b.js")
	if !strings.HasPrefix(a.Type, "text/javascript") || len(a.ETag) < 20 {
		t.Errorf("its type is %q, its tag %q", a.Type, a.ETag)
	}
	if _, ok := c.Asset("../console.go"); ok {
		t.Error("a file that is no asset was found")
	}
	if _, err := console.New(map[string]fs.FS{"play": fstest.MapFS{"a.exe": {}}}); err == nil {
		t.Error("an asset without a media type was taken")
	}
}

// Bundles are embedded compressed and served so.
func TestCompressedAssets(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte("export default 1")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"a.js.gz": {Data: b.Bytes()}, "b.js": {}, "damaged.js.gz": {Data: []byte("no gzip")}}
	c := open(t, map[string]fs.FS{"play": files})
	if got := content(t, c, "play/a.js"); got != "export default 1" {
		t.Errorf("the content is %q", got)
	}
	a, _ := c.Asset("play/a.js")
	if !bytes.Equal(a.Packed(), b.Bytes()) || !strings.HasPrefix(a.Type, "text/javascript") {
		t.Errorf("%q of type %q", a.Packed(), a.Type)
	}
	damaged, _ := c.Asset("play/damaged.js")
	if _, err := damaged.Content(); err == nil {
		t.Error("a damaged file has content")
	}
	for name, want := range map[string]bool{"a.js": true, "b.js": true, "c.js": false} {
		if has, err := console.Has(files, name); has != want || err != nil {
			t.Errorf("%s: %t, %v", name, has, err)
		}
	}
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	plain := console.Page{}.Policy()
	for _, want := range []string{
		"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'",
		"base-uri 'none'", "form-action 'self'",
		"require-trusted-types-for 'script'", "report-uri /csp-report",
	} {
		if !strings.Contains("; "+plain+";", "; "+want+";") {
			t.Errorf("%s lacks %s", plain, want)
		}
	}
	if strings.Contains(plain, "unsafe") || strings.Contains(plain, "http") {
		t.Error(plain)
	}
	own := console.Page{Directives: []string{"worker-src 'self'", "img-src 'self'"}}.Policy()
	if !strings.Contains(own, "; worker-src 'self'") || strings.Contains(own, "data:") {
		t.Error(own)
	}
}

const (
	oneToken   = "one-request-token-of-43-characters-or-more-A"
	otherToken = "two-request-token-of-43-characters-or-more-B"
)

func TestSessions(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	s := console.NewSessions(func() time.Time { return now })
	begin := func(subject, credential, token string) string {
		t.Helper()
		name, err := s.Begin(console.Visitor{Subject: subject, Tenant: "t"}, credential, token)
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	check := func(name, token, want string) {
		t.Helper()
		if got, ok := s.Credential(name, token); got != want || ok != (want != "") {
			t.Errorf("%q, %v; want %q", got, ok, want)
		}
	}
	first, second := begin("ann", "one", oneToken), begin("ben", "two", otherToken)
	if first == second || len(first) < 26 {
		t.Errorf("%q and %q", first, second)
	}
	check(first, oneToken, "one")
	check(second, otherToken, "two")
	// Neither secret is worth anything without the other.
	for _, token := range []string{"", otherToken, oneToken + "A", strings.ToLower(oneToken), first} {
		check(first, token, "")
	}
	check("", oneToken, "")
	check("nonsense", oneToken, "")
	if who, ok := s.Visitor(first); !ok || who.Subject != "ann" {
		t.Errorf("%+v %v", who, ok)
	}
	for _, token := range []string{"", "short", strings.Repeat("a", 129), oneToken + " "} {
		bare := begin("cid", "three", token)
		check(bare, token, "")
		if _, ok := s.Visitor(bare); !ok {
			t.Error("a session without a request token renders no page")
		}
	}
	s.End(first)
	s.End(first)
	check(first, oneToken, "")
	if _, ok := s.Visitor(first); ok {
		t.Error("a page is rendered for a session that was ended")
	}
}

// A session ends when it is not used, whatever its name is used for, and after its lifetime at the latest.
func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	s := console.NewSessions(func() time.Time { return now })
	begin := func(subject string) string {
		name, err := s.Begin(console.Visitor{Subject: subject}, "c", oneToken)
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	alive := func(name string) bool { _, ok := s.Credential(name, oneToken); return ok }
	used, idle, stolen := begin("a"), begin("b"), begin("c")
	for range 23 {
		now = now.Add(console.SessionIdle - time.Second)
		if !alive(used) {
			t.Fatal("a session that is used has ended")
		}
		s.Visitor(stolen)
		s.Credential(stolen, otherToken)
	}
	if alive(idle) || alive(stolen) {
		t.Error("a session continues although it is unused, or used by its name alone")
	}
	now = time.Unix(1e9, 0).Add(console.SessionLifetime)
	if alive(used) {
		t.Error("a session outlives its lifetime")
	}
	back := begin("a")
	now = now.Add(-24 * time.Hour)
	if alive(back) {
		t.Error("a clock that was set back by a day lengthens a session")
	}
	now = now.Add(48 * time.Hour)
	one, two, other := begin("a"), begin("a"), begin("b")
	s.EndAll(one)
	if alive(one) || alive(two) || !alive(other) {
		t.Error("a logout ends the sessions of others, or not all of its own")
	}
}

// Logins cannot fill memory: the oldest give way.
func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	s := console.NewSessions(func() time.Time { now = now.Add(time.Millisecond); return now })
	begin := func(credential string) string {
		name, err := s.Begin(console.Visitor{}, credential, oneToken)
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	first := begin("first")
	var last string
	for i := range 10_001 {
		last = begin(fmt.Sprint(i))
	}
	if _, ok := s.Credential(first, oneToken); ok {
		t.Error("the oldest is still there")
	}
	if c, ok := s.Credential(last, oneToken); !ok || c != "10000" {
		t.Error("the newest is gone")
	}
}

func TestSameOrigin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		asked console.Asked
		want  bool
	}{
		{console.Asked{Method: "GET"}, true},
		{console.Asked{Method: "HEAD", Site: "none"}, true},
		{console.Asked{Method: "GET", Site: "same-origin"}, true},
		{console.Asked{Method: "GET", Site: "cross-site"}, false},
		{console.Asked{Method: "GET", Site: "same-site"}, false},
		{console.Asked{Method: "GET", Host: "a.example", Origin: "https://b.example"}, false},
		{console.Asked{Method: "POST"}, false},
		{console.Asked{Method: "POST", Site: "none"}, false},
		{console.Asked{Method: "POST", Site: "same-origin"}, true},
		{console.Asked{Method: "POST", Site: "same-site", Host: "a.example", Origin: "https://a.example"}, false},
		{console.Asked{Method: "POST", Host: "a.example", Origin: "https://a.example"}, true},
		{console.Asked{Method: "DELETE", Host: "a.example:3000", Origin: "http://a.example:3000"}, true},
		{console.Asked{Method: "POST", Host: "a.example", Origin: "https://a.example:444"}, false},
		{console.Asked{Method: "POST", Host: "a.example", Origin: "https://a.example.evil.example"}, false},
		{console.Asked{Method: "POST", Host: "a.example", Origin: "null"}, false},
		{console.Asked{Method: "POST", Host: "", Origin: "https://"}, false},
		{console.Asked{Method: "POST", Host: "a.example", Origin: "ftp://a.example"}, false},
		// a script cannot set it
		{console.Asked{Method: "POST", Host: "a.example", Origin: "https://evil.example", Site: "same-origin"}, true},
	} {
		if got := c.asked.SameOrigin(); got != c.want {
			t.Errorf("%+v: %v", c.asked, got)
		}
	}
}

func TestNext(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{
		"/security?window=6h": "/security?window=6h", "/dashboard/execution/exec_1": "/dashboard/execution/exec_1",
		"/playground": "/playground",
		"":            "/dashboard", "//evil.example/dashboard": "/dashboard", "https://evil.example/dashboard": "/dashboard",
		"/\\evil.example":     "/dashboard",
		"/dashboard/../api/x": "/dashboard", "javascript:alert(1)": "/dashboard", "/logout": "/dashboard",
		"/dashboards": "/dashboard", "\t//evil": "/dashboard",
		"/dashboard\r\nSet-Cookie: a=b": "/dashboard", "%zz": "/dashboard", "/security? ": "/dashboard",
	} {
		if got := console.Next(asked); got != want {
			t.Errorf("%q leads to %q, want %q", asked, got, want)
		}
	}
}

// A login never leads anywhere but to one of our own pages.
func FuzzNext(f *testing.F) {
	for _, seed := range []string{
		"/dashboard", "//evil.example", "/security?a=b", "/dashboard/%2f%2fevil", "/playground#x", "/security? ",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, asked string) {
		next := console.Next(asked)
		if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t ") {
			t.Errorf("%q leads to %q", asked, next)
		}
	})
}

func TestReports(t *testing.T) {
	t.Parallel()
	var r console.Reports
	for body, want := range map[string]string{
		`{"csp-report":{"effective-directive":"style-src-attr","violated-directive":"x"}}`: "style-src-attr",
		`{"csp-report":{"violated-directive":"img-src"}}`:                                  "img-src",
		`[{"type":"csp-violation","body":{"effectiveDirective":"script-src-elem"}}]`:       "script-src-elem",
		`[{"type":"deprecation"},{"type":"csp-violation","body":{"effectiveDirective":"` + strings.Repeat("a", 100) +
			`"}}]`: strings.Repeat("a", 64),
	} {
		if got, ok := r.Take([]byte(body)); !ok || got != want {
			t.Errorf("%s: %q, %v", body, got, ok)
		}
	}
	for _, body := range []string{"", "null", "{}", "[]", "[1]", `{"csp-report":null}`, `[{"type":"deprecation"}]`} {
		if _, ok := r.Take([]byte(body)); ok {
			t.Errorf("%s was taken", body)
		}
	}
	if r.Count() != 4 {
		t.Errorf("%d reports", r.Count())
	}
}

// Anybody can send reports.
func FuzzReports(f *testing.F) {
	for _, seed := range []string{
		`{"csp-report":{"violated-directive":"img-src"}}`, `[{"type":"csp-violation","body":{"effectiveDirective":"é"}}]`,
		"[",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var r console.Reports
		directive, ok := r.Take(body)
		if len(directive) > 64 || ok != (r.Count() > 0) {
			t.Errorf("%q, %v, %d", directive, ok, r.Count())
		}
	})
}

// A visitor who logs in again and again ends their own sessions, and nobody else's.
func TestSessionsShare(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	s := console.NewSessions(func() time.Time { now = now.Add(time.Millisecond); return now })
	begin := func(subject string) string {
		name, err := s.Begin(console.Visitor{Tenant: "t", Subject: subject}, subject, oneToken)
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	modest, first := begin("modest"), begin("greedy")
	var last string
	for range 300 {
		last = begin("greedy")
	}
	for name, want := range map[string]bool{modest: true, first: false, last: true} {
		if _, ok := s.Credential(name, oneToken); ok != want {
			t.Errorf("the session is there: %t, want %t", ok, want)
		}
	}
}
