package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// same lists how two runs differ.
func same(a, b sandbox.Result) string {
	for _, c := range []struct {
		what string
		a, b any
	}{
		{"value", string(a.Value), string(b.Value)}, {"output", a.Output, b.Output}, {"error", a.Error, b.Error},
		{"limit", a.Limit, b.Limit},
		{"ticks", a.Usage.Ticks, b.Usage.Ticks}, {"api calls", a.Usage.APICalls, b.Usage.APICalls},
		{"memory", a.Usage.MemoryBytes, b.Usage.MemoryBytes},
		{"files", fmt.Sprint(a.Files), fmt.Sprint(b.Files)}, {"exception", fmt.Sprint(a.Exception), fmt.Sprint(b.Exception)},
	} {
		if c.a != c.b {
			return fmt.Sprintf("%s: %v, then %v", c.what, c.a, c.b)
		}
	}
	return ""
}

func TestReplay(t *testing.T) {
	o := newOrigin(t)
	e := o.engine(t, &names{addrs: map[string][]string{"example.com": {"93.184.216.34"}}})
	calls := 0
	grants := sandbox.Grants{
		Limits: sandbox.Limits{APICalls: 10}, Modules: []string{"*"}, Files: sandbox.FilesWrite,
		Network: sandbox.Network{Mode: sandbox.NetworkPublic,
			Secrets: []sandbox.Secret{{Name: "K", Value: "hidden value", Hosts: []string{"example.com"}}}},
		Tools: []sandbox.Tool{{Name: "a:count", Call: func(context.Context, json.RawMessage) (json.RawMessage, error) {
			calls++
			return json.Marshal(calls)
		}}, {Name: "a:fail", Call: func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return nil, fmt.Errorf("failure %d", calls)
		}}},
	}
	seed := int64(7)
	endless := map[string]bool{"for (;;);": true, "for (;;) Date.now()": true,
		"await new Promise(r => setTimeout(r, 5000))": true}
	for _, code := range []string{
		"1 + 1",
		"[Date.now(), Math.random(), performance.now(), new Date().toISOString(), crypto.randomUUID(), " +
			"require('crypto').randomBytes(70000).toString('hex').slice(-9)]",
		"const t = []; for (let i = 0; i < 300; i++) { t.push(Date.now()); for (let j = 0; j < 2000; j++); } t",
		"const out = []; setTimeout(() => out.push('b', Date.now()), 3); setTimeout(() => out.push('a'), 1); const i = " +
			"setInterval(() => out.push(out.length) > 9 && clearInterval(i), 1); await new Promise(r => setTimeout(r, 15)); out",
		"const r = await Promise.all([1, 2, 3, 4].map(async (n) => [n, await a.count({n}), Date.now()])); r",
		"[a.count.sync(), await a.count(), await a.fail().catch(e => e.message), (() => { try { a.fail.sync() } catch " +
			"(e) { return e.message } })()]",
		"const r = await fetch('http://example.com/' + secrets.K, {headers: {'X-Key': secrets.K}}); " +
			"console.log(r.status, await r.text(), secrets.K)",
		"let s = ''; for await (const c of (await fetch('http://example.com/stream')).body) s += c.length + ','; s",
		"await fetch('http://nowhere.example/').catch(e => e.message)",
		"await fetch('http://example.com/slow', {signal: AbortSignal.timeout(5)}).then(r => r.text()).catch(e => e.name)",
		"require('fs').writeFileSync('/a.txt', String(Date.now())); require('fs').statSync('/a.txt').mtimeMs",
		"throw new Error('at ' + Date.now())",
		"const k = await crypto.subtle?.generateKey?.({name: 'AES-GCM', length: 128}, true, ['encrypt']); k ? " +
			"Buffer.from(await crypto.subtle.exportKey('raw', k)).toString('hex') : 0",
		"for (;;) await a.count()",
		"for (;;);",
		"for (;;) Date.now()",
		"await new Promise(r => setTimeout(r, 5000))",
	} {
		grants.Limits.Wall = 20 * time.Second
		if endless[code] {
			grants.Limits.Wall = 300 * time.Millisecond
		}
		for _, seeded := range []*int64{nil, &seed} {
			script := sandbox.Script{Code: code, Seed: seeded}
			first, err := e.Run(t.Context(), script, grants)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(first.Journal)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "hidden value") {
				t.Errorf("%s: the journal shows a secret: %s", code, text)
			}
			var journal sandbox.Journal
			if err := json.Unmarshal(text, &journal); err != nil {
				t.Fatal(err)
			}
			if journal.Truncated {
				continue
			}
			before, dialled := calls, len(o.dialled)
			again := grants
			again.Replay = &journal
			second, err := e.Run(t.Context(), script, again)
			if err != nil {
				t.Fatal(err)
			}
			if d := same(first, second); d != "" {
				t.Errorf("%s (seeded %t): %s", code, seeded != nil, d)
			}
			if calls != before || len(o.dialled) != dialled {
				t.Errorf("%s: the repeated run reached outside", code)
			}
		}
	}
	grants.Limits.Wall = 20 * time.Second
	r, err := e.Run(t.Context(), sandbox.Script{Code: "[await a.count({x: 1}), Date.now()]"}, grants)
	if err != nil {
		t.Fatal(err)
	}
	grants.Replay = r.Journal
	for _, code := range []string{"[await a.count({x: 2}), Date.now()]", "Date.now(), Date.now(), Date.now()", "1",
		"await new Promise(r => setTimeout(r, 1))", "a.count.sync()"} {
		r, err := e.Run(t.Context(), sandbox.Script{Code: code}, grants)
		if err != nil || !strings.HasPrefix(r.Error, "the run diverges from its journal: ") {
			t.Errorf("%s: %s %s %v", code, r.Value, r.Error, err)
		}
	}
}
