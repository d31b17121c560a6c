package wiring

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/scan"
)

// A policy file that is being written when the signal comes is empty; the policy in force stays.
func TestPolicyReloadTorn(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "deployment.yaml")
	if err := os.WriteFile(file, []byte("version: 1\nforbid: {categories: [timer_abuse]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rules, err := openRules(environment("AIRLOCK_POLICY_FILE="+file, "AIRLOCK_CACHE_DIR="+t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "# half\n", "version: 1\n---\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := rules.reload(); err == nil {
			t.Errorf("%q was taken for a policy", text)
		}
	}
	if d, err := rules.DecideWith(t.Context(), policy.Request{Code: "setInterval(() => {}, 0)"},
		scan.New().Scan); err != nil || d.Effect != policy.Deny {
		t.Error("the old policy is not in force")
	}
}

// A gateway keeps the copies of the policy for its function processes in the user's cache, under the same names at
// every start: the next gateway reuses what a killed one left.
func TestPolicyCopies(t *testing.T) {
	scratch, cache := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", scratch)
	file := filepath.Join(t.TempDir(), "deployment.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	copies := func(dir string) (found []string) {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(dir, "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	write("version: 1\nhosts: [a.test]\nsecrets: {ONE: [a.test]}\n")
	getenv := environment("AIRLOCK_POLICY_FILE="+file, "AIRLOCK_CACHE_DIR="+cache, "AIRLOCK_SECRET_ONE=first",
		"AIRLOCK_SECRET_TWO=second")
	var told []string
	for range 3 { // none of them is closed, as when it is killed
		rules, err := openRules(getenv)
		if err != nil {
			t.Fatal(err)
		}
		told = rules.environment()
		write("version: 1\nhosts: [a.test]\nsecrets: {TWO: [a.test]}\n")
		if err := rules.reload(); err != nil {
			t.Fatal(err)
		}
		if now := rules.environment(); len(now) != 1 || now[0] == told[0] || !slices.Equal(rules.secrets(), []string{"TWO"}) {
			t.Errorf("function processes receive %q", now)
		}
		write("version: 1\nhosts: [a.test]\nsecrets: {ONE: [a.test]}\n")
	}
	if len(told) != 1 || filepath.Base(told[0]) != "deployment.yaml" {
		t.Errorf("function processes receive %q", told)
	}
	if found := copies(cache); len(found) != 2 {
		t.Errorf("the cache has %q", found)
	}
	if found := copies(scratch); len(found) != 0 {
		t.Errorf("left behind: %q", found)
	}
	// If the cache is not writable, the copies are in a folder that is removed when the gateway ends.
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	rules, err := openRules(environment("AIRLOCK_POLICY_FILE="+file, "AIRLOCK_CACHE_DIR="+blocked))
	if err != nil {
		t.Fatal(err)
	}
	if found, told := copies(filepath.Join(scratch, "airlock-policy-*")), rules.environment(); len(found) != 1 ||
		told[0] != "AIRLOCK_POLICY_FILE="+found[0] {
		t.Errorf("told %q, kept %q", told, found)
	}
	if err := rules.Close(); err != nil {
		t.Fatal(err)
	}
	if found := copies(scratch); len(found) != 0 {
		t.Errorf("left behind: %q", found)
	}
}
