package sandbox_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// nest returns guest code for a value of n nested objects.
const nest = "const nest = (n, key = 'a') => { let v = {}; for (let i = 1; i < n; i++) v = key === 0 ? [v] : { " +
	"[key]: v }; return v };\n"

func deepJSON(n int) json.RawMessage {
	return json.RawMessage(strings.Repeat("[", n) + strings.Repeat("]", n))
}

// TestDepth checks that a value that nests deeper than the limit does not cross, and that the error names its path.
func TestDepth(t *testing.T) {
	e := newEngine(t)
	const arrays = "[0][0][0][0][0][0]…"
	for _, c := range []struct {
		name, code, value, err string
		limit                  int
	}{
		{"at the limit", "return [nest(511)]", "", "", 0},
		{"one over", "return { list: [1, 2, 3, nest(511)] }", "",
			"RangeError: the result is nested more than 512 levels deep: result.list[3].a.a.a.a…", 0},
		{"a limit of its own", "return nest(11)", "",
			"RangeError: the result is nested more than 10 levels deep: result.a.a.a.a.a.a…", 10},
		{"raised", "return nest(900)", "", "", 1000},
		{"deeper than a writer goes", "return { ok: {}, list: [nest(200000)] }", "",
			"RangeError: the result is nested more than 512 levels deep: result.list[0].a.a.a.a…", 0},
		{"arrays", "return nest(200000, 0)", "",
			"RangeError: the result is nested more than 512 levels deep: result" + arrays, 0},
		{"maps", "let v = 1; for (let i = 0; i < 600; i++) v = new Map([['k', v]]); return v", "",
			"RangeError: the result is nested more than 512 levels deep: result.k.k.k.k.k.k…", 0},
		{"output", "output = nest(600); undefined", "",
			"RangeError: the result is nested more than 512 levels deep: result.a.a.a.a.a.a…", 0},
		{"process.exit", "output = nest(600); process.exit(0)", "",
			"RangeError: the result is nested more than 512 levels deep: result.a.a.a.a.a.a…", 0},
		{"toJSON", "return { toJSON() { return nest(600) } }", "",
			"RangeError: the result is nested more than 512 levels deep: result.a.a.a.a.a.a…", 0},
		{"parameters", "try { await t.echo(nest(600)) } catch (e) { return [e.name, e.message] }",
			`["RangeError","tool t:echo: the value of the parameters is nested more than 512 levels deep: ` +
				`params.a.a.a.a.a.a…"]`, "", 0},
		{"parameters of a call that waits", "try { t.echo.sync(nest(600)) } catch (e) { return e.name }", `"RangeError"`,
			"", 0},
		{"an answer", "try { await t.deep() } catch (e) { return [e.name, e.message] }",
			`["RangeError","tool t:deep: the answer is nested more than 512 levels deep: answer` + arrays + `"]`, "", 0},
		{"a much deeper answer", "try { await h.deep() } catch (e) { return [e.name] }", `["RangeError"]`, "", 0},
		{"parameters as deep as may be", "return JSON.stringify(await t.echo(nest(512))).length", `3068`, "", 0},
	} {
		grants := sandbox.Grants{Limits: sandbox.Limits{Depth: c.limit}, Tools: []sandbox.Tool{
			{Name: "t:echo", Call: func(_ context.Context, p json.RawMessage) (json.RawMessage, error) { return p, nil }},
			{Name: "t:deep",
				Call: func(context.Context, json.RawMessage) (json.RawMessage, error) { return deepJSON(513), nil }},
			{Name: "h.deep",
				Call: func(context.Context, json.RawMessage) (json.RawMessage, error) { return deepJSON(50_000), nil }},
		}}
		r := run(t, e, sandbox.Script{Code: nest + c.code}, grants)
		if r.Error != c.err || r.Limit != "" {
			t.Errorf("%s: error %q, limit %q; want %q", c.name, r.Error, r.Limit, c.err)
		}
		if c.value != "" && string(r.Value) != c.value {
			t.Errorf("%s: value %.80s, want %.80s", c.name, r.Value, c.value)
		}
		if r.Completed() && r.Value == nil {
			t.Errorf("%s: completed without a value", c.name)
		}
	}
	for _, s := range []sandbox.Script{
		{Code: "1", Input: deepJSON(513)},
		{Code: "1", Context: map[string]json.RawMessage{"a": json.RawMessage("1"), "input": deepJSON(200_000)}},
	} {
		r := run(t, e, s, sandbox.Grants{})
		if !strings.HasSuffix(r.Error, "input"+arrays) || !strings.HasPrefix(r.Error, "RangeError: ") || r.Exception == nil {
			t.Errorf("%q %s", r.Error, r.Value)
		}
	}
}

// TestDeepLogs checks that printing abbreviates deep values and never fails the run.
func TestDeepLogs(t *testing.T) {
	e := newEngine(t)
	for _, call := range []string{
		"console.log(v)", "console.log([v])", "console.error('%o', v)", "console.log('%O', v)", "console.log('%j', v)",
		"console.dir(v, { depth: null })", "console.dir(v, { depth: Infinity })",
		"console.table([v])", "console.log(new Map([[v, v]]))", "console.log(Object.assign(new Error('x'), { v }))",
		"console.log(util.inspect(v, { depth: null }).length > 0)",
		"console.log(new Error('a', { cause: v }))", "console.assert(false, v)", "console.trace(v)", "console.group(v)",
	} {
		r := run(t, e,
			sandbox.Script{Code: nest + "const util = require('util'); const v = nest(100000);\n" + call + ";\nreturn 'done'"},
			sandbox.Grants{Modules: []string{"*"}})
		if string(r.Value) != `"done"` {
			t.Errorf("%s: %s, %q %s", call, r.Value, r.Error, r.Limit)
		}
		if len(r.Logs) != 1 && !strings.Contains(call, "table") || len(r.Output) > 100_000 {
			t.Errorf("%s: %d entries, %d bytes", call, len(r.Logs), len(r.Output))
		}
	}
}
