package browser_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/policy/audit"
)

// hostileRecord returns a record with markup in every field that can hold it, even if no gateway would write it there.
func (s *server) hostileRecord(t *testing.T) string {
	t.Helper()
	store, err := filerecords.Open(filepath.Join(s.dir, "audit"), filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	encoded := func(v any) json.RawMessage {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	const id = "exec_01JD5Z6Q8V0000000000000001"
	finding := map[string]any{"category": hostile, "severity": hostile, "score": 90, "message": hostile, "line": 1,
		"column": 1, "excerpt": hostile, "file": hostile}
	err = store.Append(t.Context(), audit.Record{
		ID: id, Time: time.Now().UTC(), DurationMs: 1e6, Caller: audit.Caller{Subject: hostile, Tenant: hostile, IP: hostile},
		Via: hostile, Policy: hostile, Engine: hostile,
		Source: audit.Source{CodeSHA256: hostile, Code: hostile + "\n" + hostile, Language: hostile},
		Ending: audit.Ending{Status: "error", Limit: hostile, Error: hostile},
		Assessment: audit.Assessment{
			Reasons: []string{hostile},
			Grants: encoded(map[string]any{"network": hostile, "hosts": []string{hostile}, "files": hostile,
				"modules": []string{hostile}, "tools": []string{hostile}}),
			DangerAnalysis: encoded(map[string]any{"score": 90, "level": hostile, "findings": []any{finding}}),
		},
		Custody: []audit.Step{{Step: hostile}}, ResultSHA256: hostile,
		Function: &audit.FunctionRef{Name: hostile, Version: 1},
		Lineage:  audit.Lineage{Reused: hostile},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return id
}

// harmless checks that the page shows the markup as text, and that none of it ran.
func (b *tab) harmless(name string) {
	b.t.Helper()
	if n := eval[int](b,
		`document.querySelectorAll("img[src=x], main script, [onload], [onerror], [style], main b").length`); n != 0 {
		b.t.Errorf("%s: %d elements were made of text", name, n)
	}
	if eval[bool](b, `"stung" in window`) {
		b.t.Errorf("%s: a script ran", name)
	}
	text := eval[string](b, `document.body.textContent + [...document.querySelectorAll("[title], [aria-label]")]
		.map((e) => e.title + (e.getAttribute("aria-label") ?? "")).join()`)
	if !strings.Contains(text, hostileShown) {
		b.t.Errorf("%s does not show it at all", name)
	}
	for _, r := range "\u202e\u2066\u200b\u00ad\U000e0041\x1b\x07\u0085\u2028\u3164" {
		if strings.ContainsRune(text, r) {
			b.t.Errorf("%s has the character %U, which steers text", name, r)
		}
	}
}

// Pages show whatever a guest, a caller or a record says as text.
func TestHostileText(t *testing.T) {
	t.Parallel()
	s := serve(t)
	id := s.hostileRecord(t)
	text := quote(hostile)
	guest := s.execute(t, map[string]any{
		"code": "/* " + hostile + " */\nconsole.log(" + text + "); console.error(" + text + ");\nconst e = new Error(" +
			text + "); e.name = " + text + "; eval('1'); throw e;",
		"policy": "agent",
	})
	b := s.open(t, "/dashboard?window=15m")
	b.wait(ready + ` && document.querySelectorAll("#executions a").length === 2 && document.querySelector("#failures a")`)
	b.harmless("the dashboard")
	b.visit("/security?window=15m")
	b.wait(ready + ` && document.querySelectorAll("#threats a").length > 0`)
	b.harmless("the security page")
	b.visit("/dashboard/execution/" + id)
	b.wait(`!document.querySelector("#execution").hidden`)
	b.harmless("the page of the record")
	b.expect("404") // it has no result
	b.visit("/dashboard/execution/" + guest.ID)
	b.wait(`document.querySelectorAll("#logs li").length === 2`)
	b.harmless("the page of the execution")
	b.visit("/dashboard?tenant=" + "%3Cimg+src%3Dx+onerror%3D%22window.stung%3D1%22%3E&status=%3Cscript%3E")
	b.expect("400")
	b.wait(`!document.querySelector("#trouble").hidden`)
	if n := eval[int](b, `document.querySelectorAll("img[src=x], main script").length`); n != 0 {
		t.Error("the address became markup")
	}
	if reports := s.request(t, 200, "GET", "/metrics", ""); !strings.Contains(string(reports),
		"\nairlock_csp_reports 0\n") {
		t.Error("a page was stopped by its policy")
	}
}
