package examples_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/runner"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
	"github.com/airlock-run/airlock/policy/threat"
	"github.com/airlock-run/airlock/sandbox"
)

var update = flag.Bool("update", false, "write what the examples print into their .out files")

var tier = regexp.MustCompile(`(?m)^// tier: (\w+)$`)

// recorded is a record store that only counts: the examples do not depend on a real one.
type recorded int

func (r *recorded) Append(context.Context, audit.Record) error {
	*r++
	return nil
}

// Under its tier, each example prints and returns what its .out file says. It takes the path of every execution.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("*.js")
	if err != nil || len(files) != 20 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	engine, err := sandbox.New(t.Context(), sandbox.Config{CacheDir: filepath.Join(os.TempDir(), "airlock-test-cache")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	var records recorded
	r, err := runner.New(runner.Config{Sandbox: engine, Policy: policy.Default(), Records: &records})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".js")
		t.Run(name, func(t *testing.T) { example(t, r, name) })
	}
	if int(records) != len(files) {
		t.Errorf("%d records of %d examples", records, len(files))
	}
}

func example(t *testing.T, r *runner.Runner, name string) {
	code, err := os.ReadFile(name + ".js")
	if err != nil {
		t.Fatal(err)
	}
	head := tier.FindSubmatch(code)
	if head == nil {
		t.Fatal("it does not name its tier")
	}
	input, err := os.ReadFile(name + ".json")
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	result, err := r.Run(t.Context(), execution.Invocation{
		Airlock: execution.InvocationVersion, ID: "exec_" + name, Via: execution.ViaCLI, ReceivedAt: time.Now(),
		Request: execution.Request{Code: string(code), Policy: string(head[1]), Input: input},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := transcript(result)
	if *update {
		if err := os.WriteFile(name+".out", []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name + ".out")
	if err != nil {
		t.Fatal(err)
	}
	if name == "dangerous-scripts" {
		for _, category := range threat.Categories() {
			if !strings.Contains(got, " "+category+": ") {
				t.Errorf("nothing of %s is found", category)
			}
		}
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// transcript returns what a reader of the example wants to see: its output, then its value or the reason why there is
// none.
func transcript(r execution.Result) string {
	var b strings.Builder
	b.WriteString(r.Output)
	if r.Status == execution.Completed {
		fmt.Fprintf(&b, "=> %s\n", r.Result)
		return b.String()
	}
	fmt.Fprintf(&b, "%s: %s\n", r.Status, *r.Error)
	var analysis threat.Analysis
	if err := json.Unmarshal(r.DangerAnalysis, &analysis); err != nil {
		return err.Error()
	}
	for _, f := range analysis.Findings {
		fmt.Fprintf(&b, "%d:%d: %s %s: %s\n", f.Line, f.Column, f.Severity, f.Category, f.Message)
	}
	return b.String()
}
