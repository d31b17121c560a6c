package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/airlock-run/airlock/sandbox"
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
