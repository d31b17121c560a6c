package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// docs opens the page /docs and waits for the operations.
func (s *server) docs(t *testing.T) *tab {
	t.Helper()
	b := s.open(t, "/docs")
	if !eval[bool](b, `document.querySelector("#viewer") !== null`) {
		t.Skip("the viewer is not bundled here; `make build` does that, where an npm registry can be reached")
	}
	b.wait(`document.querySelectorAll(".opblock").length > 30`)
	return b
}

// send sends the prepared request of an operation and returns the status and the body that the page shows.
func send(b *tab, operation string) (status, body string) {
	b.t.Helper()
	block := `document.querySelector(".opblock[id$='-` + operation + `']")`
	eval[bool](b, block+`.querySelector(".opblock-summary-control").click() ?? true`)
	b.wait(block + `.querySelector("button.execute") !== null`)
	eval[bool](b, block+`.querySelector("button.execute").click() ?? true`)
	b.wait(block + `.querySelector(".live-responses-table .response-col_status") !== null`)
	answer := block + `.querySelector(".live-responses-table")`
	status = eval[string](b, answer+`.querySelector(".response td.response-col_status").textContent`)
	return strings.TrimSpace(status), eval[string](b, answer+`.textContent`)
}

// The page sends requests from the description.
func TestDocs(t *testing.T) {
	t.Parallel()
	b := serve(t).docs(t)
	if status, body := send(b, "execute"); status != "200" || !strings.Contains(body, `"status": "completed"`) {
		t.Errorf("%s: %s", status, body)
	}
	// After a reload, whose files are 304s, the page looks as before.
	styled := `[...document.styleSheets].length > 2 && [...document.styleSheets].every(s => s.cssRules.length > 0) &&
		getComputedStyle(document.querySelector(".opblock")).borderRadius !== "0px"`
	b.wait(styled)
	eval[bool](b, `location.reload() ?? true`)
	b.wait(`performance.getEntriesByType("navigation")[0]?.type === "reload" && ` + styled)
	b.click(`nav a[href="/playground"]`)
	b.wait(`location.pathname === "/playground"`)
}

// Anybody may read the description; requests have the rights of the session.
func TestDocsOfAGuardedGateway(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	b := s.docs(t)
	b.expect("401")
	if status, body := send(b, "engines"); status != "401" || !strings.Contains(body, "unauthenticated") {
		t.Errorf("%s: %s", status, body)
	}
	b.click(`header a[href^="/login"]`)
	b.wait(`location.pathname === "/login"`)
	b.typed("#token", s.token(t, "acme", "execute")+"\r")
	b.wait(`location.pathname === "/docs" && document.querySelectorAll(".opblock").length > 30`)
	if status, body := send(b, "engines"); status != "200" || !strings.Contains(body, "quickjs") {
		t.Errorf("%s: %s", status, body)
	}
}

// Whoever uses the keyboard sees where they are.
func TestDocsShowTheFocus(t *testing.T) {
	t.Parallel()
	b := serve(t).docs(t)
	eval[bool](b, `document.querySelector(".operation-filter-input").focus() ?? true`)
	for range 4 {
		if hidden := eval[string](b, `(() => {
			const at = document.activeElement;
			return getComputedStyle(at).outlineStyle === "none" ? at.outerHTML.slice(0, 100) : "";
		})()`); hidden != "" {
			t.Errorf("nothing marks the focus of %s", hidden)
		}
		in(b, chromedp.KeyEvent(kb.Tab))
	}
}

func TestDocsAccessible(t *testing.T) {
	t.Parallel()
	source := axe(t)
	b := serve(t).docs(t)
	b.bypassPolicy()
	b.visit("/docs")
	b.wait(`document.querySelectorAll(".opblock").length > 30`)
	send(b, "execute")
	for _, theme := range []string{"light", "dark"} {
		b.look(1440, 900, theme)
		b.accessible(source, "/docs "+theme)
	}
	b.look(360, 800, "light")
	b.accessible(source, "/docs, 360 pixels")
}
