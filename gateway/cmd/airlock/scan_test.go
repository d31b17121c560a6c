package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/policy/threat"
)

// scanFolder holds a script of each kind.
func scanFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"clean.js": "const a = [1, 2];\na.map((n) => n * 2)", "typed.ts": "const n: number = 1; n",
		"attack.js": "const cp = require('child_process');\ncp.execSync('id')",
		"high.js":   "Object.setPrototypeOf(Array, null)\nprocess.env.HOME",
		"wrong.js":  "const = 3", "big.js": strings.Repeat("a;", 150_000), "mark.js": "\ufeffeval(x)",
		"separator.js": "let s = '\u2028';\u2029let c = = 2", "wide.js": "const s = '😀é'\r\nconst t = '😀é'; eval(t)",
		"sub/a.js": "1", "sub/deep/b.mjs": "eval(x)", "sub/c.txt": "eval(x)", "sub/.hidden.js": "eval(x)",
		"sub/.git/hook.js":            "eval(x)",
		"sub/node_modules/p/index.js": "eval(x)", "none/readme.md": "eval(x)",
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func runScan(stdin string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(append([]string{"scan"}, args...), func(string) string { return "" }, strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

func TestScan(t *testing.T) {
	t.Chdir(scanFolder(t))
	if _, stdout, _ := runScan("", "attack.js"); strings.Count(stdout, "execSync") != 1 {
		t.Errorf("a finding is printed twice, or not at all:\n%s", stdout)
	}
	for _, c := range []struct {
		name           string
		args           []string
		stdin          string
		code           int
		stdout, stderr string
	}{
		{"clean", []string{"clean.js", "typed.ts"}, "", 0, "", ""},
		{"attack", []string{"clean.js", "attack.js"}, "", 3, "attack.js:2:", "would block 1 of 2; the worst is attack.js"},
		{"a line a finding", []string{"attack.js"}, "", 3, ": critical command_execution: ", ""},
		{"by the tier: standard", []string{"high.js"}, "", 0, "high.js:1:", ""},
		{"by the tier: strict", []string{"high.js", "--policy", "strict"}, "", 3, "high.js: blocked under strict",
			"policy strict"},
		{"standard input", []string{"-"}, "eval(x)", 3, "-:1:1: critical code_injection", ""},
		{"language", []string{"-", "--language", "typescript"}, "const n: number = 1", 0, "", ""},
		{"syntax", []string{"wrong.js"}, "", 2, "wrong.js:1:", "wrong.js:1:"},
		{"no such file, and the others all the same", []string{"nope.js", "attack.js"}, "", 2, "attack.js:2:",
			"read nope.js: no such file"},
		{"too much code, and the others all the same", []string{"--policy", "strict", "big.js", "attack.js"}, "", 2,
			"attack.js:2:",
			"big.js: code has 300000 bytes"},
		{"a folder", []string{"sub"}, "", 3, filepath.Join("sub", "deep", "b.mjs") + ":1:1: critical",
			"would block 1 of 2; the worst is " + filepath.Join("sub", "deep", "b.mjs")},
		{"a folder and a file", []string{"attack.js", "sub/"}, "", 3, "attack.js:2:", "would block 2 of 3"},
		{"a folder without scripts", []string{"clean.js", "none"}, "", 2, "", "none: there are no scripts in this folder"},
		{"standard input twice", []string{"-", "-"}, "1", 2, "", "standard input (-) is named twice"},
		{"a byte order mark", []string{"mark.js"}, "", 3, "mark.js:1:1: critical code_injection", ""},
		{"a line separator", []string{"separator.js"}, "", 2, "separator.js:3:9: error syntax", ""},
		{"nothing", nil, "", 2, "", "requires at least 1 arg"},
		{"no such tier", []string{"clean.js", "--policy", "nope"}, "", 2, "", "--policy: unknown policy"},
		{"no such language", []string{"clean.js", "--language", "perl"}, "", 2, "", "--language: must be"},
		{"two forms", []string{"clean.js", "--json", "--sarif"}, "", 2, "", "json sarif"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, stdout, stderr := runScan(c.stdin, c.args...)
			if code != c.code {
				t.Errorf("exit %d, want %d", code, c.code)
			}
			if !strings.Contains(stdout, c.stdout) {
				t.Errorf("stdout %q, want %q", stdout, c.stdout)
			}
			if !strings.Contains(stderr, c.stderr) || code == 0 && stderr != "" {
				t.Errorf("stderr %q, want %q", stderr, c.stderr)
			}
		})
	}
}

// scanReport is the JSON that airlock scan --json prints for one file.
type scanReport struct {
	File, Policy        string
	Allow               bool
	Violations, Reasons []string
	DangerAnalysis      threat.Analysis
	ASTTelemetry        threat.Telemetry
	SyntaxError         *threat.SyntaxError
}

func TestScanJSON(t *testing.T) {
	t.Chdir(scanFolder(t))
	code, stdout, stderr := runScan("", "--json", "clean.js", "attack.js")
	var reports []scanReport
	if err := json.Unmarshal([]byte(stdout), &reports); err != nil || code != 3 || len(reports) != 2 {
		t.Fatalf("exit %d, %v: %s %s", code, err, stdout, stderr)
	}
	type line struct {
		File, Policy, Level string
		Allow, Violations   bool
	}
	var got []line
	for _, r := range reports {
		got = append(got, line{r.File, r.Policy, string(r.DangerAnalysis.Level), r.Allow, len(r.Violations) > 0})
	}
	if diff := cmp.Diff([]line{
		{"clean.js", "standard", "safe", true, false}, {"attack.js", "standard", "critical", false, true},
	}, got); diff != "" {
		t.Error(diff)
	}
	if reports[0].Violations == nil {
		t.Error("no violations are null, want an empty list")
	}
}

// The log has what SARIF 2.1.0 requires.
func TestScanSARIF(t *testing.T) {
	dir := scanFolder(t)
	t.Chdir(dir)
	if code, stdout, _ := runScan("", "--sarif", "clean.js"); code != 0 || !strings.Contains(stdout, `"results": []`) {
		t.Errorf("exit %d: %s", code, stdout)
	}
	_, stdout, _ := runScan("", "--sarif", "attack.js", "wrong.js", "wide.js", "missing.js", filepath.Join(dir, "high.js"))
	var log struct {
		Schema  string `json:"$schema"`
		Version string
		Runs    []struct {
			ColumnKind  string
			Invocations []struct {
				ExecutionSuccessful        bool
				ToolExecutionNotifications []struct {
					Message struct{ Text string }
				}
			}
			Tool struct {
				Driver struct {
					Name  string
					Rules []struct {
						ID               string
						ShortDescription struct{ Text string }
						FullDescription  struct{ Text string }
						Help             struct{ Text string }
					}
				}
			}
			Results []struct {
				RuleID, Level string
				RuleIndex     int
				Message       struct{ Text string }
				Locations     []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           *struct{ StartLine, StartColumn int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &log); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	if log.Version != "2.1.0" || !strings.Contains(log.Schema, "sarif-2.1.0") || len(log.Runs) != 1 {
		t.Fatalf("%s", stdout)
	}
	run, rules, seen := log.Runs[0], map[string]bool{}, map[string]bool{}
	for _, r := range run.Tool.Driver.Rules {
		if slices.Contains([]string{r.ShortDescription.Text, r.FullDescription.Text, r.Help.Text}, "") {
			t.Errorf("rule %q lacks a text: %+v", r.ID, r)
		}
		if rules[r.ID] {
			t.Errorf("rule %q is there twice", r.ID)
		}
		rules[r.ID] = true
	}
	for _, r := range run.Results {
		seen[r.RuleID] = true
		if rule := run.Tool.Driver.Rules[r.RuleIndex].ID; rule != r.RuleID {
			t.Errorf("the rule of the index is %q, that of the result %q", rule, r.RuleID)
		}
		if !slices.Contains([]string{"error", "warning", "note"}, r.Level) {
			t.Errorf("level %q", r.Level)
		}
		if r.Message.Text == "" {
			t.Errorf("a result of the rule %q has no message", r.RuleID)
		}
		if len(r.Locations) != 1 {
			t.Errorf("%d locations: %+v", len(r.Locations), r)
			continue
		}
		at := r.Locations[0].PhysicalLocation
		if !slices.Contains([]string{"attack.js", "wrong.js", "wide.js"}, at.ArtifactLocation.URI) &&
			!strings.HasPrefix(at.ArtifactLocation.URI, "file:///") {
			t.Errorf("uri %q", at.ArtifactLocation.URI)
		}
		if at.Region == nil || at.Region.StartLine < 1 || at.Region.StartColumn < 1 {
			t.Fatalf("region %+v", at.Region)
		}
		// Columns are in UTF-16 units: the character before eval takes two.
		if at.ArtifactLocation.URI == "wide.js" && r.RuleID == "code_injection" {
			if line, column := at.Region.StartLine, at.Region.StartColumn; line != 2 || column != 18 {
				t.Errorf("eval of wide.js is at %d:%d, want 2:18", line, column)
			}
		}
	}
	got := []string{run.Tool.Driver.Name, run.ColumnKind}
	if diff := cmp.Diff([]string{"airlock", "utf16CodeUnits"}, got); diff != "" {
		t.Error(diff)
	}
	for _, rule := range []string{"command_execution", "syntax", "blocked"} {
		if !seen[rule] {
			t.Errorf("no result of the rule %q: %s", rule, stdout)
		}
	}
	i := run.Invocations[0]
	if i.ExecutionSuccessful {
		t.Error("an invocation with a missing file counts as a success")
	}
	if n := len(i.ToolExecutionNotifications); n != 1 {
		t.Fatalf("%d notifications, want 1", n)
	}
	if says := i.ToolExecutionNotifications[0].Message.Text; !strings.Contains(says, "missing.js") {
		t.Errorf("the notification %q does not name the file", says)
	}
}
