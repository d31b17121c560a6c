package browser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// save saves a version of a function.
func (s *server) save(t *testing.T, status int, name, definition string) {
	t.Helper()
	s.request(t, status, "PUT", "/api/functions/"+name, definition)
}

// loggedIn opens a path with the session of a credential.
func (s *server) loggedIn(t *testing.T, credential, path string) *tab {
	t.Helper()
	b := s.open(t, "/login?next="+path)
	b.expect("401") // the page asks whether there is a session
	b.typed("#token", credential+"\r")
	b.wait("location.pathname === " + quote(path))
	return b
}

// A person finds a function, compares its versions, moves an alias, schedules it, and deletes it.
func TestFunctions(t *testing.T) {
	t.Parallel()
	s := serve(t)
	b := s.open(t, "/functions")
	b.wait(`document.querySelector("#functions").textContent.startsWith("No function is saved yet")`)
	s.save(t, 201, "greet", `{"code": "export default () => 'one \u202e'", "env": {"A": "b"}}`)
	s.save(t, 201, "greet", `{"code": "export default () => 'two'", "env": {"A": "b"}}`)
	s.request(t, 200, "POST", "/api/functions/greet/invoke", `{}`)
	b.visit("/functions")
	b.click(`#functions a[href="/functions/greet"]`)
	b.wait(`document.querySelectorAll("#versions tr").length === 2 && document.querySelectorAll("#runs a").length === 1`)
	if code := b.text("#code"); !strings.Contains(code, "'two'") {
		t.Errorf("the code is %q", code)
	}
	s.request(t, 200, "POST", "/api/execute", `{"code": "1"}`)
	b.click("#all-runs")
	b.wait(`location.search === "?window=30d&function=greet&tenant=default" &&
		document.querySelectorAll("#executions a").length === 1`)
	b.visit("/functions/greet")
	b.click("#versions tr:nth-child(2) button")
	b.wait(`document.querySelector("#diff")?.textContent.includes("-export default () => 'one \\u{202e}'")`)
	b.wait(`document.querySelector('#diff [data-line="+"]')`)
	b.click("#versions tr:nth-child(2) button:nth-child(2)")
	b.wait(`document.querySelector("#told").textContent === "Version 1 is the latest now." &&
		document.querySelector("#code").textContent.includes("'one")`)
	b.click("#aliases button")
	b.wait(`document.querySelector("#told").textContent === "latest names version 2 again."`)
	b.typed("#alias-form input", "stable")
	b.click("#alias-form button")
	b.wait(`document.querySelectorAll("#aliases tr").length === 2`)
	b.typed("#schedule-form input", "0 9 * *")
	b.expect("400")
	b.click("#schedule-form button")
	b.wait(`document.querySelector("#schedule .refused")?.textContent.includes("five fields")`)
	b.typed("#schedule-form input", " 1-5")
	b.click("#schedule-form button")
	b.wait(`document.querySelector("#schedule code")?.textContent === "0 9 * * 1-5"`)
	saved := string(s.request(t, 200, "GET", "/api/functions/greet", ""))
	for _, want := range []string{`"cron":"0 9 * * 1-5"`, `"env":{"A":"b"}`, `"versions":2`} {
		if !strings.Contains(saved, want) {
			t.Errorf("%s is missing in %s", want, saved)
		}
	}
	b.click("#actions .danger")
	b.click("#actions .danger")
	b.wait(`location.pathname === "/functions" && document.querySelector("#functions .nothing")`)
	b.expect("404")
	b.visit("/functions/greet")
	b.wait(`document.querySelector("#trouble").textContent === "There is no function greet."`)
}

