package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	auditcmd "github.com/airlock-run/airlock/gateway/cli/audit"
	"github.com/airlock-run/airlock/gateway/cli/exit"
	"github.com/airlock-run/airlock/gateway/cli/terminal"
	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/infra/records/recordstest"
	"github.com/airlock-run/airlock/policy/audit"
)

// auditRun runs `airlock audit …` and returns its output and exit code.
func auditRun(t *testing.T, env map[string]string, args ...string) (stdout string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := auditcmd.Command(terminal.Console{Getenv: func(name string) string { return env[name] }, Stdout: &out,
		Stderr: &errs})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	err := cmd.ExecuteContext(t.Context())
	if err == nil {
		return out.String(), 0
	}
	return out.String() + errs.String() + err.Error(), exit.Code(err)
}

func TestAuditCommands(t *testing.T) {
	dir := t.TempDir()
	store, err := filerecords.Open(dir, filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for i := range 5 {
		r := recordstest.Sample(time.Now().Add(time.Duration(i-5) * 24 * time.Hour))
		r.Status = []string{"completed", "error"}[i%2]
		r.Caller.Tenant = "\x1b[31mred"
		if i == 2 {
			r.Function = &audit.FunctionRef{Name: "report", Version: 1}
		}
		if err := store.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"AUDIT_STORE": "file://" + dir}
	expect := func(code int, contains string, args ...string) string {
		t.Helper()
		out, got := auditRun(t, env, args...)
		if got != code || !strings.Contains(out, contains) {
			t.Errorf("airlock audit %v: exit %d, want %d and %q in:\n%s", args, got, code, contains, out)
		}
		if strings.Contains(out, "\x1b") {
			t.Errorf("airlock audit %v lets a record steer the terminal", args)
		}
		return out
	}
	expect(0, "ok: 5 records by 1 writers", "verify")
	expect(0, `"problems":[]`, "verify", "--json", "--store", dir)
	expect(exit.Platform, "--store", "verify", "--store", filepath.Join(dir, "none"))
	expect(exit.Platform, "--store", "verify", "--store", "ftp://x")
	expect(exit.Usage, "--lifecycle", "verify", "--lifecycle", "soon")
	expect(0, "ok: 5 records", "verify", "--lifecycle", "90d")
	if out := expect(0, ids[4], "list", "--status", "completed", "--limit", "2"); strings.Contains(out, ids[0]) ||
		strings.Contains(out, ids[3]) {
		t.Errorf("list: %s", out)
	}
	if out := expect(0, ids[2], "list", "--function", "report"); strings.Contains(out, ids[1]) {
		t.Errorf("list --function: %s", out)
	}
	var page struct {
		Items []audit.Record
		Next  *string
	}
	if err := json.Unmarshal([]byte(expect(0, "", "list", "--json", "--since", "3d")), &page); err != nil ||
		len(page.Items) != 2 || page.Next != nil {
		t.Errorf("list --json: %v %+v", err, page)
	}
	expect(exit.Usage, "--since", "list", "--since", "yesterday")
	expect(exit.Usage, "--cursor", "list", "--cursor", "x")
	expect(exit.Usage, "--status", "list", "--status", "done")
	expect(exit.Usage, "--limit", "list", "--limit", "501")
	expect(0, `"id": "`+ids[2]+`"`, "show", ids[2])
	expect(exit.Guest, "no record", "show", "exec_none")
	expect(exit.Usage, "", "show")
	if out := expect(0, ids[0], "export"); strings.Count(out, "\n") != 5 {
		t.Errorf("export: %s", out)
	}
	exported := expect(0, ids[4], "export", "--since", time.Now().Add(-36*time.Hour).Format(time.RFC3339))
	if r, err := audit.Unseal([]byte(exported), nil); err != nil || r.ID != ids[4] {
		t.Errorf("an exported line does not prove itself: %v", err)
	}

	expect(exit.Usage, "--max-age", "prune")
	expect(exit.Usage, "--max-age", "prune", "--max-age", "soon")
	expect(exit.Usage, "--max-bytes", "prune", "--max-bytes", "9999999999tb")
	expect(exit.Usage, "lifecycle", "prune", "--max-age", "1d", "--store", "s3://bucket")
	expect(exit.Platform, "no such file", "prune", "--max-age", "1d", "--store", filepath.Join(dir, "none"))
	expect(0, "removed 0 records of 0 days", "prune", "--max-age", "90d", "--max-bytes", "20 GB")
	expect(0, "removed 1 records of 1 days", "prune", "--max-age", "96h")
	expect(0, "ok: 4 records by 1 writers", "verify")

	expect(exit.Usage, "--days", "repair")
	expect(exit.Platform, "no such file", "repair", "--days", "--store", filepath.Join(dir, "none"))
	expect(0, "0 records moved", "repair", "--days")
	expect(0, "ok: 4 records by 1 writers", "verify")

	for _, id := range ids[1:3] { // two records altered: both are named
		found, err := filepath.Glob(filepath.Join(dir, "executions", "*", id+".json"))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		doc, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(found[0], bytes.Replace(doc, []byte("quickjs"), []byte("quickjz"), 1), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out := expect(exit.Guest, "altered "+ids[1], "verify"); !strings.Contains(out, "altered "+ids[2]) ||
		!strings.Contains(out, "2 problems in 4 records") {
		t.Errorf("verify: %s", out)
	}
	expect(exit.Guest, "does not match its hash", "show", ids[1])

	// An export leaves out lines that are not records, and says so.
	logs, err := filepath.Glob(filepath.Join(dir, "audit-*.jsonl"))
	if err != nil || len(logs) != 4 {
		t.Fatal(logs, err)
	}
	doc, err := os.ReadFile(logs[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(logs[1], append([]byte("{half\n"), doc...), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, since := range []string{"", "30d"} {
		out := expect(exit.Guest, "1 lines are not records", "export", "--since", since)
		if strings.Contains(out, "{half") || strings.Count(out, "\n") != 4 || !strings.Contains(out, ids[4]) {
			t.Errorf("export: %s", out)
		}
	}
}

// The records of an execution that paused are shown in order, whatever the order in which they were written.
func TestAuditShowPaused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, err := filerecords.Open(dir, filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now().Add(-time.Hour)
	first := recordstest.Sample(begun)
	first.Status = "paused"
	part := func(segment int, status, decision string, after time.Duration) audit.Record {
		r := recordstest.Sample(begun.Add(after))
		r.Status, r.Lineage = status, audit.Lineage{Parent: first.ID, Segment: segment}
		if decision != "" {
			r.Decision = &audit.Decision{Seq: segment, Kind: "approval", Decision: decision}
		}
		return r
	}
	other := part(2, "completed", "", time.Minute)
	other.Parent = recordstest.Sample(begun).ID
	for _, r := range []audit.Record{
		first, part(3, "cancelled", "", 5*time.Minute), part(2, "paused", "", 3*time.Minute), other,
		part(1, "decided", "reject", 2*time.Minute), part(1, "decided", "approve", time.Minute),
		part(2, "decided", "event", 4*time.Minute),
	} {
		if err := store.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"AUDIT_STORE": "file://" + dir}
	out, code := auditRun(t, env, "show", first.ID)
	var story []string
	for dec := json.NewDecoder(strings.NewReader(out)); dec.More(); {
		var r audit.Record
		if err := dec.Decode(&r); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprint(r.Segment, " ", r.Status)
		if r.Decision != nil {
			text += " " + r.Decision.Decision
		}
		story = append(story, text)
	}
	want := "0 paused, 1 decided approve, 1 decided reject, 2 paused, 2 decided event, 3 cancelled"
	if got := strings.Join(story, ", "); got != want || code != 0 {
		t.Errorf("exit %d: %s; want %s", code, got, want)
	}
	if out, _ = auditRun(t, env, "show", other.ID); strings.Count(out, `"chain"`) != 1 {
		t.Errorf("the record of a segment is shown as %s", out)
	}
}
