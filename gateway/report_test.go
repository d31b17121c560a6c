package gateway_test

import (
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/policy/audit"
)

func TestReport(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	id := s.do(t, "POST", "/api/execute", code("eval('1')")).json(t)["id"].(string)
	path := "/api/reports/execution/" + id
	a := s.do(t, "GET", path, "")
	v := a.json(t)
	members(t, v, map[string]any{"id": id, "status": "blocked"})
	members(t, v["threat"].(map[string]any), map[string]any{"category": "code_injection"})
	members(t, v["execution"].(map[string]any), map[string]any{"id": id})
	if got := a.Header.Get("Content-Disposition"); got != `attachment; filename="`+id+`.json"` {
		t.Error(got)
	}
	a = s.do(t, "GET", path+"?format=csv", "")
	if a.StatusCode != 200 || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/csv") {
		t.Fatalf("%d %s", a.StatusCode, a.Header.Get("Content-Type"))
	}
	got := cells(t, a.body)
	for name, want := range map[string]string{
		"id": id, "execution.id": id, "threat.category": "code_injection", "execution.custody.0.step": "received",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	s.do(t, "GET", path+"?format=xml", "").problem(t, 400)
	s.do(t, "GET", "/api/reports/execution/exec_none", "").problem(t, 404)
}

func cells(t *testing.T, table []byte) map[string]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(string(table))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, row := range rows {
		if len(row) != 2 {
			t.Fatalf("%q", row)
		}
		all[row[0]] = row[1]
		for _, cell := range row {
			if cell != "" && strings.Contains("=+-@\t\r\n", cell[:1]) {
				t.Errorf("a spreadsheet would run %q", cell)
			}
		}
	}
	return all
}

// Text of a guest or a caller never becomes a formula.
func TestReportHasNoFormulas(t *testing.T) {
	t.Parallel()
	for _, evil := range []string{"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "a\",=1", "a\r\n=1,=2", "＝1+1",
		"＋1", "－1", "＠SUM(A1)",
		"−1", " =1", "\u00a0=1", "\ufeff=1", "\u200b@x", "\x00=1", " plain", "'=1"} {
		r := audit.Record{
			ID: "exec_" + strings.Repeat("0", 26), Time: time.Now(), Ending: audit.Ending{Error: evil},
			Assessment: audit.Assessment{Reasons: []string{evil}},
			Inputs:     audit.Inputs{Request: []byte(`{"=x":"-y"}`)},
		}
		fresh := serve(t, options{records: &ledger{added: make(chan audit.Record, 1)}})
		if err := fresh.records.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		got := cells(t, fresh.do(t, "GET", "/api/reports/execution/"+r.ID+"?format=csv", "").body)
		want := evil
		if strings.ContainsAny(evil[:1], "=+-@\t\r\n") || strings.ContainsAny(evil, "＝＋－＠−\u00a0\ufeff\u200b\x00") ||
			evil == " =1" {
			want = "'" + evil
		}
		// A CSV reader turns \r\n into \n.
		want = strings.ReplaceAll(want, "\r\n", "\n")
		if got["execution.error"] != want || got["execution.reasons.0"] != want || got["execution.request.=x"] != "'-y" {
			t.Errorf("%q: %q", evil, got["execution.error"])
		}
	}
}
