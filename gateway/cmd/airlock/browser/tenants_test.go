package browser_test

import (
	"strings"
	"testing"
)

// A tenant sees in the pages what the API returns to it, and no more.
func TestTenants(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	run := func(tenant, code string) string {
		return s.execute(t, map[string]any{"code": code}, "Authorization: Bearer "+s.token(t, tenant, "execute")).ID
	}
	ours, theirs := run("acme", "eval('1')"), run("globex", "eval('2')")
	enter := func(token string) *tab {
		b := s.open(t, "/dashboard?window=15m")
		b.expect("401") // nobody is logged in yet
		b.wait(`location.pathname === "/login"`)
		b.typed("#token", token+"\r")
		b.wait(`location.pathname === "/dashboard"`)
		return b
	}
	b := enter(s.token(t, "acme", "execute audit:read"))
	b.wait(ready + ` && document.querySelectorAll("#executions a").length === 1 && ` +
		`document.querySelector("#executions a").title === "` + ours + `"`)
	if got := b.text("#k-executions"); got != "1" {
		t.Errorf("%s executions are counted", got)
	}
	b.visit("/security?window=15m")
	b.wait(ready + ` && document.querySelectorAll("#threats a").length === 1`)
	if text := eval[string](b, `document.body.textContent`); strings.Contains(text, "globex") ||
		eval[bool](b, `!document.querySelector("#verify").hidden`) {
		t.Error("it shows more than its own")
	}
	b.expect("404")
	b.visit("/dashboard/execution/" + theirs)
	b.wait(`document.querySelector("#trouble").textContent.startsWith("There is no record")`)
	b.expect("403")
	b.visit("/dashboard?tenant=globex")
	b.wait(`!document.querySelector("#trouble").hidden`)

	b = enter(key)
	b.wait(ready + ` && document.querySelectorAll("#executions a").length === 2`)
	b.visit("/dashboard?tenant=globex")
	b.wait(ready + ` && document.querySelectorAll("#executions a").length === 1 && ` +
		`document.querySelector("#executions a").title === "` + theirs + `"`)

	b = enter(s.token(t, "acme", "execute"))
	b.expect("403")
	b.wait(`document.querySelector("#trouble").textContent.includes("needs the scope audit:read")`)
}

// A page whose credential expires goes to the login.
func TestExpiry(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	b := s.open(t, "/login?next=/dashboard")
	b.expect("401")
	b.typed("#token", s.airlock(t, "token", "--sub", "brief", "--scope", "audit:read", "--ttl", "15s")+"\r")
	b.wait(ready)
	b.wait(`location.pathname === "/login"`)
	if path := b.path(); path != "/login?next=%2Fdashboard" {
		t.Errorf("it went to %s", path)
	}
}
