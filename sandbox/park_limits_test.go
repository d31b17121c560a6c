package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// TestTimersAndWaits checks what happens to timers when a run parks.
func TestTimersAndWaits(t *testing.T) {
	e := newEngine(t)
	grants := waitGrants
	grants.Waits.Grace = 30 * time.Millisecond
	for _, c := range []struct{ name, code, first, all string }{
		{"a timer that fires once comes first",
			"setTimeout(() => console.log('timer'), 20); await airlock.sleep('1 day'); console.log('slept')",
			"timer\n", "timer\nslept\n"},
		{"a short sleep is a timer", "await airlock.sleep('5 ms'); console.log('short'); await airlock.sleep(1e6)",
			"short\n", "short\n"},
		{"a timer that nobody waits for goes on", `const t = setTimeout(() => console.log('loose'), 60); t.unref();
			await airlock.sleep('1 day'); t.ref(); console.log('slept')`, "", "slept\nloose\n"},
		{"a repeating timer goes on", `let n = 0; const t = setInterval(() => { n++ }, 10);
			await airlock.sleep('1 day'); const was = n; await new Promise((r) => setTimeout(r, 40));
			clearInterval(t); console.log(was > 0, n > was)`, "", "true true\n"},
		{"a cleared timer is not waited for", `const t = setTimeout(() => console.log('never'), 5000); clearTimeout(t);
			await airlock.sleep('1 day')`, "", ""},
	} {
		script := sandbox.Script{Code: c.code}
		r := run(t, e, script, grants)
		if r.Parked == nil || r.Output != c.first {
			t.Errorf("%s: %q (%s)", c.name, r.Output, r.Error)
			continue
		}
		if r = resume(t, e, r, script, grants, sandbox.Answer{Seq: 1}); r.Output != c.all || r.Error != "" {
			t.Errorf("%s: then %q (%s)", c.name, r.Output, r.Error)
		}
	}
}

// TestLimitsAddUp checks that the limits of a run hold for all of its segments together.
func TestLimitsAddUp(t *testing.T) {
	e := newEngine(t)
	const day = "await airlock.sleep('1 day');"
	spin := "for (let i = 0; i < 100000; i++);"
	spun := run(t, e, sandbox.Script{Code: spin}, sandbox.Grants{}).Usage.Ticks
	for _, c := range []struct {
		name, code string
		limits     sandbox.Limits
		want       sandbox.Limit
	}{
		{"output", "console.log('x'.repeat(600));" + day + "console.log('x'.repeat(600))",
			sandbox.Limits{OutputBytes: 1000}, sandbox.LimitOutput},
		{"logs", "console.log(1);" + day + "console.log(2)", sandbox.Limits{LogEntries: 1, EndOnLogs: true},
			sandbox.LimitLogs},
		{"calls", "await echo();" + day + "await echo()", sandbox.Limits{APICalls: 1}, sandbox.LimitAPICalls},
		{"ticks", spin + day + spin, sandbox.Limits{Ticks: spun * 3 / 2}, sandbox.LimitCPU},
		{"memory", "const a = new Uint8Array(9e6).fill(1);" + day +
			"const b = new Uint8Array(9e6).fill(2); return a[1] + b[1]",
			sandbox.Limits{MemoryBytes: 16 << 20}, sandbox.LimitMemory},
		{"files", "fs.writeFileSync('a', 'x'.repeat(600));" + day + "fs.writeFileSync('b', 'x'.repeat(600))",
			sandbox.Limits{FileBytes: 1000}, sandbox.LimitFiles},
		// The first segment has time enough on a busy machine, too.
		{"time", "await new Promise((r) => setTimeout(r, 1000));" + day + "await new Promise((r) => setTimeout(r, 1000))",
			sandbox.Limits{Wall: 1900 * time.Millisecond}, sandbox.LimitWall},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			echo := sandbox.Tool{Name: "echo", Call: func(_ context.Context, p json.RawMessage) (json.RawMessage, error) {
				return p, nil
			}}
			grants := sandbox.Grants{Waits: waits, Limits: c.limits, Tools: []sandbox.Tool{echo}, Files: sandbox.FilesWrite,
				Modules: []string{"*"}}
			script := sandbox.Script{Code: "const fs = require('fs');" + c.code}
			r := run(t, e, script, grants)
			before := r.Usage
			if r = resume(t, e, r, script, grants, sandbox.Answer{Seq: 1}); r.Limit != c.want {
				t.Errorf("limit %q (%s), want %q", r.Limit, r.Error, c.want)
			}
			if r.Usage.Ticks < before.Ticks || r.Usage.WallMs < before.WallMs || r.Usage.CPUMs < before.CPUMs {
				t.Errorf("used %+v, and before %+v", r.Usage, before)
			}
		})
	}
}

// TestBodiesDoNotOutlastWaits checks what a run sees of a response that it had not read, and that bytes add up.
func TestBodiesDoNotOutlastWaits(t *testing.T) {
	o := newOrigin(t)
	e := o.engine(t, &names{addrs: map[string][]string{"example.com": {"93.184.216.34"}}})
	grants := sandbox.Grants{Waits: waits, Network: sandbox.Network{Mode: sandbox.NetworkPublic}}
	script := sandbox.Script{Code: `const r = await fetch('http://example.com/');
		const read = await fetch('http://example.com/');
		const text = await read.text();
		console.log(text.length);
		await airlock.sleep('1 day');
		return [text.length > 0, (await (await fetch('http://example.com/')).text()).length > 0,
			await r.text().catch((e) => e.message)]`}
	r := run(t, e, script, grants)
	again := resume(t, e, r, script, grants, sandbox.Answer{Seq: 1})
	const want = `[true,true,"the body of this response did not outlast a wait: read bodies before waiting"]`
	if string(again.Value) != want || again.Usage.APICalls != 3 {
		t.Errorf("%s %s, %d calls", again.Value, again.Error, again.Usage.APICalls)
	}
	var length int64
	if _, err := fmt.Sscan(r.Output, &length); err != nil {
		t.Fatal(err)
	}
	grants.Limits.FetchBytes = length * 3 / 2
	if r := resume(t, e, r, script, grants, sandbox.Answer{Seq: 1}); r.Limit != sandbox.LimitFetchBytes {
		t.Errorf("limit %q, %s %s", r.Limit, r.Value, r.Error)
	}
}
