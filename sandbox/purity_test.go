package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

// world holds everything that can differ between two runs of the same code.
type world struct {
	*sandbox.Engine
	grants sandbox.Grants
}

// worlds returns two worlds that have nothing in common: neither the time, nor the random numbers, nor the answers of
// the host.
func worlds(t *testing.T) (a, b world) {
	t.Helper()
	one := func(year int, random byte) world {
		var read atomic.Int64
		now := func() time.Time {
			return time.Date(year, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(read.Add(1)) * time.Duration(random) *
				time.Second)
		}
		grants := allGrants(func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.Marshal(year) })
		grants.Limits = sandbox.Limits{Wall: 20 * time.Second, CPU: 150 * time.Millisecond, FileBytes: 64 << 20}
		if raceEnabled {
			grants.Limits.CPU *= 20 // the race detector makes everything slower by this factor
		}
		return world{exposed(t, now, endless(random)), grants}
	}
	return one(2001, 3), one(2031, 7)
}

// endless returns a reader of numbers from a random start.
func endless(random byte) io.Reader {
	next := random
	return readerFunc(func(p []byte) (int, error) {
		for i := range p {
			next = next*5 + 3 + random
			p[i] = next
		}
		return len(p), nil
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// seen is what a caller sees of a run that may be answered from a cache.
func seen(r sandbox.Result) string {
	return fmt.Sprintf("%s|%s|%s|%v", r.Value, r.Output, r.Error, r.Files)
}

// compare runs code in both worlds. It reports whether the code was pure, and fails if it was and the results differ.
func compare(t *testing.T, a, b world, name, code string, context map[string]json.RawMessage) (pure, ended bool) {
	t.Helper()
	script := sandbox.Script{Code: code, Context: context,
		Files: map[string][]byte{"a": []byte("a"), "big": bytes.Repeat([]byte("b"), 1<<16)}}
	first, err := a.Run(t.Context(), script, a.grants)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	second, err := b.Run(t.Context(), script, b.grants)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if first.Limit != "" || second.Limit != "" {
		for _, r := range []sandbox.Result{first, second} {
			if r.Limit != "" && r.Pure {
				t.Errorf("%s: limit %s ended it, and it is pure", name, r.Limit)
			}
		}
		return false, true
	}
	if first.Pure != second.Pure {
		t.Errorf("%s: pure in one world and not in the other", name)
	}
	if first.Pure && seen(first) != seen(second) {
		t.Errorf("%s is pure and comes to\n%.300s\nand\n%.300s", name, seen(first), seen(second))
	}
	return first.Pure, false
}

// reaching are the operations that let data from outside in. All others leave a run pure.
var reaching = map[string]bool{
	"random": true, "timeOrigin": true, "setup": true, "tool": true, "fetch.send": true, "fetch.abort": true,
	"crypto.generate": true, "crypto.oaep": true,
	"crypto.sign": true, "garbage": true,
}

// TestPurityOfHostOperations checks that a run whose result could differ is not pure, whatever operation it calls,
// and that computing leaves a run pure.
func TestPurityOfHostOperations(t *testing.T) {
	a, b := worlds(t)
	keys := material(t)
	small := strings.Replace(prelude, "FULL = 16 * M", "FULL = 1 << 12", 1)
	// The setup of a guest contains the random placeholders of secrets, so runs without secrets come first.
	a.grants.Network.Secrets, b.grants.Network.Secrets = nil, nil
	for _, c := range hostCases(t, a.Engine, a.grants, false) {
		name, _, _ := strings.Cut(c.name, " ")
		code := strings.Replace(c.code, prelude, small, 1)
		code = strings.Replace(code, "$sync('"+name+"', ...given)", "show($sync('"+name+"', ...given))", 1)
		code = "const show = (v) => console.log(v instanceof ArrayBuffer ? $sync('buffer.encode', 'hex', v) : " +
			"JSON.stringify(v));" + code
		pure, ended := compare(t, a, b, c.name, code, keys)
		computes := strings.HasPrefix(c.code, prelude+"let i = 0; try { const given") && !strings.Contains(c.code, "$request")
		if impure := !ended && !pure; impure && computes && !reaching[name] {
			t.Errorf("%s: computing makes the run impure", c.name)
		}
	}
}

// TestPurityOfPrograms tries every way in which a program could tell two runs apart.
func TestPurityOfPrograms(t *testing.T) {
	a, b := worlds(t)
	pure := map[string]bool{
		"[3, 1, 2].sort()":                                 true,
		"console.log(1); new Date(0)":                      true,
		"new Date(0).toLocaleString()":                     true,
		"Intl.DateTimeFormat().resolvedOptions().timeZone": true,
		"require('fs').existsSync('/a')":                   true,
		"require('fs').statSync('/a').size":                true,
		"require('fs').readdirSync('/')":                   true,
		"const fs = require('fs'); fs.utimesSync('/a', 5, 5); fs.statSync('/a').mtimeMs":    true,
		"const fs = require('fs'); fs.writeFileSync('/n', 'x'); fs.statSync('/n').isFile()": true,
		"const fs = require('fs'); fs.copyFileSync('/a', '/c'); fs.statSync('/c').ino":      true,
		"process.memoryUsage()": true,
		"process.cpuUsage()":    true,
		"[require('os').totalmem(), require('os').uptime(), require('os').hostname()]": true,
		"new Error('x').stack": true,
		"let n = 0; const f = () => { n++; f() }; try { f() } catch {}; n":                   true,
		"await Promise.race([1, 2])":                                                         true,
		"queueMicrotask(() => {}); 1":                                                        true,
		"await crypto.subtle.digest('SHA-256', new Uint8Array(9)).then((b) => b.byteLength)": true,
		"structuredClone(new Map([[1, 2]])).size":                                            true,
		"require('zlib').gzipSync('abc').toString('hex')":                                    true,
		"new TextDecoder().decode(new Uint8Array([1]))":                                      true,
		"[...'zyx'].sort((a, b) => a.localeCompare(b))":                                      true,
		"const m = new WeakMap(); m.set({}, 1); 1":                                           true,

		"Math.random()":                                    false,
		"Date.now()":                                       false,
		"new Date()":                                       false,
		"Date()":                                           false,
		"new Date().getTimezoneOffset()":                   false,
		"performance.now()":                                false,
		"performance.timeOrigin":                           false,
		"performance.toJSON()":                             false,
		"performance.mark('x').startTime":                  false,
		"process.hrtime()":                                 false,
		"String(process.hrtime.bigint())":                  false,
		"process.uptime()":                                 false,
		"new Event('x').timeStamp":                         false,
		"new File([], 'x').lastModified":                   false,
		"console.time('x'); console.timeEnd('x')":          false,
		"new Intl.DateTimeFormat('en').format()":           false,
		"crypto.randomUUID()":                              false,
		"[...crypto.getRandomValues(new Uint8Array(9))]":   false,
		"require('crypto').randomInt(1e9)":                 false,
		"require('crypto').randomBytes(9).toString('hex')": false,
		"(await crypto.subtle.exportKey('raw', await crypto.subtle.generateKey({ name: 'AES-GCM', length: 128 }, true, " +
			"['encrypt']))).byteLength": false,
		"await new Request('http://a/', { method: 'POST', body: new FormData() " +
			"}).text()": false,
		"require('fs').statSync('/a').mtimeMs":                        false,
		"require('fs').statSync('/a').birthtime":                      false,
		"JSON.stringify(require('fs').statSync('/a'))":                false,
		"require('fs').statSync('/a', { bigint: true }).ctimeMs + ''": false,
		"console.log(require('fs').statSync('/a'))":                   false,
		"require('fs').mkdtempSync('/tmp/x')":                         false,
		"setTimeout(() => {}, 0); 'x'":                                false,
		"setImmediate(() => {}); 'x'":                                 false,
		"AbortSignal.timeout(1e6); 1":                                 false,
		"await t.call({})":                                            false,
		"t.call.sync({})":                                             false,
		"await fetch('http://nowhere.invalid/').catch((e) => 1)":      false,
		"typeof new WeakRef({}).deref()":                              false,
		"new FinalizationRegistry(() => {}).register({}); 1":          false,
	}
	without := func(w world) world {
		w.grants.Network.Secrets = nil
		w.grants.Limits.CPU = 0 // the wall alone: a slow machine must not end a program that is to be compared
		return w
	}
	plainA, plainB := without(a), without(b)
	for code := range maps.Keys(pure) {
		got, ended := compare(t, plainA, plainB, code, code, nil)
		if got != pure[code] || ended {
			t.Errorf("%s is pure: %t, want %t (ended by a limit: %t)", code, got, pure[code], ended)
		}
	}
	// Each run has new random placeholders.
	if got, _ := compare(t, a, b, "secrets.K", "secrets.K", nil); got {
		t.Error("secrets.K is pure")
	}
	for _, code := range []string{"for (;;) {}", "const a = []; for (;;) a.push(new Uint8Array(1 << 20))"} {
		r, err := a.Run(t.Context(), sandbox.Script{Code: code}, a.grants)
		if err != nil || r.Limit == "" || r.Pure {
			t.Errorf("%s: limit %q, pure %t, %v", code, r.Limit, r.Pure, err)
		}
	}
}
