package browser_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// bench is the playground in a tab.
type bench struct{ *tab }

// content selects the text input: CodeMirror's, or the text area.
const content = `(document.querySelector("#editor").shadowRoot?.querySelector(".cm-content") ?? ` +
	`document.querySelector("#code"))`

// editors runs a test with the bundled editor and with the plain one.
func editors(t *testing.T, test func(t *testing.T, query string)) {
	t.Helper()
	for name, query := range map[string]string{"bundled": "", "plain": "?editor=plain"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, query)
		})
	}
}

// playground opens the page and waits until it is ready.
func (s *server) playground(t *testing.T, query string) bench {
	t.Helper()
	b := bench{s.open(t, "/playground"+query)}
	b.ready()
	if query == "" && !eval[bool](b.tab, `document.querySelector("#playground").dataset.bundled === "true"`) {
		t.Skip("the editor is not bundled here; `make build` does that, where an npm registry can be reached")
	}
	return b
}

func (b bench) ready() {
	b.t.Helper()
	b.wait(`document.body.dataset.ready === "true"`)
}

// write replaces the code, like a person who selects all and pastes.
func (b bench) write(code string) {
	b.t.Helper()
	b.focus()
	in(b.tab, chromedp.KeyEvent("a", chromedp.KeyModifiers(kb.ModifierCtrl)))
	ask(b.tab, input.InsertText, input.InsertTextParams{Text: code})
}

func (b bench) focus() {
	b.t.Helper()
	eval[bool](b.tab, content+`.focus() ?? true`)
}

// press presses a key with modifiers.
func (b bench) press(key string, modifiers ...kb.Modifier) {
	b.t.Helper()
	in(b.tab, chromedp.KeyEvent(key, chromedp.KeyModifiers(modifiers...)))
}

// ended waits for a state of the run.
func (b bench) ended(state string) {
	b.t.Helper()
	b.wait(`document.querySelector("#state").dataset.state === ` + quote(state))
}

func (b bench) code() string {
	b.t.Helper()
	return eval[string](b.tab,
		content+`.value ?? [...`+content+`.querySelectorAll(".cm-line")].map(l => l.textContent).join("\n")`)
}

// A person types code, runs it with the keyboard, and sees its output, its result and its usage.
func TestPlayground(t *testing.T) {
	t.Parallel()
	s := serve(t)
	editors(t, func(t *testing.T, query string) {
		b := s.playground(t, query)
		b.write("console.log('hello', input);\nconsole.warn('careful');\n6 * 7")
		b.click("#tab-input")
		b.typed("#input", `"you"`)
		b.focus()
		b.press(kb.Enter, kb.ModifierCtrl)
		b.ended("completed")
		if got := b.text("#output"); got != "hello you\nwarning\ncareful" {
			t.Errorf("printed %q", got)
		}
		if got := b.text("#result"); got != "42" {
			t.Errorf("gives %q", got)
		}
		if code := b.code(); !strings.HasSuffix(code, "6 * 7") {
			t.Errorf("the shortcut changed the code: %q", code)
		}
		if used := b.text("#meters"); !strings.Contains(used, "of 15") || !strings.Contains(used, "of 64 MB") ||
			!strings.Contains(used, "2 of 100") {
			t.Errorf("used %q", used)
		}
	})
}

// Output appears while the guest runs. A run that is stopped keeps its output and has a record.
func TestPlaygroundLive(t *testing.T) {
	t.Parallel()
	s := serve(t)
	editors(t, func(t *testing.T, query string) {
		b := s.playground(t, query)
		b.write("console.log('begun');\nfor (let n = 1; ; n++) { await new Promise(done => setTimeout(done, 50)); if (n % " +
			"2) console.log(n); }")
		b.click("#run")
		b.wait(`document.querySelector("#output").innerText.includes("begun\n1\n3")`)
		if state := b.text("#state"); state != "Running" {
			t.Errorf("it prints while it is %q", state)
		}
		if eval[bool](b.tab, `!document.querySelector("#run").disabled || !document.querySelector("#usage").hidden`) {
			t.Error("one can run twice at once, or it is said to have ended")
		}
		b.click("#stop")
		b.ended("cancelled")
		b.wait(`!document.querySelector("#record").hidden`)
		id := eval[string](b.tab, `document.querySelector("#record").title`)
		var record struct{ Status string }
		if err := json.Unmarshal(s.request(t, 200, "GET", "/api/audit/execution/"+id, ""), &record); err != nil ||
			record.Status != "cancelled" {
			t.Errorf("the record says %q, %v", record.Status, err)
		}
		if got := b.text("#output"); !strings.HasPrefix(got, "begun\n1\n3") {
			t.Errorf("what was printed is gone: %q", got)
		}
		// The next run succeeds.
		b.write("'again'")
		b.click("#run")
		b.ended("completed")
		if got := b.text("#result"); got != `"again"` {
			t.Errorf("gives %q", got)
		}
	})
}

