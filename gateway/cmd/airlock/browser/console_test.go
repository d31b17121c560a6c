package browser_test

import (
	"encoding/json"
	"strings"
	"testing"
)

func quote(s string) string {
	b, _ := json.Marshal(s) // a string always encodes
	return string(b)
}

// Without credentials the pages need no login.
func TestOpenConsole(t *testing.T) {
	t.Parallel()
	s := serve(t)
	b := s.open(t, "/")
	b.wait(`location.pathname === "/dashboard"`)
	if h1 := b.text("h1"); h1 != "Dashboard" {
		t.Errorf("the heading is %q", h1)
	}
	b.click(`nav a[href="/security"]`)
	b.wait(`document.querySelector("h1")?.textContent === "Security"`)
	if current := b.text(`nav a[aria-current="page"]`); current != "Security" {
		t.Errorf("the current page is %q", current)
	}
}

// A person logs in, sees where they were going, and logs out.
func TestLogin(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	b := s.open(t, "/security?window=6h")
	b.wait(`location.pathname === "/login"`)
	b.expect("401") // the page asks whether there is a session, and then tries a wrong token
	b.typed("#token", "nonsense\r")
	b.wait(`document.querySelector("#refused")?.textContent.includes("not valid") || ` +
		`document.querySelector("#refused")?.textContent.includes("malformed")`)
	b.typed("#token", s.token(t, "acme", "execute audit:read")+"\r")
	b.wait(`location.pathname === "/security"`)
	if path := b.path(); path != "/security?window=6h" {
		t.Errorf("the login led to %s", path)
	}
	if who := b.text(".who"); !strings.Contains(who, "someone") || !strings.Contains(who, "acme") {
		t.Errorf("it is shown to %q", who)
	}
	if cookies := eval[string](b, `document.cookie`); cookies != "" {
		t.Errorf("scripts can read %q", cookies)
	}
	b.click(`form[action="/logout"] button`)
	b.wait(`location.pathname === "/login"`)
	b.visit("/dashboard")
	b.wait(`location.pathname === "/login"`)
}

// A session needs the cookie and the token that scripts of this origin send: neither a request without the token nor a
// link alone has the visitor's powers. Other tabs continue to work, and so does the download of a report.
func TestSessionTakesItsScripts(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	id := s.execute(t, map[string]any{"code": "1 + 1"}).ID
	b := s.open(t, "/login?next=/dashboard/execution/"+id)
	b.expect("401") // nobody is logged in yet, and the bare requests below
	b.typed("#token", key+"\r")
	b.wait(`document.querySelector("#actions a")`)
	if status := eval[int](b, `fetch("/api/stats").then(a => a.status)`); status != 401 {
		t.Errorf("the cookie alone is answered %d", status)
	}
	if status := eval[int](b,
		`import("/assets/session.js").then(m => m.ask("/api/stats")).then(a => a.status)`); status != 200 {
		t.Errorf("a script of the pages is answered %d", status)
	}
	report := eval[string](b, `new Promise(done => {
		URL.createObjectURL = blob => { blob.text().then(done); return "#"; };
		document.querySelector('#actions a[download$=".json"]').click();
	})`)
	if !strings.Contains(report, id) {
		t.Errorf("the report is %.200s", report)
	}
	b.visit("/security")
	b.wait(`location.pathname === "/security" && document.querySelector("h1")`)
	b.visit("/login?next=/dashboard")
	b.wait(`location.pathname === "/dashboard"`)
	b.click(`form[action="/logout"] button`)
	b.wait(`location.pathname === "/login"`)
	b.wait(`Object.keys(localStorage).every(name => !name.includes("token"))`)
}
