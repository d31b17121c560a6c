package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/sandbox"
	"github.com/airlock-run/airlock/sandbox/internal/snapshot"
)

// waits grants durable waits.
var waits = sandbox.Waits{MaxPending: 8}

// refund is a tool whose calls need an approval. It answers with its parameters and the number of the wait.
var refund = sandbox.Tool{Name: "payments:refund", Approval: true,
	InputSchema: json.RawMessage(`{"required": ["order"]}`),
	Call: func(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
		return fmt.Appendf(nil, `{"params": %s, "seq": %d}`, params, sandbox.SeqOf(ctx)), nil
	}}

// report is a tool that is answered later.
var report = sandbox.Tool{Name: "report", Durable: true, OutputSchema: json.RawMessage(`{"type": "string"}`)}

var waitGrants = sandbox.Grants{Waits: waits, Tools: []sandbox.Tool{refund, report}}

// resume continues a parked run.
func resume(
	t testing.TB, e *sandbox.Engine, from sandbox.Result, s sandbox.Script, g sandbox.Grants, answers ...sandbox.Answer,
) sandbox.Result {
	t.Helper()
	if from.Parked == nil {
		t.Fatalf("the run does not wait: %s %s", from.Value, from.Error)
	}
	r, err := e.Resume(t.Context(), from.Parked.Snapshot, answers, s, g)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestParkAndResume(t *testing.T) {
	e := newEngine(t)
	yes := func(seq int, value string) sandbox.Answer {
		return sandbox.Answer{Seq: seq, Value: json.RawMessage(value)}
	}
	for _, c := range []struct {
		name, code string
		segments   [][]sandbox.Answer
		want       string
	}{
		{"an approved call", "const a = {n: 1}; const r = await payments.refund({order: 7}); return [a.n, r]",
			[][]sandbox.Answer{{{Seq: 1, Call: true}}}, `[1,{"params":{"order":7},"seq":1}]`},
		{"an edited call", "return (await payments.refund({order: 7})).params",
			[][]sandbox.Answer{{{Seq: 1, Call: true, Args: json.RawMessage(`{"order": 8}`)}}}, `{"order":8}`},
		{"an edited call that does not fit", "return payments.refund({order: 7}).catch((e) => e.message.slice(0, 44))",
			[][]sandbox.Answer{{{Seq: 1, Call: true, Args: json.RawMessage(`{}`)}}},
			`"tool payments:refund: the parameters do not "`},
		{"a rejected call", "try { await payments.refund({order: 7}) } catch (e) { return [e.name, e.message, e.tool] }",
			[][]sandbox.Answer{{{Seq: 1, Error: "no", ErrorName: "ApprovalRejected"}}},
			`["ApprovalRejected","no","payments:refund"]`},
		{"a call that is answered by its approver", "return await payments.refund({order: 7})",
			[][]sandbox.Answer{{yes(1, `"by hand"`)}}, `"by hand"`},
		{"a durable tool", "return await report({})", [][]sandbox.Answer{{yes(1, `"done"`)}}, `"done"`},
		{"a durable tool with a wrong answer", "return report().catch((e) => e.message.slice(0, 36))",
			[][]sandbox.Answer{{yes(1, "7")}}, `"tool report: the answer does not fit"`},
		{"a sleep", "await airlock.sleep('3 days'); return 1", [][]sandbox.Answer{{{Seq: 1}}}, "1"},
		{"an event", "return await airlock.waitForEvent('paid', {timeout: '7 days'})",
			[][]sandbox.Answer{{yes(1, `{"sum": 3}`)}}, `{"sum":3}`},
		{"an approval", "return await airlock.approve({title: 'Go?', schema: {type: 'boolean'}})",
			[][]sandbox.Answer{{yes(1, "true")}}, "true"},
		{"waits in parallel, answered in another order", `const all = [airlock.sleep('1 h'), airlock.waitForEvent('a'),
			payments.refund({order: 1})]; const done = []; all.forEach((p, i) => p.then(() => done.push(i)));
			await Promise.all(all); return done`,
			[][]sandbox.Answer{{{Seq: 3, Call: true}}, {yes(2, "2")}, {{Seq: 1}}}, "[2,1,0]"},
		{"answers at once", "return await Promise.all([airlock.waitForEvent('a'), airlock.waitForEvent('b')])",
			[][]sandbox.Answer{{yes(2, "2"), yes(1, "1")}}, "[1,2]"},
		{"the first answer is enough", "return await Promise.race([airlock.waitForEvent('a'), airlock.sleep('1 day')])",
			[][]sandbox.Answer{{yes(1, `"a"`)}}, `"a"`},
		{"one wait after the other", "let n = 0; for (const x of 'abc') n += await airlock.waitForEvent(x); return n",
			[][]sandbox.Answer{{yes(1, "1")}, {yes(2, "2")}, {yes(3, "3")}}, "6"},
		{"an exception after a wait", "await airlock.sleep('1 day');\nnull.x", [][]sandbox.Answer{{{Seq: 1}}},
			"TypeError: Cannot read properties of null (reading 'x') line 2"},
		{"a console call that nobody waits for", "airlock.sleep('1 day').then(() => console.log('later'))",
			[][]sandbox.Answer{{{Seq: 1}}}, "null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			script := sandbox.Script{Code: c.code}
			r := run(t, e, script, waitGrants)
			for _, answers := range c.segments {
				if r.Completed() || r.Error != "" || r.Value != nil {
					t.Fatalf("want a run that waits: %s %s", r.Value, r.Error)
				}
				r = resume(t, e, r, script, waitGrants, answers...)
			}
			got := string(r.Value)
			if r.Exception != nil {
				got = fmt.Sprintf("%s line %d", r.Error, r.Exception.Line)
			}
			if got != c.want || r.Parked != nil || r.Pure {
				t.Errorf("got %s (%s, %v), want %s", got, r.Error, r.Parked, c.want)
			}
		})
	}
}

