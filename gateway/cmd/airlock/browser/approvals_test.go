package browser_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// pause runs code that pauses and returns the ID of its execution.
func (s *server) pause(t *testing.T, code string) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"code": code, "policy": "standard"})
	if err != nil {
		t.Fatal(err)
	}
	var r struct{ ID, Status string }
	text := s.request(t, 202, "POST", "/api/execute", string(body))
	if err := json.Unmarshal(text, &r); err != nil || r.Status != "paused" {
		t.Fatalf("%v\n%s", err, text)
	}
	return r.ID
}

// ended returns the result of an execution that continued after a decision.
func (b *tab) ended(id string) string {
	b.t.Helper()
	return eval[string](b, `(async () => {
		for (;;) {
			const text = await (await fetch("/api/result/`+id+`")).text();
			if (JSON.parse(text).status === "completed") return text;
			await new Promise((f) => setTimeout(f, 50));
		}
	})()`)
}

// A person sees what waits, approves, answers and rejects, and the executions continue.
func TestApprovals(t *testing.T) {
	t.Parallel()
	s := serve(t)
	b := s.open(t, "/approvals")
	b.wait(`document.querySelector("#paused").textContent.startsWith("Nothing waits.")`)
	first := s.pause(t,
		"return await airlock.approve({ title: 'Delete \u202e3 files?', detail: 'a\\nb' }) ? 'deleted' : 'kept'")
	b.click("#refresh")
	b.wait(`document.querySelector("#paused h3")?.textContent.includes("Delete \\u{202e}3 files?")`)
	b.typed(`#paused input`, "they are old")
	b.click("#paused button.primary")
	b.wait(`document.querySelector("#told").textContent.includes("Approved")`)
	if r := b.ended(first); !strings.Contains(r, `"result":"deleted"`) {
		t.Error(r)
	}
	second := s.pause(t, "return (await airlock.approve({ title: 'How many?', schema: { type: 'number' } })) * 2")
	b.click("#refresh")
	b.wait(`document.querySelector("#paused h3")?.textContent.includes("How many?")`)
	b.typed(`#paused textarea`, "many")
	b.click("#paused button.primary")
	b.wait(`document.querySelector("#paused textarea").validationMessage ===
		'This is not JSON. A text needs quotes: "many"'`)
	eval[bool](b, `(document.querySelector("#paused textarea").value = "") === ""`)
	b.typed(`#paused textarea`, "21")
	b.click("#paused button.primary")
	b.wait(`document.querySelector("#told").textContent.includes("` + second + `")`)
	if r := b.ended(second); !strings.Contains(r, `"result":42`) {
		t.Error(r)
	}
	third := s.pause(t, "try { await airlock.approve({ title: 'Really?' }) } catch (e) { return 'no: ' + e.message }")
	b.click("#refresh")
	b.wait(`document.querySelector("#paused h3")?.textContent.includes("Really?")`)
	b.click("#paused details summary")
	b.wait(`document.querySelector("#paused details pre")?.textContent.includes("airlock.approve")`)
	b.click("#paused button.danger")
	b.wait(`document.querySelector("#told").textContent.includes("Rejected")`)
	b.wait(`document.activeElement.id === "told"`) // the card and its button are gone
	if r := b.ended(third); !strings.Contains(r, `"result":"no: `) {
		t.Error(r)
	}
	b.wait(`document.querySelector("#paused").textContent.startsWith("Nothing waits.")`)
}

// The outline of an answer has what the answer must have, and is not sent as it is.
func TestAnswerIsOutlined(t *testing.T) {
	t.Parallel()
	s := serve(t)
	id := s.pause(t, `return await airlock.approve({ title: 'How?', schema: { type: 'object', properties: {
		note: {}, count: { type: ['number', 'null'] }, kind: { type: 'string', default: 'box' }, why: { type: 'string' },
		of: { type: 'object', properties: { size: { type: 'number' } } },
		}, required: ['note', 'count', 'kind', 'of'] } })`)
	b := s.open(t, "/approvals")
	b.wait(`document.querySelector("#paused textarea")`)
	const outline = "{\n  \"note\": …,\n  \"count\": …,\n  \"kind\": \"box\",\n  \"of\": …\n}"
	if text := eval[string](b, `document.querySelector("#paused textarea").value`); text != outline {
		t.Errorf("the outline is %s", text)
	}
	b.click("#paused button.primary")
	b.wait(`document.querySelector("#paused textarea").validationMessage.startsWith("This is not JSON")`)
	eval[bool](b, `(document.querySelector("#paused textarea").value = "") === ""`)
	b.typed("#paused textarea", `{"note": 1, "count": null, "kind": "box", "of": {}}`)
	b.click("#paused button.primary")
	if r := b.ended(id); !strings.Contains(r, `"count":null`) {
		t.Error(r)
	}
}

func TestApprovalsAccessible(t *testing.T) {
	t.Parallel()
	source := axe(t)
	s := serve(t)
	s.pause(t,
		"return await airlock.approve({ title: 'Delete 3 files?', detail: 'all of them', schema: { type: 'string' } })")
	s.pause(t, "return await airlock.waitForEvent('customer-replied', { timeout: '7 days' })")
	s.pause(t, "await airlock.sleep('3 days')")
	b := s.open(t, "/approvals")
	b.bypassPolicy()
	for width, theme := range map[int64]string{1440: "light", 360: "dark"} {
		b.look(width, 900, theme)
		b.visit("/approvals")
		b.wait(`document.querySelectorAll("#paused li.card").length === 3`)
		b.click("#paused details summary")
		b.wait(`document.querySelector("#paused details pre") !== null`)
		b.accessible(source, "/approvals "+theme)
		b.fits("/approvals " + theme)
	}
}
