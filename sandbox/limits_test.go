package sandbox_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// TestLimits checks that each limit ends the run under its own name, whatever the guest catches, and that earlier
// output is kept.
func TestLimits(t *testing.T) {
	e := newEngine(t)
	short := sandbox.Limits{Wall: time.Second} // on a busy machine, too, the guest prints before
	small := sandbox.Limits{Wall: time.Minute, MemoryBytes: 8 << 20, OutputBytes: 1000, LogEntries: 5, LogChars: 10}
	for _, c := range []struct {
		name, code string
		limits     sandbox.Limits
		want       sandbox.Limit
	}{
		{"wall", "for (;;) { try { for (;;) {} } catch {} }", short, sandbox.LimitWall},
		{"wall while waiting", "await new Promise((done) => setTimeout(done, 1e6))", short, sandbox.LimitWall},
		{"cpu", "for (;;) {}", sandbox.Limits{Wall: time.Minute, CPU: 50 * time.Millisecond}, sandbox.LimitCPU},
		{"cpu in pieces", "for (;;) { await new Promise((r) => setTimeout(r, 0)); for (let i = 0; i < 1e5; i++); }",
			sandbox.Limits{Wall: time.Minute, CPU: 50 * time.Millisecond}, sandbox.LimitCPU},
		{"memory", "const a = []; for (;;) { try { a.push(new Array(1000).fill(1)) } catch {} }",
			sandbox.Limits{MemoryBytes: 8 << 20}, sandbox.LimitMemory},
		{"stack", "(function f() { f() })()", sandbox.Limits{}, sandbox.LimitStack},
		{"logs", "for (;;) { try { console.log(1) } catch {} }", sandbox.Limits{Wall: small.Wall, LogEntries: 5,
			EndOnLogs: true}, sandbox.LimitLogs},
		{"output of many logs", "for (;;) { try { console.log(1) } catch {} }", small, sandbox.LimitOutput},
		{"output", "console.log('x'.repeat(2000))", small, sandbox.LimitOutput},
		{"output of wide text", "console.log('日'.repeat(2000))", small, sandbox.LimitOutput},
		{"output of the result", "return 'x'.repeat(2000)", small, sandbox.LimitOutput},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, e, sandbox.Script{Code: "console.log('before');\n" + c.code}, sandbox.Grants{Limits: c.limits})
			if r.Limit != c.want || r.Error == "" {
				t.Errorf("limit %q, error %q; want limit %q", r.Limit, r.Error, c.want)
			}
			if r.Value != nil || r.Completed() {
				t.Errorf("value %s, completed %v", r.Value, r.Completed())
			}
			if !strings.HasPrefix(r.Output, "before\n") || len(r.Logs) == 0 {
				t.Errorf("the output before the limit is gone: %q, %v", r.Output, r.Logs)
			}
			if r.Usage.WallMs <= 0 || r.Usage.MemoryBytes <= 0 {
				t.Errorf("usage %+v", r.Usage)
			}
			if c.limits.OutputBytes > 0 && len(r.Output) > c.limits.OutputBytes {
				t.Errorf("%d bytes of output", len(r.Output))
			}
		})
	}
}

// Console calls beyond the limit are counted, and the run goes on. Their text is in the output.
func TestLogsDropped(t *testing.T) {
	var told []sandbox.Log
	r := run(t, newEngine(t), sandbox.Script{Code: "for (let i = 1; i <= 105; i++) console.log('line', i); 7"},
		sandbox.Grants{OnLog: func(l sandbox.Log) { told = append(told, l) }})
	if string(r.Value) != "7" {
		t.Errorf("value %s", r.Value)
	}
	if r.Usage.LogsDropped != 5 || len(r.Logs) != 101 || len(told) != 101 {
		t.Fatalf("dropped %d, %d logs, %d told", r.Usage.LogsDropped, len(r.Logs), len(told))
	}
	last := r.Logs[100]
	if last.Level != "warn" || !strings.Contains(last.Message, "5 more") || r.Logs[99].Message != "line 100" {
		t.Errorf("%+v after %+v", last, r.Logs[99])
	}
	if !strings.HasSuffix(r.Output, "line 104\nline 105\n") {
		t.Errorf("output ends with %q", r.Output[len(r.Output)-30:])
	}
}

// Surplus console calls take no more memory than their text.
func TestLogsDroppedTakeNoMemory(t *testing.T) {
	r := run(t, newEngine(t), sandbox.Script{Code: "for (let i = 0; i < 100_000; i++) console.log(''); 7"},
		sandbox.Grants{Limits: sandbox.Limits{MemoryBytes: 8 << 20}})
	if string(r.Value) != "7" || r.Usage.LogsDropped != 99_900 {
		t.Errorf("value %s, error %q, dropped %d", r.Value, r.Error, r.Usage.LogsDropped)
	}
}

func TestCaughtStackOverflowIsNotALimit(t *testing.T) {
	e := newEngine(t)
	r := run(t, e,
		sandbox.Script{Code: "try { (function f() { f() })() } catch (e) { console.log(e.name) }\nthrow new " +
			"RangeError('Maximum call stack size exceeded')"}, sandbox.Grants{})
	if r.Limit != "" || r.Output != "RangeError\n" {
		t.Errorf("limit %q, output %q", r.Limit, r.Output)
	}
}

