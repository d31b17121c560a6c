package browser_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// markup is text that would run if it were taken for markup.
const markup = `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script><svg onload="window.pwned=1">`

// Whatever a guest prints, returns or throws, and whatever a link contains, is shown as text.
func TestPlaygroundHostile(t *testing.T) {
	t.Parallel()
	s := serve(t)
	editors(t, func(t *testing.T, query string) {
		b := s.playground(t, query)
		harmless := func(what, selector string) {
			t.Helper()
			if text := b.text(selector); !strings.Contains(text, "<img src=x onerror=") {
				t.Errorf("%s: shown as %q", what, text)
			}
			if eval[bool](b.tab,
				`window.pwned !== undefined || document.querySelector("main img, main script, main svg") !== null`) {
				t.Errorf("%s became markup", what)
			}
		}
		quoted := quote(markup)
		b.write("const evil = " + quoted + ";\nfor (const level of ['log', 'info', 'debug', 'warn', 'error']) " +
			"console[level](evil);\n({ [evil]: evil })")
		b.click("#run")
		b.ended("completed")
		harmless("a log", "#output")
		harmless("a result", "#result")
		b.write("throw Object.assign(new Error(" + quoted + "), { name: " + quoted + ", stack: " + quoted + " })")
		b.click("#run")
		b.ended("error")
		harmless("an error", "#failure")
		b.write("require(" + quoted + ")")
		b.wait(`document.querySelector("#findings li") !== null`)
		harmless("a finding", "#findings")
		request := map[string]any{"code": "'" + markup + "'", "policy": markup, "language": markup, "timeout": markup,
			"memory": markup, "limits": markup, "input": markup}
		body, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		eval[bool](b.tab,
			`(async () => { const { encode } = await import("/assets/playground/share.js"); `+
				`location.hash = await encode(`+string(body)+`); return true; })()`)
		b.wait(`document.querySelector("#policy").value.includes("onerror")`)
		harmless("a policy", "#policy")
		if got := eval[string](b.tab,
			`document.querySelector("#language").value + document.querySelector("#timeout").value`); got != "javascript" {
			t.Errorf("a link set %q", got)
		}
		b.expect("400") // there is no such policy
		b.click("#run")
		b.wait(`!document.querySelector("#failure").hidden`)
		if said := b.text("#failure"); !strings.Contains(said, "policy") {
			t.Errorf("it says %q", said)
		}
		b.click("#copy")
		harmless("a copy", "#copied")
	})
	if metrics := string(s.request(t, 200, "GET", "/metrics", "")); !strings.Contains(metrics,
		"\nairlock_csp_reports 0\n") {
		t.Error("the policy of the page stopped something")
	}
}

// Each example has its expected outcome in the page.
func TestPlaygroundExamples(t *testing.T) {
	t.Parallel()
	s := serve(t)
	b := s.playground(t, "?editor=plain")
	names := eval[[]string](b.tab, `[...document.querySelectorAll("#example option")].map(o => o.value).filter(Boolean)`)
	if len(names) != 20 {
		t.Fatalf("%d examples: %v", len(names), names)
	}
	for _, name := range names {
		b.pick("#example", name)
		b.wait(`document.querySelector("#note").textContent === document.querySelector("#example").selectedOptions[0].title`)
		b.click("#run")
		b.wait(`["completed", "blocked"].includes(document.querySelector("#state").dataset.state)`)
		kept, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "functions", "examples", name+".out"))
		if err != nil {
			t.Fatal(err)
		}
		printed := eval[string](b.tab,
			`[...document.querySelectorAll("#output .pg-said")].map(l => l.textContent + "\n").join("")`)
		if b.text("#state")[:7] == "Blocked" {
			if first, _, _ := strings.Cut(string(kept), "\n"); "blocked: "+b.text("#failure .pg-message") != first {
				t.Errorf("%s: %q, want %q", name, b.text("#failure"), first)
			}
			continue
		}
		got := printed + "=> " + eval[string](b.tab,
			`JSON.stringify(JSON.parse(document.querySelector("#result").textContent))`) + "\n"
		if got != string(kept) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, kept)
		}
	}
}

// The keyboard reaches everything: out of the editor, along the tabs, and to the list of what code can call.
func TestPlaygroundKeyboard(t *testing.T) {
	t.Parallel()
	s := serve(t)
	editors(t, func(t *testing.T, query string) {
		b := s.playground(t, query)
		inside := `document.activeElement.matches("#editor, #code")`
		b.write("")
		b.press(kb.Tab)
		if query == "" {
			b.wait(inside + ` && ` + content + `.textContent.trim() === "" && ` + content + `.textContent.length > 0`)
			b.press(kb.Escape)
			b.press(kb.Tab)
		}
		b.wait(`!(` + inside + `)`)
		eval[bool](b.tab, `document.querySelector("#tab-findings").focus() ?? true`)
		b.press(kb.ArrowRight)
		b.wait(`document.activeElement.id === "tab-input" && !document.querySelector("#panel-input").hidden && ` +
			`document.querySelector("#panel-findings").hidden`)
		b.press(kb.End)
		b.wait(`document.activeElement.id === "tab-declarations" && !document.querySelector("#panel-declarations").hidden`)
		b.wait(`(document.querySelector(".pg-types").shadowRoot ?? ` +
			`document.querySelector(".pg-types")).textContent.includes("declare const input")`)
		// The shortcut works from any field.
		b.write("'from anywhere'")
		b.click("#tab-input")
		b.typed("#input", "{")
		b.press(kb.Enter, kb.ModifierCtrl)
		b.wait(`document.querySelector("#note").textContent.startsWith("The input is not JSON") && ` +
			`document.activeElement.id === "input"`)
		b.typed("#input", "}")
		b.press(kb.Enter, kb.ModifierCtrl)
		b.ended("completed")
		// A limit is lowered in its field, which also says why a value is refused.
		b.click("#tab-limits")
		b.typed("#outputBytes", "3")
		b.write("for (let n = 0; n < 10; n++) console.log(n)")
		b.click("#run")
		b.ended("error")
		if said := b.text("#failure"); !strings.Contains(said, "output") {
			t.Errorf("it says %q", said)
		}
		b.typed("#timeout", "99999999")
		b.click("#tab-findings")
		b.click("#run")
		b.wait(`document.querySelector("#note").textContent.startsWith("Time, ms: ") && ` +
			`document.activeElement.id === "timeout"`)
		if query != "" {
			return
		}
		b.write("")
		for _, c := range "api" {
			in(b.tab, chromedp.KeyEvent(string(c)))
		}
		ask(b.tab, input.InsertText, input.InsertTextParams{Text: "."})
		b.wait(`document.querySelector("#editor").shadowRoot.querySelector(".cm-tooltip-autocomplete")` +
			`?.textContent.includes("request")`)
	})
}

