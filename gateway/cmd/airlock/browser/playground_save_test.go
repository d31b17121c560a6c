package browser_test

import (
	"strings"
	"testing"
)

// Code of the playground is saved as a function, opened from its page and saved as its next version, which keeps what
// the playground does not show.
func TestPlaygroundSaves(t *testing.T) {
	t.Parallel()
	source := axe(t)
	s := serve(t)
	s.save(t, 201, "greet", `{"code": "export default () => 'one'", "env": {"A": "b"}, "schedule": "0 9 * * *"}`)
	s.save(t, 201, "hooked", `{"code": "export default () => 1", "hook": {"scheme": "github",
		"secret": "a-secret-of-twenty-bytes", "headers": ["X-Kind"]}}`)
	b := s.open(t, "/functions/greet")
	b.bypassPolicy()
	b.click("#actions button")
	b.wait(`location.pathname === "/playground" && document.body.dataset.ready === "true"`)
	b.click("#save")
	b.wait(`document.querySelector("#saving").open && document.querySelector("#function-name").value === "greet"`)
	b.accessible(source, "the dialog")
	b.screenshot("playground-save")
	b.click("#saving-save")
	b.wait(`document.querySelector("#saving-note a")`)
	if note := b.text("#saving-note"); note != "Saved as version 2 of greet." {
		t.Errorf("the page says %q", note)
	}
	saved := string(s.request(t, 200, "GET", "/api/functions/greet", ""))
	for _, want := range []string{`"code":"export default () => 'one'"`, `"env":{"A":"b"}`, `"cron":"0 9 * * *"`} {
		if !strings.Contains(saved, want) {
			t.Errorf("%s is missing in %s", want, saved)
		}
	}
	eval[bool](b, `(document.querySelector("#function-name").value = "hooked") !== ""`)
	b.click("#saving-save")
	b.wait(`document.querySelector("#saving-note").textContent.includes("Saved as version 2 of hooked.")`)
	kept := `fetch("/api/functions/hooked/hook").then(r => r.json()).then(h => ` +
		`h.scheme + " " + h.secretSet + " " + h.headers)`
	if got := eval[string](b, kept); got != "github true X-Kind" {
		t.Errorf("the webhook is %q after saving", got)
	}
	eval[bool](b, `(document.querySelector("#function-name").value = "another") !== ""`)
	b.expect("404")
	b.click("#saving-save")
	b.wait(`document.querySelector('#saving-note a[href="/functions/another"]')`)
}