func TestLogsAreCut(t *testing.T) {
	e := newEngine(t)
	r := run(t, e, sandbox.Script{Code: "console.warn('日本語'.repeat(10)); console.log('short')"},
		sandbox.Grants{Limits: sandbox.Limits{LogChars: 7}})
	if len(r.Logs) != 2 {
		t.Fatalf("logs %+v", r.Logs)
	}
	if got := r.Logs[0]; got.Message != "日本語日本語日..." || got.Level != "warn" {
		t.Errorf("the first entry is %+v", got)
	}
	if got := r.Logs[1].Message; got != "short" {
		t.Errorf("the second entry is %q", got)
	}
	if r.Output != strings.Repeat("日本語", 10)+"\nshort\n" {
		t.Errorf("output %q", r.Output)
	}
}

func TestCancel(t *testing.T) {
	e := newEngine(t)
	for _, code := range []string{"console.log('go'); for (;;) {}",
		"console.log('go'); await new Promise((r) => setTimeout(r, 1e6))"} {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := e.Run(ctx, sandbox.Script{Code: code}, sandbox.Grants{OnLog: func(sandbox.Log) { cancel() }})
		if err != nil || !r.Cancelled {
			t.Errorf("%q: cancelled %v, error %q, %v", code, r.Cancelled, r.Error, err)
		}
		if r.Output != "go\n" || r.Limit != "" {
			t.Errorf("%q: output %q, limit %q", code, r.Output, r.Limit)
		}
	}
}

// TestTicksLimit checks that a limit in ticks always ends the same code at the same place: while it loads, later, and
// when it is repeated.
func TestTicksLimit(t *testing.T) {
	e := newEngine(t)
	for _, s := range []sandbox.Script{
		{Code: "let n = 0; for (;;) { n++; if (n % 10000 === 0) console.log(n) }"},
		{Code: "let n = 0; for (;;) { n++; if (n % 10000 === 0) globalThis.n = n } export default n", Version: "loading"},
		{Code: "const a = []; for (let i = 0; i < 200000; i++) a.push(i); export default () => { for (;;) a.push(1) }",
			Version: "loaded"},
	} {
		grants := sandbox.Grants{Limits: sandbox.Limits{Ticks: 60, LogEntries: 1000}}
		first := run(t, e, s, grants)
		if first.Limit != sandbox.LimitCPU || first.Usage.Ticks != 60 || first.Error != "timed out after 60 ticks of work" {
			t.Errorf("%s: %q %q %d ticks", s.Code, first.Limit, first.Error, first.Usage.Ticks)
		}
		grants.Replay = first.Journal
		if d := same(first, run(t, e, s, grants)); d != "" {
			t.Errorf("%s: repeated: %s", s.Code, d)
		}
		grants.Replay = nil
		if d := same(first, run(t, e, s, grants)); d != "" {
			t.Errorf("%s: again: %s", s.Code, d)
		}
	}
	s := sandbox.Script{Code: "const a = []; for (let i = 0; i < 200000; i++) a.push(i); export default () => a.length",
		Version: "heavy"}
	if r := run(t, e, s, sandbox.Grants{}); !r.Warm || r.Usage.Ticks < 10 {
		t.Fatalf("%v %d ticks", r.Warm, r.Usage.Ticks)
	}
	if r := run(t, e, s, sandbox.Grants{Limits: sandbox.Limits{Ticks: 5}}); r.Limit != sandbox.LimitCPU {
		t.Errorf("what loading took does not count: %q %s", r.Limit, r.Value)
	}
}

func TestTicksDependOnTheCodeAlone(t *testing.T) {
	e := newEngine(t)
	code := "const a = Array.from({ length: 5000 }, (_, i) => (i * 7919) % 10007).sort(); let s = 0; for (let i = 0; " +
		"i < 3e5; i++) s += a[i % 5000]; return s"
	first := run(t, e, sandbox.Script{Code: code}, sandbox.Grants{})
	for range 3 {
		if again := run(t, e, sandbox.Script{Code: code}, sandbox.Grants{}); again.Usage.Ticks != first.Usage.Ticks ||
			first.Usage.Ticks == 0 {
			t.Errorf("%d ticks, then %d", first.Usage.Ticks, again.Usage.Ticks)
		}
	}
}

// Time that passed before a run is a part of its wall time, whose limit it names whole.
func TestSpentTime(t *testing.T) {
	e := newEngine(t)
	for _, spent := range []time.Duration{9 * time.Second, time.Hour} {
		limits := sandbox.Limits{Wall: 9*time.Second + 100*time.Millisecond, Spent: spent}
		began := time.Now()
		r := run(t, e, sandbox.Script{Code: "for (;;);"}, sandbox.Grants{Limits: limits})
		if r.Limit != sandbox.LimitWall || r.Error != "timed out after 9.1s of wall time" {
			t.Errorf("after %v: limit %q, %s", spent, r.Limit, r.Error)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("after %v it ran for %v", spent, took)
		}
	}
}