// A person runs a function with an input, a version of it and one that fails.
func TestFunctionIsRun(t *testing.T) {
	t.Parallel()
	source := axe(t)
	s := serve(t)
	s.save(t, 201, "greet", `{"code": "export default ({ name }) => 'Hello, ' + name"}`)
	s.save(t, 201, "greet", `{"code": "export default ({ name }) => { console.log('for', name); return { hi: name } }"}`)
	b := s.open(t, "/functions/greet")
	b.bypassPolicy()
	b.visit("/functions/greet")
	b.wait(`document.querySelector("#run-version").value === "alias latest"`)
	b.typed("#run-input", `{"name": `)
	b.click("#run .primary")
	b.wait(`document.querySelector("#run-input").validationMessage.startsWith("This is not JSON")`)
	b.typed("#run-input", `"Ada"}`)
	if text := b.text("#run"); !strings.Contains(text, "Ctrl+Enter (or ⌘ Enter) runs it.") {
		t.Errorf("the form says %q", text)
	}
	in(b, chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl)))
	b.wait(`document.querySelector("#ran .value")?.textContent.includes('"hi": "Ada"') &&
		document.querySelector("#ran .printed").textContent === "for Ada" &&
		document.querySelectorAll("#runs a").length === 1`)
	for width, theme := range map[int64]string{1440: "light", 360: "dark"} {
		b.look(width, 900, theme)
		b.accessible(source, "/functions/greet "+theme)
		b.fits("/functions/greet " + theme)
		b.screenshot(fmt.Sprintf("function-run-%d-%s", width, theme))
	}
	b.look(1440, 900, "light")
	eval[bool](b, `(document.querySelector("#run-version").value = "version 1") !== ""`)
	b.click("#run .primary")
	b.wait(`document.querySelector("#ran .value")?.textContent === '"Hello, Ada"' &&
		!document.querySelector("#run .primary").disabled`)
	eval[bool](b, `(document.querySelector("#run-input").value = "") === ""`)
	b.click("#run .primary")
	b.wait(`document.querySelector("#ran .refused")?.textContent.includes("TypeError") &&
		document.querySelector("#run-version").value === "version 1"`)
}

// The deliveries of a webhook are listed, and one is delivered again.
func TestDeliveries(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.save(t, 201, "push", `{"code": "export default (e) => ({ status: 202, body: String(e.body.n) })",
		"hook": {"scheme": "none"}}`)
	s.request(t, 202, "POST", "/hooks/push", `{"n": 7}`)
	b := s.open(t, "/functions/push")
	b.wait(`document.querySelector("#hook").textContent.includes("/hooks/push")`)
	b.wait(`document.querySelector("#runs button")`)
	if n := eval[int](b, `(() => {
		const real = fetch, button = document.querySelector("#runs button");
		let asked = 0;
		window.fetch = (...a) => (asked++, real(...a));
		button.focus();
		button.click();
		button.click();
		return asked;
	})()`); n != 1 {
		t.Errorf("two clicks delivered it %d times", n)
	}
	b.wait(`document.querySelector("#redelivered")?.textContent.includes("answered 202") &&
		document.querySelectorAll("#runs tr").length === 2`)
	b.wait(`document.activeElement.id === "redelivered"`)
}

// A visitor without a scope reads what is missing, and sees no control that would be refused.
func TestFunctionsByScope(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	s.credential = s.token(t, "acme", "functions")
	s.save(t, 201, "greet", `{"code": "export default () => 1"}`)
	b := s.loggedIn(t, s.token(t, "acme", "execute"), "/functions/greet")
	b.wait(`!document.querySelector("#readonly").hidden &&
		document.querySelector("#runs").textContent.includes("audit:read")`)
	if n := eval[int](b, `document.querySelectorAll("main form:not(#run), main .danger").length`); n != 0 {
		t.Errorf("there are %d controls that change the function", n)
	}
	b = s.loggedIn(t, s.token(t, "acme", "audit:read"), "/functions")
	b.expect("403")
	b.wait(`document.querySelector("#trouble").textContent ===
		"This page needs a credential with the scope execute."`)
	b.visit("/sessions")
	b.wait(`!document.querySelector("#trouble").hidden && document.querySelector("#new").hidden`)
}

