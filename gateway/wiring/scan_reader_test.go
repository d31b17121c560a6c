package wiring

import (
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/infra/scanpool"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/deployment"
	"github.com/airlock-run/airlock/policy/scan"
	"github.com/airlock-run/airlock/policy/threat"
)

func testReader(t *testing.T) *ScanReader {
	t.Helper()
	r, err := OpenScanReader(1, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// A worker behind its walls reads what this process would read.
func TestScanReader(t *testing.T) {
	t.Parallel()
	r, here := testReader(t), scan.New()
	for _, text := range []scan.Input{
		{Code: "eval(x)", Language: "javascript"},
		{Code: "const n: number = \u2028require('./a')", Language: "typescript", Syntax: true,
			Files: map[string]string{"a.ts": "let x: = 1"}, Names: []string{"b.json"}},
		{Code: "// SECRET\nfetch(x)", Language: "javascript", Patterns: []string{"SEC+"}, Powers: scan.Powers{Network: true}},
		{Code: "class A{" + strings.Repeat("#p\n", 40_000) + "}", Language: "javascript", Syntax: true},
		{Code: strings.Repeat("a\u2028", 65_000), Language: "typescript"},
		{Code: strings.Repeat("[", 100_000), Language: "typescript", Syntax: true},
	} {
		got, err := r.Scan(t.Context(), text)
		want, _ := here.Scan(t.Context(), text)
		if err != nil || got.Unfinished {
			t.Errorf("%.30q: unfinished: %v, %v", text.Code, got.Unfinished, err)
		}
		for part, pair := range map[string][2]any{
			"analysis": {want.Analysis, got.Analysis}, "matches": {want.Matches, got.Matches},
			"syntax error": {want.Syntax, got.Syntax}, "telemetry": {want.Telemetry, got.Telemetry},
		} {
			if !reflect.DeepEqual(pair[0], pair[1]) {
				t.Errorf("%.30q: a worker's %s is %+v, this process's %+v", text.Code, part, pair[1], pair[0])
			}
		}
	}
	if s := r.pool.Stats(); s.Started != 1 || s.Killed != 0 {
		t.Errorf("%+v", s)
	}
}

// Code that a worker does not finish in time is scanned by tokens and marked; the tier decides whether it may run.
func TestScanReaderStopped(t *testing.T) {
	t.Parallel()
	r := testReader(t)
	r.allowed = func(text scan.Input) time.Duration {
		if text.Shallow {
			return readTimeOf(text)
		}
		return time.Nanosecond
	}
	code := strings.Repeat("let a: number = 1;\n", 10_000) + "require('child_process').exec('ls')"
	got, err := r.Scan(t.Context(), scan.Input{Code: code, Language: "typescript", Syntax: true})
	if err != nil || !got.Unfinished {
		t.Fatalf("it was finished: %+v %v", got, err)
	}
	if !got.Analysis.Unanalysed || got.Analysis.Level != threat.Critical {
		t.Fatalf("%+v", got.Analysis)
	}
	set := policy.Default()
	for _, c := range []struct {
		code  string
		allow bool
	}{{code, false}, {strings.Repeat("let a: number = 1;\n", 10_000), true}} {
		d, err := set.DecideWith(t.Context(), policy.Request{Code: c.code, Language: "typescript"}, r.Scan)
		if err != nil || (d.Effect == policy.Allow) != c.allow || !d.Analysis.Unanalysed {
			t.Errorf("…%.20q: %v %v", c.code[len(c.code)-20:], d.ReasonLines(), err)
		}
	}
	strict, err := deployment.Parse("policy.yaml", []byte("forbid: {categories: [unanalysed]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if d, err := strict.DecideWith(t.Context(),
		policy.Request{Code: strings.Repeat("let a: number = 1;\n", 10_000), Language: "typescript"}, r.Scan); err != nil ||
		d.Effect == policy.Allow {
		t.Errorf("unanalysed code although it is forbidden: %v %v", d.ReasonLines(), err)
	}
	r.allowed = func(scan.Input) time.Duration { return time.Nanosecond }
	if found, err := r.Scan(t.Context(), scan.Input{Code: code, Language: "typescript"}); err == nil {
		t.Errorf("a text that was not even scanned by tokens: %+v", found)
	}
	// Without a worker, code is not analysed at all, and never in this process.
	pool, err := scanpool.New(scanpool.Config{Command: []string{"/no/such/program"}})
	if err != nil {
		t.Fatal(err)
	}
	if found, err := (&ScanReader{pool, readTimeOf}).Scan(t.Context(),
		scan.Input{Code: "1", Language: "typescript"}); err == nil {
		t.Errorf("read without a worker: %+v", found)
	}
}
