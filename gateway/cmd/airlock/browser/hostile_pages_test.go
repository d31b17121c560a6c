package browser_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/airlock-run/airlock/infra/packages/registrytest"
)

// inert checks what harmless checks of a page, and that nothing of it leads elsewhere: no link, form or source has
// another scheme or, but for documentation, another host.
func (b *tab) inert(name string) {
	b.t.Helper()
	b.harmless(name)
	for _, away := range eval[[]string](b, `[...document.querySelectorAll("[href], [src], [action], [formaction]")]
		.flatMap((e) => ["href", "src", "action", "formaction"].map((a) => e.getAttribute(a)).filter((u) => u !== null))
		.filter((u) => new URL(u, location).origin !== location.origin)`) {
		b.t.Errorf("%s leads to %s", name, away)
	}
	if bad := eval[[]string](b, `[...document.querySelectorAll("*")].flatMap((e) => [...e.attributes])
		.filter((a) => a.name.startsWith("on") || a.name === "srcdoc").map((a) => a.name)`); len(bad) > 0 {
		b.t.Errorf("%s has the attributes %v", name, bad)
	}
}

// watched makes a tab fail if a script of a text runs, a dialog opens, or a request leaves for another host.
func (b *tab) watched() {
	b.t.Helper()
	var mu sync.Mutex
	chromedp.Listen(b.ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if u := e.Request.URL; !strings.HasPrefix(u, b.url+"/") && !strings.HasPrefix(u, "data:") &&
				!strings.HasPrefix(u, "blob:") {
				b.t.Errorf("a request goes to %.100s", u)
			}
		case *page.EventJavascriptDialogOpening:
			b.t.Errorf("a dialog says %s", e.Message)
		}
	})
	ask(b, network.Enable, network.EnableParams{})
}

// Whatever anybody stores, every page shows it as text.
func TestHostileTextOnEveryPage(t *testing.T) {
	t.Parallel()
	r := registrytest.New(t)
	r.Publish(t, "plain", "1.2.3", "index.js", "module.exports = 1")
	folder := filepath.Join(t.TempDir(), "packages")
	s := serve(t)
	add := exec.Command(program, "packages", "add", "plain@1")
	add.Env = append(s.env, "npm_config_registry="+r.URL, "AIRLOCK_PACKAGES="+folder)
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s = serve(t, "AIRLOCK_PACKAGES="+folder)
	text := quote(hostile)
	body := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	link := "javascript:window.stung=1//" + hostile
	first := map[string]any{"code": "// " + scripts + "\nexport default () => " + text + ";",
		"env": map[string]any{"A": hostile}, "context": map[string]any{"a": link}}
	second := map[string]any{"files": map[string]any{
		"main.js": "// " + scripts + "\nconsole.log(" + text + ");\nthrow Object.assign(new Error(" + text +
			"), { name: " + text + " })",
		"<img src=x onerror=stung>.js": "// " + hostile,
	}, "entry": "main.js", "env": map[string]any{"A": link}}
	s.save(t, 201, "f", body(first))
	s.save(t, 201, "f", body(second))
	s.request(t, 200, "PUT", "/api/functions/f/hook", `{"scheme":"none"}`)
	s.request(t, 200, "POST", "/api/functions/f/invoke", `{}`)
	for _, code := range []string{
		"return await airlock.approve({ title: " + text + ", detail: " + quote(link) + ", schema: { type: 'object', title: " +
			text + ", description: " + text + ", properties: { [" + text + "]: { description: " + text + ", default: " + text +
			" } }, required: [" + text + "] } })",
		"// " + scripts + "\nreturn await airlock.waitForEvent('e', { timeout: '7 days' })",
	} {
		s.pause(t, code)
	}
	b := s.open(t, "/functions")
	b.watched()
	b.visit("/functions/f")
	b.wait(`document.querySelectorAll("#versions tr").length === 2 && document.querySelectorAll("#runs a").length === 1`)
	b.inert("the function")
	b.click("#versions tr:nth-child(2) button")
	b.wait(`document.querySelector("#diff pre")`)
	b.inert("the difference")
	b.click("#run button")
	b.wait(`document.querySelector("#ran .ran")`)
	b.inert("the run")
	b.visit("/approvals")
	b.wait(`document.querySelectorAll("#paused li.card").length === 2`)
	for n := range 2 {
		eval[bool](b, `(document.querySelectorAll("#paused details summary")[`+string(rune('0'+n))+`].click(), true)`)
	}
	b.wait(`document.querySelectorAll("#paused details pre").length === 2`)
	b.inert("the approvals")
	b.visit("/sessions")
	b.wait(`document.querySelector("#policy").value === "standard"`)
	b.click("#new button")
	b.wait(`!document.querySelector("#session").hidden`)
	eval[bool](b, `(document.querySelector("#code").value = `+quote("console.log("+text+"); throw "+text)+`, true)`)
	b.click("#step .primary")
	b.wait(`document.querySelectorAll("#steps > li").length === 1`)
	b.inert("the session")
	b.visit("/packages")
	b.wait(`document.querySelectorAll("#packages tr").length === 1`)
	b.visit("/dashboard?window=15m")
	b.wait(ready + ` && document.querySelectorAll("#executions a").length > 1`)
	b.inert("the dashboard")
	b.visit("/security?window=15m")
	b.wait(ready)
	b.visit("/playground")
	b.wait(`document.querySelector("#run")`)
	for _, path := range []string{
		"/functions/" + "%3Cimg%20src=x%20onerror=%22window.stung=1%22%3E", "/dashboard/execution/%3Cscript%3E",
		"/sessions?session=%22%3E%3Cscript%3Ewindow.stung=1%3C/script%3E", "/login?next=javascript:window.stung=1",
		"/login?next=//evil.example/", "/dashboard?function=%3Cimg%20src=x%20onerror=window.stung=1%3E",
	} {
		b.expect("40") // the gateway refuses what the address names
		b.visit(path)
		b.wait(`document.readyState === "complete"`)
		if eval[bool](b, `"stung" in window || document.querySelector("img[src=x]") !== null`) {
			t.Errorf("%s: a script ran", path)
		}
	}
	if reports := s.request(t, 200, "GET", "/metrics", ""); !strings.Contains(string(reports),
		"\nairlock_csp_reports 0\n") {
		t.Error("a page was stopped by its policy")
	}
	if _, err := os.Stat(folder); err != nil {
		t.Error(err)
	}
}