func TestWaitingTellsWhatFor(t *testing.T) {
	e := newEngine(t)
	r := run(t, e, sandbox.Script{Code: `await Promise.all([payments.refund({order: 7}), report(),
		airlock.sleep('3 days'), airlock.waitForEvent('paid', {timeout: 60000}), airlock.waitForEvent('never'),
		airlock.approve({title: 'Go?', detail: 'now', schema: {type: 'boolean'}})])`}, waitGrants)
	if r.Parked == nil {
		t.Fatal(r.Error)
	}
	got := r.Parked.Waiting
	for i, about := range []time.Duration{2: 72 * time.Hour, 3: time.Minute, 5: 0} {
		for _, at := range []*time.Time{&got[i].DueAt, &got[i].ExpiresAt} {
			if left := time.Until(*at); !at.IsZero() && (left > about || left < about-time.Minute) {
				t.Errorf("wait %d is due in %v, want about %v", i+1, left, about)
			}
		}
	}
	if got[2].DueAt.IsZero() || got[3].ExpiresAt.IsZero() || !got[4].ExpiresAt.IsZero() {
		t.Errorf("times: %+v", got)
	}
	got[2].DueAt, got[3].ExpiresAt = time.Time{}, time.Time{}
	want := []sandbox.Waiting{
		{Seq: 1, Kind: "approval", Tool: "payments:refund", Args: json.RawMessage(`{"order":7}`)},
		{Seq: 2, Kind: "tool", Tool: "report", Args: json.RawMessage("{}")},
		{Seq: 3, Kind: "sleep"}, {Seq: 4, Kind: "event", Name: "paid"}, {Seq: 5, Kind: "event", Name: "never"},
		{Seq: 6, Kind: "approval", Title: "Go?", Detail: "now", Schema: json.RawMessage(`{"type":"boolean"}`)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	check := func(value string) error { return got[5].Check(t.Context(), json.RawMessage(value)) }
	if check("1") == nil || check("true") != nil {
		t.Error("the schema of an approval does not hold")
	}
}

func TestRefusedWaits(t *testing.T) {
	e := newEngine(t)
	var called bool
	tool := refund
	tool.Call = func(context.Context, json.RawMessage) (json.RawMessage, error) { called = true; return nil, nil }
	none := sandbox.Grants{Waits: sandbox.Waits{Hint: "policy strict has none"}, Tools: []sandbox.Tool{tool, report}}
	some := sandbox.Grants{Waits: sandbox.Waits{MaxPending: 1}, Tools: none.Tools}
	many := sandbox.Grants{Waits: sandbox.Waits{MaxPending: 9}, Tools: none.Tools}
	const lacks = " needs durable waits, which this execution does not have: policy strict has none"
	for _, c := range []struct {
		code, want string
		grants     sandbox.Grants
	}{
		{"airlock.sleep('3 days')", "airlock.sleep" + lacks, none},
		{"airlock.sleep(1)", "airlock.sleep" + lacks, none},
		{"airlock.waitForEvent('x')", "airlock.waitForEvent" + lacks, none},
		{"airlock.approve({title: 'x'})", "airlock.approve" + lacks, none},
		{"payments.refund({order: 1})", "tool payments:refund" + lacks, none},
		{"(async () => payments.refund.sync({order: 1}))()",
			"tool payments:refund waits for an answer: call it without sync, and await the call", none},
		{"(async () => payments.refund.sync({order: 1}))()",
			"tool payments:refund waits for an answer: call it without sync, and await the call", some},
		{"report()", "tool report" + lacks, none},
		{"payments.refund({})", "tool payments:refund: the parameters do not fit: the value: missing property 'order'",
			some},
		{"Promise.all([airlock.sleep(1e5), airlock.sleep(1e5)])", "more than 1 durable waits at one time", some},
		{"airlock.sleep('soon')", `airlock.sleep: "soon" is not a duration; it is milliseconds, or such as ` +
			`"90 s", "3 days" or "1 week"`, some},
		{"airlock.sleep()", "airlock.sleep: the duration is neither a number of milliseconds nor a string", some},
		{"airlock.sleep('11 w'.repeat(60))", `airlock.sleep: "11 w11 w`, some},
		{"airlock.sleep('11 w'.repeat(99))", `airlock.sleep: "" is not a duration`, some},
		{"airlock.waitForEvent('x', {timeout: '1 d'.repeat(99)})", `airlock.waitForEvent: "" is not a duration`, some},
		{"airlock.waitForEvent(7)", "airlock.waitForEvent: the name is not a string", some},
		{"airlock.waitForEvent('x'.repeat(300))", "the name of the event has 300 bytes; at most 256 are accepted", some},
		{"airlock.approve({})", "airlock.approve: title is not a string", some},
		{"airlock.approve({title: 'x', schema: {type: 7}})", "schema: ", some},
		{"Promise.all(Array.from({length: 2}, () => airlock.approve({title: 'x', detail: '\\x01'.repeat(5e4)})))",
			"the durable waits of a run have at most 524288 bytes of JSON at one time; these have 600002", many},
		{"Promise.all(Array.from({length: 2}, () => payments.refund({order: 1, note: 'x'.repeat(3e5)})))",
			"the durable waits of a run have at most 524288 bytes of JSON at one time; these have 600", many},
	} {
		r := run(t, e, sandbox.Script{Code: "return " + c.code + ".then(() => 'no error', (e) => e.message)"}, c.grants)
		var got string
		if json.Unmarshal(r.Value, &got) != nil || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %q (%s), want %q", c.code, got, r.Error, c.want)
		}
	}
	if called {
		t.Error("a call without an approval was made")
	}
}

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
		{"time", "await new Promise((r) => setTimeout(r, 120));" + day + "await new Promise((r) => setTimeout(r, 120))",
			sandbox.Limits{Wall: 200 * time.Millisecond}, sandbox.LimitWall},
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

func TestStateCarriesOver(t *testing.T) {
	e := newEngine(t)
	grants := sandbox.Grants{Waits: waits, Files: sandbox.FilesWrite, Modules: []string{"*"}, Eval: true,
		Limits: sandbox.Limits{LogEntries: 2}}
	script := sandbox.Script{Code: `
		const fs = require('fs'), zlib = require('zlib');
		fs.mkdirSync('/d'); fs.writeFileSync('/d/made', 'one'); fs.unlinkSync('/gone');
		console.log('a'); console.warn('b'); console.log('c');
		const origin = performance.timeOrigin;
		const key = await crypto.subtle.generateKey({name: 'HMAC', hash: 'SHA-256'}, true, ['sign']);
		const stream = new CompressionStream('gzip'), writer = stream.writable.getWriter();
		const out = new Response(stream.readable).arrayBuffer();
		await writer.write(new Uint8Array(9));
		class A { #x = 3; get x() { return this.#x } }
		const a = new A(), weak = new WeakRef(a), m = new Map([[a, 'm']]);
		const gen = (function* () { yield 1; yield 2 })(); gen.next();
		const before = Math.random();
		await airlock.sleep('1 day');
		let lost; try { await writer.close(); await out } catch (e) { lost = e.message }
		await out.catch(() => {});
		fs.appendFileSync('/d/made', ' two');
		return [fs.readFileSync('/d/made', 'utf8'), fs.readFileSync('/given', 'utf8'), fs.existsSync('/gone'), a.x,
			weak.deref() === a, m.get(a), gen.next().value, origin === performance.timeOrigin,
			(await crypto.subtle.sign('HMAC', key, new Uint8Array(1))).byteLength,
			eval('a.x + 1'), before !== Math.random(), lost]`,
		Files: map[string][]byte{"given": []byte("given"), "gone": []byte("gone")}}
	r := run(t, e, script, grants)
	r = resume(t, e, r, script, grants, sandbox.Answer{Seq: 1})
	const want = `["one two","given",false,3,true,"m",2,true,32,4,true,` +
		`"the stream was open while the code waited: streams do not outlast a wait"]`
	if string(r.Value) != want || r.Output != "a\nb\nc\n" {
		t.Errorf("got %s (%s), output %q", r.Value, r.Error, r.Output)
	}
	if len(r.Logs) != 3 || r.Usage.LogsDropped != 1 {
		t.Errorf("%d logs, %d dropped", len(r.Logs), r.Usage.LogsDropped)
	}
	if string(r.Files["d/made"]) != "one two" || len(r.Files) != 1 {
		t.Errorf("files %v", r.Files)
	}
	if grants.Eval = false; true {
		script := sandbox.Script{Code: "await airlock.sleep('1 day'); return eval('1')"}
		first := run(t, e, script, sandbox.Grants{Waits: waits, Eval: true})
		r := resume(t, e, first, script, grants, sandbox.Answer{Seq: 1})
		if !strings.Contains(r.Error, "eval is not supported") {
			t.Errorf("eval of an earlier segment: %s %s", r.Value, r.Error)
		}
	}
}

// TestVersionsAndPackagesPark checks runs that start from other images than the library's.
func TestVersionsAndPackagesPark(t *testing.T) {
	for range 2 { // the second engine has seen neither
		e := newEngine(t)
		script := sandbox.Script{Version: "v1", Owner: "o",
			Code: "const table = Array.from({length: 500}, (_, i) => 'row ' + i);\n" +
				"export default async () => { await airlock.sleep('1 day'); return table[499] }"}
		r := run(t, e, script, waitGrants)
		if !r.Warm || r.Parked == nil {
			t.Fatalf("%+v", r)
		}
		other := newEngine(t)
		if r = resume(t, other, r, script, waitGrants, sandbox.Answer{Seq: 1}); string(r.Value) != `"row 499"` || !r.Warm {
			t.Errorf("%s %s, warm %v", r.Value, r.Error, r.Warm)
		}
	}
}

// TestReplaySegments repeats a run segment by segment.
func TestReplaySegments(t *testing.T) {
	e := newEngine(t)
	script := sandbox.Script{Code: `const at = Date.now(), id = crypto.randomUUID();
		const first = await Promise.all([payments.refund({order: 1}), airlock.waitForEvent('x'), report()].map((p) =>
			p.catch((e) => e.message)));
		const loose = setInterval(() => {}, 5);
		const second = await airlock.approve({title: 'Go?'});
		return [at, id, first, second, Date.now() >= at, crypto.randomUUID()]`}
	grants := waitGrants
	grants.Waits.Grace = 10 * time.Millisecond
	answers := [][]sandbox.Answer{nil,
		{{Seq: 1, Call: true}, {Seq: 2, Value: json.RawMessage("2")}, {Seq: 3, Error: "no report"}},
		{{Seq: 4, Value: json.RawMessage("true")}}}
	segments := []sandbox.Result{run(t, e, script, grants)}
	for _, a := range answers[1:] {
		segments = append(segments, resume(t, e, segments[len(segments)-1], script, grants, a...))
	}
	replayed := grants
	replayed.Tools = []sandbox.Tool{refund, report}
	replayed.Tools[0].Call = func(context.Context, json.RawMessage) (json.RawMessage, error) {
		t.Error("a repeated run calls a tool")
		return nil, nil
	}
	replayed.Replay = segments[0].Journal
	r := run(t, e, script, replayed)
	for i, s := range segments[1:] {
		if r.Parked == nil || r.Usage.Ticks != segments[i].Usage.Ticks {
			t.Fatalf("segment %d: %s, %d ticks of %d", i+1, r.Error, r.Usage.Ticks, segments[i].Usage.Ticks)
		}
		replayed.Replay = s.Journal
		r = resume(t, e, r, script, replayed)
	}
	last := segments[len(segments)-1]
	if last.Value == nil || string(r.Value) != string(last.Value) {
		t.Errorf("repeated: %s (%s), and before %s (%s)", r.Value, r.Error, last.Value, last.Error)
	}
}

// TestRefusedSnapshots checks that a snapshot or an answer that does not fit is refused by name, before anything runs.
func TestRefusedSnapshots(t *testing.T) {
	e := newEngine(t)
	script := sandbox.Script{Code: "await airlock.approve({title: 'Go?', schema: {type: 'boolean'}})"}
	r := run(t, e, script, waitGrants)
	if r.Parked == nil {
		t.Fatal(r.Error)
	}
	good, yes := r.Parked.Snapshot, sandbox.Answer{Seq: 1, Value: json.RawMessage("true")}
	changed := func(at int) []byte { b := append([]byte(nil), good...); b[at] ^= 1; return b }
	small := waitGrants
	small.Waits.MaxImageBytes = 1000
	edited := func(edit func(*snapshot.State)) []byte {
		b, err := e.EditSnapshot(good, edit)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, c := range []struct {
		name    string
		from    []byte
		answers []sandbox.Answer
		script  sandbox.Script
		grants  sandbox.Grants
		want    error
	}{
		{"empty", nil, nil, script, waitGrants, sandbox.ErrSnapshot},
		{"no snapshot", []byte("something else that is long enough to be a snapshot's head"), nil, script, waitGrants,
			sandbox.ErrSnapshot},
		{"cut", good[:len(good)-1], nil, script, waitGrants, sandbox.ErrSnapshot},
		{"the head alone", good[:59], nil, script, waitGrants, sandbox.ErrSnapshot},
		{"a changed body", changed(len(good) - 9), nil, script, waitGrants, sandbox.ErrSnapshot},
		{"a changed length", changed(51), nil, script, waitGrants, sandbox.ErrSnapshot},
		{"a huge length", changed(58), nil, script, waitGrants, sandbox.ErrSnapshot},
		{"another version", changed(17), nil, script, waitGrants, sandbox.ErrEngineChanged},
		{"another engine", changed(30), nil, script, waitGrants, sandbox.ErrEngineChanged},
		{"another script", good, nil, sandbox.Script{Code: "1"}, waitGrants, sandbox.ErrSnapshot},
		{"too large", good, nil, script, small, sandbox.ErrSnapshot},
		{"memory that is too small", edited(func(s *snapshot.State) { s.Guest.Size = 65536 }), nil, script, waitGrants,
			sandbox.ErrSnapshot},
		{"memory of no pages", edited(func(s *snapshot.State) { s.Guest.Size++ }), nil, script, waitGrants,
			sandbox.ErrSnapshot},
		{"changes beyond memory", edited(func(s *snapshot.State) { s.Guest.Changes = []byte{255, 255, 255, 255, 1, 1} }), nil,
			script, waitGrants, sandbox.ErrSnapshot},
		{"facts", edited(func(s *snapshot.State) { s.Facts = []byte("{") }), nil, script, waitGrants, sandbox.ErrSnapshot},
		{"random numbers", edited(func(s *snapshot.State) { s.Clock.Stream = []byte("x") }), nil, script, waitGrants,
			sandbox.ErrSnapshot},
		{"an answer to nothing", good, []sandbox.Answer{{Seq: 2}}, script, waitGrants, sandbox.ErrNotPending},
		{"two answers to one", good, []sandbox.Answer{yes, yes}, script, waitGrants, sandbox.ErrNotPending},
		{"an answer of another shape", good, []sandbox.Answer{{Seq: 1, Value: json.RawMessage("7")}}, script, waitGrants,
			sandbox.ErrAnswer},
		{"an answer that is no JSON", good, []sandbox.Answer{{Seq: 1, Value: json.RawMessage("{")}}, script, waitGrants,
			sandbox.ErrAnswer},
		{"a call where none waits", good, []sandbox.Answer{{Seq: 1, Call: true}}, script, waitGrants, sandbox.ErrAnswer},
	} {
		r, err := e.Resume(t.Context(), c.from, c.answers, c.script, c.grants)
		if !errors.Is(err, c.want) || r.Value != nil {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	for range 2 { // a snapshot can be used again
		if r := resume(t, e, r, script, waitGrants, yes); string(r.Value) != "true" {
			t.Errorf("%s %s", r.Value, r.Error)
		}
	}
	large := run(t, e, sandbox.Script{Code: "const a = new Uint8Array(9e4).fill(7); await airlock.sleep(1e6); a[1]"},
		sandbox.Grants{Waits: sandbox.Waits{MaxPending: 1, MaxImageBytes: 80 << 10}})
	if large.Limit != sandbox.LimitWaits || large.Parked != nil || !strings.Contains(large.Error, "80 KiB") {
		t.Errorf("a large state: limit %q, %s", large.Limit, large.Error)
	}
}

// TestScribbledMemory resumes guests that wrote anything to all of their memory. A guest may do that whether it waits
// or not. What it gets by waiting is checked to be nothing: the run ends within its limits, and the next is unharmed. A
// guest whose code is overwritten may end in any way, with a result too.
func TestScribbledMemory(t *testing.T) {
	e := newEngine(t)
	script := sandbox.Script{Code: "await airlock.sleep('1 day'); for (;;) {}"}
	grants := waitGrants
	grants.Limits = sandbox.Limits{Wall: 100 * time.Millisecond, MemoryBytes: 16 << 20}
	parked := run(t, e, script, grants)
	if parked.Parked == nil {
		t.Fatal(parked.Error)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		text, err := e.EditSnapshot(parked.Parked.Snapshot, func(s *snapshot.State) {
			s.Guest.Changes = scribbled(random, s.Guest.Changes, s.Guest.Size, i)
			s.Guest.Rejected = []uint64{random.Uint64(), 0xffffffff<<32 | random.Uint64N(1<<22)}
			s.Guest.Overflow, s.Guest.CollectAt = random.Uint64(), random.Uint64()
		})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		r, err := e.Resume(t.Context(), text, []sandbox.Answer{{Seq: 1}}, script, grants)
		if err != nil {
			t.Fatalf("scribble %d: %v", i, err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("scribble %d took %v", i, took)
		}
		if r.Usage.MemoryBytes > grants.Limits.MemoryBytes {
			t.Errorf("scribble %d used %d bytes, over the limit of %d", i, r.Usage.MemoryBytes, grants.Limits.MemoryBytes)
		}
	}
	if r := run(t, e, sandbox.Script{Code: "[1, 2].map((x) => x * 2)"}, sandbox.Grants{}); string(r.Value) != "[2,4]" {
		t.Errorf("a guest afterwards: %s %s", r.Value, r.Error)
	}
}

// scribbled returns changes with bytes of them flipped, with random words all over memory, or with all of it random.
func scribbled(random *rand.Rand, changes []byte, size uint32, i int) []byte {
	out := append([]byte(nil), changes...)
	word := func(out []byte, gap uint64) []byte {
		for ; gap >= 0x80; gap >>= 7 {
			out = append(out, byte(gap)|0x80)
		}
		out = append(out, byte(gap), 1)
		for range 8 {
			out = append(out, byte(random.Uint32()))
		}
		return out
	}
	switch i % 3 {
	case 0: // the values of some words: their number and places stay
		for range 1 + i/3 {
			at := len(out) - 1 - random.IntN(6)
			out[at] ^= byte(1 + random.IntN(255))
		}
		return out
	case 1:
		out = nil
		for at := uint64(0); ; {
			gap := random.Uint64N(200)
			if at += gap + 1; at*8 > uint64(size) {
				return out
			}
			out = word(out, gap)
		}
	}
	out = nil
	for range size / 8 {
		out = word(out, 0)
	}
	return out
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