func TestFunctionsAccessible(t *testing.T) {
	t.Parallel()
	source := axe(t)
	s := serve(t)
	for i := range 3 {
		s.save(t, 201, "nightly-report", fmt.Sprintf(
			`{"code": "export default async (input) => {\n  return %d;\n}", "schedule": "0 %d * * *"}`, i, i))
	}
	s.save(t, 201, "github-push", `{"code": "export default (e) => e.body", "hook": {"scheme": "none"}}`)
	long := strings.Repeat("long_name", 7)
	s.save(t, 201, long, `{"code": "1"}`)
	s.request(t, 200, "POST", "/hooks/github-push", `{"n": 7}`)
	b := s.open(t, "/functions")
	b.bypassPolicy()
	for width, theme := range map[int64]string{1440: "light", 360: "dark"} {
		b.look(width, 900, theme)
		for name, path := range map[string]string{
			"functions": "/functions", "function": "/functions/nightly-report", "hook": "/functions/github-push",
			"function-long": "/functions/" + long,
		} {
			b.visit(path)
			b.wait(`document.querySelector("#functions a, #versions tr") && !document.body.textContent.includes("Loading …")`)
			if name == "function" {
				b.click("#versions tr:nth-child(3) button")
				b.wait(`document.querySelector("#diff pre")`)
			}
			b.accessible(source, path+" "+theme)
			b.fits(path + " " + theme)
			if name == "functions" {
				b.wait(`(t => t.scrollWidth <= t.parentElement.clientWidth)(document.querySelector("main table"))`)
			}
			b.screenshot(fmt.Sprintf("%s-%d-%s", name, width, theme))
		}
	}
}

// A webhook is added, changed and removed in the browser. Its secret is written and not shown again, and its function
// keeps its schedule.
func TestHookIsEdited(t *testing.T) {
	t.Parallel()
	source := axe(t)
	s := serve(t)
	s.save(t, 201, "edited", `{"code": "export default (e) => e.body", "schedule": "0 9 * * 1-5"}`)
	b := s.open(t, "/functions/edited")
	b.bypassPolicy()
	b.visit("/functions/edited")
	b.wait(`document.querySelector("#hook-form [type=submit]").textContent === "Add"`)
	const choose = `(s => { s.value = "%s"; s.dispatchEvent(new Event("change")); return true })(` +
		`document.querySelector("#hook-form select"))`
	eval[bool](b, fmt.Sprintf(choose, "github"))
	b.typed("#hook-form [type=password]", "a-secret-of-twenty-bytes")
	b.click("#hook-form [type=submit]")
	b.wait(`document.querySelector("#told").textContent === "The webhook is saved." &&
		document.querySelector("#hook").textContent.includes("/hooks/edited")`)
	b.wait(`document.querySelector("#hook-form [type=password]").value === "" &&
		document.querySelector("#hook-form [type=password]").placeholder === "unchanged"`)
	b.click("#hook-form [type=checkbox]")
	b.click("#hook-form [type=submit]")
	b.wait(`document.querySelector("#hook").textContent.includes("202 at once")`)
	for width, theme := range map[int64]string{1440: "light", 360: "dark"} {
		b.look(width, 900, theme)
		b.accessible(source, "/functions/edited "+theme)
		b.fits("/functions/edited " + theme)
		b.screenshot(fmt.Sprintf("hook-%d-%s", width, theme))
	}
	b.look(1440, 900, "light")
	b.click("#schedule-form [type=submit]")
	b.wait(`document.querySelector("#told").textContent === "The schedule is saved." &&
		document.querySelector("#hook").textContent.includes("set")`)
	b.click("#hook-form .danger")
	b.wait(`document.querySelector("#hook-form [type=submit]").textContent === "Add" &&
		document.querySelector("#schedule").textContent.includes("0 9 * * 1-5")`)
}
