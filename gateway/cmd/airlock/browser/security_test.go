package browser_test

import (
	"strings"
	"testing"
)

// The page shows what the scan found and the policy stopped, and whether the records are complete.
func TestSecurity(t *testing.T) {
	t.Parallel()
	s := serve(t)
	all := s.seeded(t)
	b := s.open(t, "/security?window=15m")
	b.wait(ready)
	b.wait(`document.querySelector("#k-chain").textContent === "Sound"`)
	if got := b.text("#k-blocked"); got != "1" {
		t.Errorf("%s blocked", got)
	}
	if got := b.legend("#c-blocked"); got != "blocked 1 allowed 6" {
		t.Errorf("%q", got)
	}
	if got := b.legend("#c-severity"); !strings.HasPrefix(got, "critical ") || strings.HasPrefix(got, "critical 0") {
		t.Errorf("by severity: %q", got)
	}
	if got := b.legend("#c-category"); !strings.Contains(got, "code_injection") {
		t.Errorf("by category: %q", got)
	}
	if got := b.row("#c-tenants", "default"); !strings.HasPrefix(got, "default") {
		t.Errorf("by tenant: %q", got)
	}
	threat := b.text("#threats li")
	for _, want := range []string{"code_injection", "const run = eval;", "2:13", "blocked"} {
		if !strings.Contains(threat, want) {
			t.Errorf("the latest threat lacks %q:\n%s", want, threat)
		}
	}
	if chain := b.text("#chain"); !strings.Contains(chain, "7 records") {
		t.Errorf("the chain: %s", chain)
	}
	s.execute(t, map[string]any{"code": "2"})
	b.click("#verify")
	b.wait(`document.querySelector("#chain").textContent.includes("8 records")`)
	b.click(`#threats a`)
	b.wait(`location.pathname === "/dashboard/execution/` + all["blocked"].ID +
		`" && !document.querySelector("#execution").hidden`)
}

// A browser reports violations of the policy to the gateway; our pages cause none.
func TestPolicyReports(t *testing.T) {
	t.Parallel()
	s := serve(t)
	all := s.seeded(t)
	b := s.open(t, "/dashboard?window=15m")
	b.wait(ready)
	b.visit("/dashboard/execution/" + all["wary"].ID)
	b.wait(`!document.querySelector("#execution").hidden`)
	b.visit("/security?window=15m")
	b.wait(ready + ` && document.querySelector("#k-pages").textContent === "0"`)
	b.expect("Content Security Policy")
	b.expect("Trusted")
	for _, forbidden := range []string{
		`document.body.setAttribute("style", "color: red")`,
		`document.body.append(Object.assign(document.createElement("style"), {textContent: "p {}"}))`,
		`(() => { try { document.body.setAttribute("onclick", "1"); } catch {} })()`,
		`(() => { try { document.body.insertAdjacentHTML("beforeend", "<b>b</b>"); } catch {} })()`,
		`fetch("https://elsewhere.example/").catch(() => {})`,
	} {
		eval[any](b, forbidden+"; 1")
	}
	b.expect("elsewhere.example")
	b.wait(`Number(document.querySelector("#k-pages").textContent) >= 5`)
	if n := eval[int](b, `document.querySelectorAll("main b").length`); n != 0 {
		t.Error("text became markup")
	}
}

// Every page is accessible.
func TestAccessibility(t *testing.T) {
	t.Parallel()
	source := axe(t)
	s := serve(t)
	all := s.seeded(t)
	for _, theme := range []string{"light", "dark"} {
		b := s.open(t, "/healthz")
		b.bypassPolicy()
		for path, then := range map[string]string{
			"/dashboard?window=15m":                  ready + ` && document.querySelector("#executions a")`,
			"/security?window=15m":                   ready + ` && document.querySelector("#threats a")`,
			"/dashboard/execution/" + all["wary"].ID: `!document.querySelector("#execution").hidden`,
			"/dashboard?window=15m&policy=none":      ready,
			"/dashboard/execution/exec_nothing":      `document.querySelector("#trouble").textContent !== ""`,
		} {
			b.expect("404") // of the execution that is not there
			b.look(map[string]int64{"light": 360, "dark": 1440}[theme], 900, theme)
			b.visit(path)
			b.wait(then)
			b.accessible(source, path+" "+theme)
		}
	}
	guarded := guarded(t)
	b := guarded.open(t, "/healthz")
	b.bypassPolicy()
	b.expect("401")
	b.visit("/login")
	b.accessible(source, "/login")
}
