package wiring_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/gateway/cli"
	"github.com/airlock-run/airlock/gateway/wiring"
	"github.com/airlock-run/airlock/infra/records"
	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/infra/records/recordstest"
)

// tool runs airlock and returns everything that it printed.
func tool(t *testing.T, getenv func(string) string, args ...string) (out string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = cli.Run(args, getenv, strings.NewReader(""), &stdout, &stderr)
	return stdout.String() + stderr.String(), code
}

func TestVerifySaysWhatItIsAnchoredTo(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	fill := func(n int) {
		s, err := filerecords.Open("audit", filerecords.Config{})
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			if err := s.Append(t.Context(), recordstest.Sample(time.Now())); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	fill(2)
	if err := os.CopyFS("old", os.DirFS("audit")); err != nil {
		t.Fatal(err)
	}
	fill(3)
	none := func(name string) string { return map[string]string{"AIRLOCK_STATE": "none"}[name] }
	unset := func(string) string { return "" }
	expect := func(getenv func(string) string, code int, contains string, args ...string) string {
		t.Helper()
		out, got := tool(t, getenv, append([]string{"audit"}, args...)...)
		if got != code || !strings.Contains(out, contains) {
			t.Errorf("%q: exit %d, want %d and %q\n%s", args, got, code, contains, out)
		}
		return out
	}
	expect(none, 0, "not anchored: ", "verify")
	public := expect(none, 0, "example.com/audit+", "keygen", "example.com/audit", "--out", "private")
	if info, err := os.Stat("private"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the private key: %v %v", info, err)
	}
	expect(none, 2, "--out", "keygen", "example.com/audit", "--out", "private")
	expect(none, 2, "is not a valid key name", "keygen", "with space", "--out", "other")
	if err := os.WriteFile("public", []byte(public), 0o600); err != nil {
		t.Fatal(err)
	}
	signed := expect(none, 0, "\n— example.com/audit ", "checkpoint", "--key", "private")
	heads := strings.Fields(expect(none, 0, ":3:", "checkpoint"))
	if err := os.WriteFile("checkpoint", []byte(signed), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("altered", []byte(strings.Replace(signed, " 3 ", " 2 ", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	// The gateway's anchor.
	anchor, err := wiring.OpenAnchor(t.Context(), filepath.Join(dir, "state"), "file://"+filepath.Join(dir, "audit"), nil,
		"")
	if err != nil {
		t.Fatal(err)
	}
	store, err := records.OpenReader(t.Context(), "audit", records.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	wiring.KeepAnchored(t.Context(), store, anchor, nil, slog.New(slog.DiscardHandler))()

	held := map[string][]string{
		"anchored to the checkpoint checkpoint, signed by example.com/audit: 2 writers as of ": {"verify", "--checkpoint",
			"checkpoint", "--checkpoint-key", "public"},
		"anchored to --expect-head: 1 writers": {"verify", "--expect-head",
			heads[0], "--expect-head", heads[1]},
	}
	for says, args := range held {
		expect(none, 0, says, args...)
	}
	expect(none, 0, "anchored to the checkpoint", "verify", "--checkpoint", "checkpoint", "--checkpoint-key",
		strings.TrimSpace(public))
	expect(unset, 0, "anchored to AIRLOCK_STATE (", "verify")
	expect(unset, 0, `"anchors":[{"source":"AIRLOCK_STATE (`, "verify", "--json")
	expect(none, 0, `"anchors":[]`, "verify", "--json")
	expect(none, 1, "it was altered", "verify", "--checkpoint", "altered", "--checkpoint-key", "public")
	expect(none, 2, "--checkpoint-key", "verify", "--checkpoint", "checkpoint")
	expect(none, 2, "--checkpoint", "verify", "--checkpoint-key", "public")
	expect(none, 2, "--expect-head", "verify", "--expect-head", "x")
	if report, err := wiring.VerifyAnchored(store, anchor)(t.Context()); err != nil || !report.OK() ||
		len(report.Anchors) != 1 {
		t.Errorf("the gateway's own verification: %+v %v", report, err)
	}

	for name, from := range map[string]string{"put back": "old", "emptied": t.TempDir()} {
		if err := os.RemoveAll("audit"); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS("audit", os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		expect(none, 0, "not anchored: ", "verify")
		for _, args := range held {
			expect(none, 1, "truncated", args...)
		}
		expect(unset, 1, "truncated", "verify")
		again, err := records.OpenReader(t.Context(), "audit", records.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if report, err := wiring.VerifyAnchored(again, anchor)(t.Context()); err != nil || report.OK() {
			t.Errorf("%s: the gateway finds nothing: %+v %v", name, report, err)
		}
		// starting a gateway does not replace the anchor
		wiring.KeepAnchored(t.Context(), again, anchor, nil, slog.New(slog.DiscardHandler))()
		expect(unset, 1, "truncated", "verify")
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