// What did not run has no time and no usage, and what waits names the page where it is decided about.
func TestPlaygroundEndings(t *testing.T) {
	t.Parallel()
	s := serve(t)
	b := s.playground(t, "")
	b.write("require('child_process').execSync('id')")
	b.click("#run")
	b.ended("blocked")
	if got := b.text("#state"); got != "Blocked" {
		t.Errorf("blocked code has the state %q", got)
	}
	if got := b.text("#output"); got != "Nothing ran." {
		t.Errorf("blocked code has the output %q", got)
	}
	if eval[bool](b.tab, `!document.querySelector("#usage").hidden`) {
		t.Error("blocked code has a usage")
	}
	b.write("return await airlock.approve({title: 'Delete it?'})")
	b.look(390, 844, "light")
	b.click("#run")
	b.ended("paused")
	if got := b.text("#state"); got != "Waiting" {
		t.Errorf("code that waits has the state %q", got)
	}
	if got := b.text(`#output a[href="/approvals"]`); got != "Approvals" {
		t.Errorf("code that waits links to %q", got)
	}
	if eval[bool](b.tab, `!document.querySelector("#failure").hidden`) {
		t.Error("code that waits is shown as a failure")
	}
	b.wait(`scrollY + innerHeight >= document.documentElement.scrollHeight - 1 ||
		Math.abs(document.querySelector("#state").getBoundingClientRect().top) < 100`)
	b.visit("/dashboard/execution/" + eval[string](b.tab, `document.querySelector("#record").title`))
	if got := b.text(`#result a[href="/approvals"]`); got != "Approvals" {
		t.Errorf("the page of code that waits links to %q", got)
	}
	b.visit("/playground")
	b.ready()
	for _, want := range []string{"Completed in ", "Completed, the result of an earlier run"} {
		b.write("6 * 7")
		b.click("#run")
		b.wait(`document.querySelector("#state").textContent.startsWith(` + quote(want) + `)`)
	}
}

// On a phone, findings that arrive leave the output where it is.
func TestFindingsLeaveTheOutput(t *testing.T) {
	t.Parallel()
	s := serve(t)
	b := s.playground(t, "")
	b.look(390, 844, "light")
	const top = `document.querySelector("#output").getBoundingClientRect().top + scrollY`
	before := eval[float64](b.tab, top)
	b.write(strings.Repeat("require('child_process').execSync('id');\n", 12))
	b.wait(`document.querySelectorAll("#findings li").length > 5`)
	if after := eval[float64](b.tab, top); after != before {
		t.Errorf("the output moved from %v to %v", before, after)
	}
}

// An error is shown at its line, which one click goes to, in TypeScript too; it is gone with the next change.
func TestPlaygroundError(t *testing.T) {
	t.Parallel()
	s := serve(t)
	editors(t, func(t *testing.T, query string) {
		b := s.playground(t, query)
		b.pick("#language", "typescript")
		b.write("interface Point { x: number }\nconst where: Point | null = " +
			"null;\nconsole.log('before');\nconsole.log(where!.x);\n")
		b.click("#run")
		b.ended("error")
		if said := b.text("#failure"); !strings.Contains(said, "TypeError") || !strings.Contains(said, "Go to line 4") {
			t.Errorf("it says %q", said)
		}
		if got := b.text("#output"); got != "before" {
			t.Errorf("printed %q", got)
		}
		b.wait(b.markAt(4, "error"))
		b.click("#failure button")
		b.wait(`document.activeElement.closest?.("#editor") || document.activeElement.id === "code"`)
		if line := b.caret(); line != 4 {
			t.Errorf("it leads to line %d", line)
		}
		in(b.tab, chromedp.KeyEvent(";"))
		b.wait("!(" + b.markAt(4, "error") + ")")
	})
}

