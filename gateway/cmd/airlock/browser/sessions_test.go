package browser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A person begins a session, runs steps that see one another's declarations, forks it and deletes it.
func TestSessions(t *testing.T) {
	t.Parallel()
	source := axe(t)
	s := serve(t)
	b := s.open(t, "/sessions")
	b.bypassPolicy()
	b.wait(`document.querySelector("#sessions").textContent.startsWith("You have no sessions.") &&
		document.querySelector("#policy").value === "standard"`)
	b.click("#new button")
	b.wait(`!document.querySelector("#session").hidden && document.querySelectorAll("#sessions button").length === 3`)
	for i, step := range []string{"const answer = 6 * 7; console.log('\\u202e')", "answer + 1", "throw new Error('no')"} {
		b.typed("#code", step)
		b.click("#step .primary")
		b.wait(fmt.Sprintf(`document.querySelectorAll("#steps > li").length === %d &&
			!document.querySelector("#step .primary").disabled`, i+1))
		if i < 2 {
			b.wait(`document.querySelector("#code").value === ""`)
		}
	}
	text := b.text("#steps")
	for _, want := range []string{`\u{202e}`, "43", "Error: no"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %q", want, text)
		}
	}
	b.click("#sessions button:nth-child(2)")
	b.wait(`document.querySelectorAll("#sessions tr").length === 2 &&
		document.querySelector("#told").textContent.includes("is a copy of")`)
	for width, theme := range map[int64]string{1440: "light", 360: "dark"} {
		b.look(width, 900, theme)
		b.accessible(source, "/sessions "+theme)
		b.fits("/sessions " + theme)
		b.screenshot(fmt.Sprintf("sessions-%d-%s", width, theme))
	}
	b.look(1440, 900, "light")
	b.click("#sessions .danger")
	b.wait(`document.querySelectorAll("#sessions tr").length === 1`)
	b.click("#sessions .danger")
	b.wait(`document.querySelector("#sessions .nothing")`)
}

// The open session is in the address of the page: reloading and the history keep it.
func TestSessionIsInTheAddress(t *testing.T) {
	t.Parallel()
	s := serve(t)
	b := s.open(t, "/sessions")
	b.wait(`document.querySelector("#policy").value !== ""`)
	b.click("#new button")
	b.wait(`location.search.startsWith("?session=") && !document.querySelector("#session").hidden`)
	b.typed("#code", "const answer = 42")
	in(b, chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(kb.ModifierCtrl)))
	b.wait(`document.querySelectorAll("#steps > li").length === 1`)
	b.visit(b.path())
	b.wait(`!document.querySelector("#session").hidden &&
		document.querySelector("#before").textContent.startsWith("One step ran before")`)
	b.typed("#code", "answer")
	b.click("#step .primary")
	b.wait(`document.querySelector("#steps").textContent.includes("42")`)
	b.click("#close")
	b.wait(`location.search === "" && document.querySelector("#session").hidden &&
		document.activeElement.id === "h-sessions"`)
	eval[bool](b, `history.back() ?? true`)
	b.wait(`location.search !== "" && !document.querySelector("#session").hidden`)
	b.expect("404")
	b.visit("/sessions?session=sess_01JD5Z6Q8V0000000000000001")
	b.wait(`document.querySelector("#before").textContent.startsWith("There is no such session.") &&
		document.querySelector("#step").hidden`)
}

// If the gateway does not respond, a page says so, and drafts stay.
func TestGatewayIsAway(t *testing.T) {
	t.Parallel()
	s := serve(t)
	b := s.open(t, "/sessions")
	b.click("#new button")
	b.wait(`!document.querySelector("#session").hidden`)
	b.typed("#code", "1 + 1")
	eval[bool](b, `(window.online = fetch, window.fetch = async () => { throw new TypeError("Failed to fetch") }, true)`)
	b.click("#step .primary")
	b.wait(`document.querySelector("#step .refused")?.textContent === "the gateway cannot be reached" &&
		document.querySelector("#code").value === "1 + 1"`)
	eval[bool](b, `(window.fetch = online, true)`)
	b.click("#step .primary")
	b.wait(`document.querySelectorAll("#steps > li").length === 1 && !document.querySelector("#step .refused")`)
}
