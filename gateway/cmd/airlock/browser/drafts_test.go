package browser_test

import "testing"

// expire ends the login of a tab and then clicks. A page that reads its list in between notices before the click, and
// leaves by itself, so nothing else can be waited for in it.
func (b *tab) expire(selector string) {
	b.t.Helper()
	eval[bool](b, `(void fetch("/logout", {method: "POST", redirect: "manual"})
		.then(() => document.querySelector(`+quote(selector)+`).click()), true)`)
}

// A visitor's draft stays while they log in again, and another visitor of the same tab does not see it.
func TestDraftsSurviveTheLogin(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	id := s.pause(t, "return await airlock.approve({ title: 'How many?', schema: { type: 'number' } })")
	b := s.loggedIn(t, key, "/approvals")
	b.typed("#paused textarea", "21")
	b.typed("#paused input", "three weeks")
	b.expire("#paused .primary")
	b.wait(`location.pathname === "/login"`)
	b.typed("#token", key+"\r")
	b.wait(`document.querySelector("#paused textarea")?.value === "21" &&
		document.querySelector("#paused input").value === "three weeks"`)
	b.click("#paused .primary")
	b.wait(`document.querySelector("#told").textContent.includes("` + id + `")`)

	b.visit("/sessions")
	b.wait(`document.querySelector("#policy").value !== ""`)
	b.click("#new button")
	b.wait(`!document.querySelector("#session").hidden`)
	b.typed("#code", "const kept = 1")
	path := b.path()
	b.expire("#step .primary")
	b.wait(`location.pathname === "/login"`)
	b.typed("#token", key+"\r")
	b.wait(`document.querySelector("#code")?.value === "const kept = 1" && !document.querySelector("#session").hidden`)
	if now := b.path(); now != path {
		t.Errorf("the login led to %s, not to %s", now, path)
	}
	b.expire("#step .primary")
	b.wait(`location.pathname === "/login"`)
	b.typed("#token", s.token(t, "acme", "execute")+"\r")
	b.expect("404")
	b.wait(`document.querySelector("#before")?.textContent.startsWith("There is no such session.")`)
	if text := eval[string](b, `document.querySelector("#code").value + sessionStorage.getItem("airlock-drafts")`); text !=
		"null" {
		t.Errorf("another visitor finds %q", text)
	}
}