// markAt is an expression: the line has a mark.
func (b bench) markAt(line int, severity string) string {
	return fmt.Sprintf(`(() => {
		const root = document.querySelector("#editor").shadowRoot;
		if (!root) return document.querySelectorAll(".pg-numbers span")[%[1]d - 1]?.dataset.severity === %[2]q;
		return [...root.querySelectorAll(".cm-line")][%[1]d - 1]?.querySelector(".cm-lintRange-" + %[2]q) != null &&
			root.querySelector(".cm-lint-marker-" + %[2]q) != null;
	})()`, line, severity)
}

// caret is the line that the caret is in.
func (b bench) caret() int {
	b.t.Helper()
	return eval[int](b.tab, `(() => {
		const root = document.querySelector("#editor").shadowRoot;
		if (!root) {
			const e = document.querySelector("#code");
			return e.value.slice(0, e.selectionStart).split("\n").length;
		}
		return [...root.querySelectorAll(".cm-line")].findIndex(l => l.classList.contains("cm-activeLine")) + 1;
	})()`)
}

// Findings of the policy are shown while one types: as a mark, in the list, and as the decision on a run.
func TestPlaygroundFindings(t *testing.T) {
	t.Parallel()
	s := serve(t)
	editors(t, func(t *testing.T, query string) {
		b := s.playground(t, query)
		b.write("")
		for _, key := range `eval("1")` {
			in(b.tab, chromedp.KeyEvent(string(key)))
		}
		b.wait(`document.querySelector("#verdict").innerText === "Blocked under standard"`)
		b.wait(b.markAt(1, "error"))
		if list := b.text("#findings"); !strings.Contains(list, "critical") || !strings.Contains(list, "code injection") ||
			!strings.Contains(list, "1:1") {
			t.Errorf("the list has %q", list)
		}
		if n := b.text("#count"); n != "1" {
			t.Errorf("%s findings", n)
		}
		b.pick("#policy", "extended")
		b.wait(`document.querySelector("#verdict").innerText === "May run under extended"`)
		b.write("const a = 1;\nconst a = 2;")
		b.wait(`document.querySelector("#verdict").innerText === "Line 2: does not parse"`)
		b.wait(b.markAt(2, "error"))
		b.write("1 + 1")
		b.wait(`document.querySelector("#verdict").innerText === "May run under extended" && ` +
			`document.querySelector("#findings").children.length === 0`)
		b.wait("!(" + b.markAt(1, "error") + ")")
		if text := string(s.request(t, 200, "GET", "/api/audit/executions", "")); !strings.Contains(text, `"items":[]`) {
			t.Errorf("looking at code ran something: %s", text)
		}
	})
}

// pick chooses an option, like a person who uses the list.
func (b bench) pick(selector, value string) {
	b.t.Helper()
	eval[bool](b.tab,
		`(() => { const e = document.querySelector(`+quote(selector)+`); e.value = `+quote(value)+`; return `+
			`e.dispatchEvent(new Event("change", { bubbles: true })); })()`)
}

// Analyses have a limit of their own, so that all requests of a minute are left for runs.
func TestPlaygroundSparesRequests(t *testing.T) {
	t.Parallel()
	s := serve(t, "RATE_LIMIT_MAX_REQUESTS=4") // and ten times as many analyses
	b := s.playground(t, "?editor=plain")
	for n := range 45 {
		b.write(fmt.Sprintf("const n%d = 1;", n))
		b.wait(`["good", "waiting"].includes(document.querySelector("#verdict").dataset.state)`)
		if eval[string](b.tab, `document.querySelector("#verdict").dataset.state`) == "waiting" {
			break
		}
		b.wait(`(document.querySelector("#verdict").dataset.state = "none") === "none"`)
	}
	if said := b.text("#verdict"); !strings.HasPrefix(said, "Checked again in ") {
		t.Errorf("it says %q", said)
	}
	b.click("#run")
	b.ended("completed")
}
