package browser_test

import (
	"strings"
	"testing"
)

// The page of an execution shows what its record says.
func TestExecution(t *testing.T) {
	t.Parallel()
	s := serve(t)
	all := s.seeded(t)
	b := s.open(t, "/dashboard/execution/"+all["thrown"].ID)
	b.wait(`!document.querySelector("#execution").hidden && document.querySelector("#logs li")`)
	for place, wants := range map[string][]string{
		"#state": {"error"}, "#error": {"TypeError: Cannot read properties of undefined (reading 'name')"},
		"#code": {"const user = undefined;", "return user.name;"},
		"#logs": {"warn", "about to fail"}, "#result": {"TypeError", "script.js:"},
		"#facts": {"default", "local", "http", "standard", "quickjs"},
		"#usage": {"Time", "of 15 s", "of 64 MB"}, "#decision": {"Network"}, "#chain": {"Hash"},
	} {
		text := b.text(place)
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q:\n%s", place, want, text)
			}
		}
	}
	if steps := eval[[]string](b,
		`[...document.querySelectorAll("#custody .step")].map(s => s.textContent)`); strings.Join(steps,
		" ") != "received decided started finished recorded" {
		t.Errorf("the custody is %v", steps)
	}
	report := eval[string](b,
		`fetch(document.querySelector('#actions a[href$="json"]').href).then(r => r.json()).then(r => r.execution.id)`)
	if report != all["thrown"].ID {
		t.Errorf("the report is of %s", report)
	}
	if table := eval[string](b,
		`fetch(document.querySelector('#actions a[href$="csv"]').href).then(r => r.text())`); !strings.HasPrefix(table,
		"field,value\nid,"+all["thrown"].ID) {
		t.Errorf("the report is\n%s", table)
	}
	b.visit("/dashboard/execution/" + all["wary"].ID)
	b.wait(`document.querySelector("#findings li strong")`)
	if mark := eval[string](b, `document.querySelector("#code li[data-mark]").textContent`); !strings.Contains(mark,
		"new Function") {
		t.Errorf("the marked line is %q", mark)
	}
	if !strings.Contains(b.text("#findings"), "code_injection") {
		t.Error(b.text("#findings"))
	}
	b.visit("/dashboard/execution/" + all["greedy"].ID)
	b.wait(`document.querySelector('#usage [data-ended="true"]')`)
	if ended := b.text(`#usage [data-ended="true"]`); !strings.Contains(ended, "Memory") {
		t.Errorf("the run was ended by %s", ended)
	}
	b.expect("404")
	b.visit("/dashboard/execution/exec_01JD5Z6Q8V0000000000000000")
	b.wait(`document.querySelector("#trouble").textContent.startsWith("There is no record")`)
}

// The page of an execution that paused says what it waits for, and shows its end once it has one.
func TestExecutionThatPaused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, code, want string }{
		{"completes", "return await airlock.approve({ title: 'Delete it?' }) && 'deleted'", `"deleted"`},
		{"fails", "await airlock.approve({ title: 'Delete it?' }); throw new Error('not there')", "Error: not there"},
		{"ends at a limit", "await airlock.approve({ title: 'Delete it?' });" +
			"const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1));", "memory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := guarded(t)
			s.credential = s.token(t, "acme", "execute approve audit:read")
			id := s.pause(t, c.code)
			path := "/dashboard/execution/" + id
			b := s.loggedIn(t, s.credential, path)
			if text := b.text("#result p"); text != "It waits. The page Approvals shows for what." {
				t.Errorf("of code that waits it says %q", text)
			}
			s.request(t, 200, "POST", "/api/executions/"+id+"/resume", `{"decisions": [{"seq": 1, "decision": "approve"}]}`)
			b.visit(path)
			b.wait(`document.querySelector("#result").textContent !== ""`)
			if text := b.text("#result"); !strings.Contains(text, c.want) {
				t.Errorf("after the end it shows %q, want %q", text, c.want)
			}
			b = s.loggedIn(t, s.token(t, "acme", "audit:read"), path)
			if text := b.text("#result p"); text != "This part paused. The parts after it have records of their own." {
				t.Errorf("to a visitor who cannot read results it says %q", text)
			}
		})
	}
}

// The button runs the execution again, in a function process, and says whether it was the same.
func TestReplay(t *testing.T) {
	t.Parallel()
	s := serve(t)
	r := s.execute(t, map[string]any{"code": "console.log('dice', Math.floor(Math.random() * 1e6)); return Date.now()"})
	blocked := s.execute(t, map[string]any{"code": "return eval('1')", "policy": "strict"})
	b := s.open(t, "/dashboard/execution/"+r.ID)
	b.wait(`document.querySelectorAll("#logs li").length === 1`)
	if first := b.text("#actions > *"); first != "Replay" {
		t.Errorf("the first button is %q", first)
	}
	printed := b.text("#logs code")
	b.click("#start-replay")
	b.wait(`document.querySelector("#replay .badge")?.textContent === "the same"`)
	if again := b.text("#logs code"); again != printed || !strings.HasPrefix(again, "dice ") {
		t.Errorf("it printed %q, and %q when it was replayed", printed, again)
	}
	if n := eval[int](b, `fetch("/api/audit/executions").then(r => r.json()).then(r => r.items.length)`); n != 2 {
		t.Errorf("%d records after two executions and a replay", n)
	}
	b.visit("/dashboard/execution/" + blocked.ID)
	b.wait(`document.querySelector("#no-replay")?.textContent.includes("nothing ran")`)
	if eval[bool](b, `document.querySelector("#start-replay") !== null`) {
		t.Error("a blocked execution can be replayed")
	}
	if state := b.text("#state"); !strings.Contains(state, "nothing ran") || strings.Contains(state, "0 B") {
		t.Errorf("the state of a blocked execution is %q", state)
	}
	if usage := b.text("#usage"); usage != "Nothing ran, so nothing was used." {
		t.Errorf("the usage of a blocked execution is %q", usage)
	}
}