// The page says so to a visitor who may not run code. A visitor whose session ended finds the code again after a login.
func TestPlaygroundVisitor(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	b := bench{s.open(t, "/playground?editor=plain")}
	b.expect("401")
	b.expect("403")
	logIn := func(scopes string) {
		b.wait(`location.pathname === "/login"`)
		b.typed("#token", s.token(t, "acme", scopes)+"\r")
		b.wait(`location.pathname === "/playground"`)
		b.ready()
	}
	logIn("audit:read")
	if said := b.text("#note"); !strings.Contains(said, "lacks the scope execute") {
		t.Errorf("it says %q", said)
	}
	b.click("#run")
	b.ended("error")
	if said := b.text("#failure"); !strings.Contains(said, "execute") {
		t.Errorf("it says %q", said)
	}
	b.write("'kept through a login'")
	b.wait(`sessionStorage.getItem("playground")?.includes("kept through a login")`)
	// The check of the code while it is written may notice before the run that the session has ended. The page then leaves
	// by itself, and nothing else can be waited for in it.
	eval[bool](b.tab,
		`(void fetch("/logout", { method: "POST" }).then(() => document.querySelector("#run").click()), true)`)
	logIn("execute")
	if code := b.code(); code != "'kept through a login'" {
		t.Errorf("after the login the code is %q", code)
	}
	b.click("#run")
	b.ended("completed")
}

// The page is accessible with a screen reader and a keyboard in each of its states.
func TestPlaygroundAccessible(t *testing.T) {
	t.Parallel()
	source := axe(t)
	s := serve(t)
	editors(t, func(t *testing.T, query string) {
		b := s.playground(t, query)
		for _, theme := range []string{"light", "dark"} {
			b.look(1440, 900, theme)
			b.pick("#example", "quick-run")
			b.wait(`document.querySelector("#note").textContent === document.querySelector("#example").selectedOptions[0].title`)
			b.click("#tab-findings")
			b.accessible(source, theme+", an example")
			b.write("// an error, and findings\nconsole.warn('careful', `${1}`);\nprocess.env.HOME;\nnull.x;")
			b.click("#run")
			b.ended("error")
			b.wait(`document.querySelectorAll("#findings li").length > 0`)
			b.accessible(source, theme+", an error")
			for _, tab := range []string{"input", "limits", "declarations"} {
				b.click("#tab-" + tab)
				b.accessible(source, theme+", "+tab)
			}
			b.write("42")
			b.click("#run")
			b.ended("completed")
			b.accessible(source, theme+", a result")
			b.click("#copy")
			b.accessible(source, theme+", copying")
			b.click("#copying-close")
		}
		b.look(360, 800, "light")
		b.accessible(source, "360 pixels")
	})
}

// Every state of the page in every size and theme.
func TestPlaygroundLooks(t *testing.T) {
	t.Parallel()
	s := serve(t)
	editors(t, func(t *testing.T, query string) {
		b := s.playground(t, query)
		name := "playground" + strings.TrimPrefix(strings.ReplaceAll(query, "?editor=", "-"), "?")
		b.looked(name, func() {})
		b.write("interface Order { id: string; lines: { price: number; count: number }[] }\n\n// Sums up what was " +
			"ordered.\nexport default async function total(order: Order) {\n  console.log('order', order.id);\n  " +
			"console.info(`${order.lines.length} lines`);\n  console.warn('prices are net');\n  const sum = " +
			"order.lines.reduce((sum, { price, count }) => sum + price * count, 0);\n  if (Math.random() < 2) " +
			"console.error('no rate for', null, /x+/g, true);\n  process.env.HOME;\n  return { sum, lines: " +
			"order.missing.length };\n}\n")
		b.pick("#language", "typescript")
		b.click("#tab-input")
		b.typed("#input", `{"id": "A-17", "lines": [{"price": 12.5, "count": 3}]}`)
		b.click("#run")
		b.ended("error")
		b.click("#tab-findings")
		b.wait(`document.querySelector("#findings li") !== null`)
		b.looked(name+"-error", func() {})
		if query != "" {
			return // the rest has no editor in it
		}
		b.pick("#example", "realworld-format-converter")
		b.wait(`document.querySelector("#note").textContent === document.querySelector("#example").selectedOptions[0].title`)
		b.click("#run")
		b.ended("completed")
		b.click("#tab-declarations")
		b.looked(name+"-example", func() {})
		b.click("#tab-limits")
		b.click("#copy")
		b.looked(name+"-copy", func() {})
	})
}
