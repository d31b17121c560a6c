package execution_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
)

func TestDecodeRequestRefuses(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 513) + strings.Repeat("]", 513)
	many := func(n int, f func(int) string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = f(i)
		}
		return strings.Join(parts, ",")
	}
	cases := []struct{ name, body, field, says string }{
		{"empty", ``, "", "empty"},
		{"not JSON", `hello`, "", "not valid JSON"},
		{"cut short", `{"code":"1`, "", "not valid JSON"},
		{"two values", `{"code":"1"}{"code":"2"}`, "", "not valid JSON"},
		{"single quotes", `{'code':'1'}`, "", "names and texts stand in double quotes (byte 1)"},
		{"trailing comma", `{"code":"1",}`, "", "not valid JSON"},
		{"array", `[1]`, "", "must be a JSON object; got an array"},
		{"string", `"x"`, "", "must be a JSON object; got a string"},
		{"null", `null`, "code", "required"},
		{"byte order mark", "\ufeff{\"code\":\"1\"}", "", "not valid JSON"},
		{"broken UTF-8", "{\"code\":\"\xff\"}", "", "UTF-8 (byte 9)"},
		{"overlong UTF-8", "{\"code\":\"\xc0\xaf\"}", "", "UTF-8"},
		{"lone surrogate", `{"code":"\ud800"}`, "code", "surrogate"},
		{"deep input", `{"code":"1","input":` + deep + `}`, "input",
			"is nested more than 512 levels deep: input[0][0][0][0][0][0]…"},
		{"deep context", `{"code":"1","context":{"b":1,"a":{"x y":` + deep[1:len(deep)-1] + `}}}`, "context",
			`is nested more than 512 levels deep: context.a["x y"][0]`},
		{"deep anything", `{"code":"1","nothing":[1,` + strings.Repeat("[", 100_000) + `}`, "nothing", "is nested more than"},
		{"duplicate", `{"code":"1","code":"2"}`, "code", "more than once"},
		{"duplicate by escape", `{"code":"1","c\u006fde":"2"}`, "code", "more than once"},
		{"duplicate inside input", `{"code":"1","input":{"a":{"b":1,"b":2}}}`, "input.a.b", "more than once"},
		{"many unknown", `{"b":1,"code":"1","cod":"2","tools":[],"z":{"code":1}}`, "b",
			"not a known field, and neither is cod, nor z; accepted here: code"},
		{"unknown", `{"code":"1","cod":"2"}`, "cod", "not a known field; accepted here: code, language"},
		{"case matters", `{"Code":"1"}`, "Code", "not a known field"},
		{"unknown limit", `{"code":"1","limits":{"wallMs":1}}`, "limits.wallMs", "accepted here: cpuMs, outputBytes"},
		{"unknown debug", `{"code":"1","debug":{"trace":true}}`, "debug.trace", "stackTraces, profile, steps"},
		{"unknown tool field", `{"code":"1","tools":[{"name":"a:b"},{"name":"a:c","nope":1}]}`, "tools[1].nope",
			"name, description"},
		{"no code", `{}`, "code", "required"},
		{"null code", `{"code":null}`, "code", "required"},
		{"empty code", `{"code":""}`, "code", "non-empty"},
		{"blank code", `{"code":" \n\t"}`, "code", "non-empty"},
		{"number for code", `{"code":1}`, "code", "must be a string; got a number"},
		{"object for code", `{"code":{}}`, "code", "must be a string; got an object"},
		{"NUL in code", `{"code":"1\n\u0000"}`, "code", "NUL byte (line 2)"},
		{"long code", `{"code":"` + strings.Repeat("x", execution.MaxCodeBytes+1) + `"}`, "code", "at most 4194304"},
		{"language", `{"code":"1","language":"python"}`, "language", "javascript or typescript"},
		{"language type", `{"code":"1","language":3}`, "language", "must be a string"},
		{"engine", `{"code":"1","engine":"spidermonkey"}`, "engine", "must be quickjs"},
		{"empty policy", `{"code":"1","policy":""}`, "policy", "name of a tier"},
		{"odd policy", `{"code":"1","policy":"../x"}`, "policy", "name of a tier"},
		{"zero timeout", `{"code":"1","timeout":0}`, "timeout", "positive"},
		{"negative timeout", `{"code":"1","timeout":-5}`, "timeout", "positive"},
		{"huge timeout", `{"code":"1","timeout":1e999}`, "timeout", "positive number of milliseconds"},
		{"text timeout", `{"code":"1","timeout":"5s"}`, "timeout", "positive number of milliseconds; got a string"},
		{"NaN timeout", `{"code":"1","timeout":NaN}`, "timeout", "not valid JSON"},
		{"memory number", `{"code":"1","memory":32}`, "memory", `"32mb"`},
		{"memory no unit", `{"code":"1","memory":"32"}`, "memory", "unit"},
		{"memory zero", `{"code":"1","memory":"0mb"}`, "memory", "positive"},
		{"memory negative", `{"code":"1","memory":"-1mb"}`, "memory", "positive"},
		{"memory NaN", `{"code":"1","memory":"NaNmb"}`, "memory", "positive"},
		{"memory exponent", `{"code":"1","memory":"1e9mb"}`, "memory", "unit"},
		{"memory endless", `{"code":"1","memory":"99999999999999999999gb"}`, "memory", "positive"},
		{"context array", `{"code":"1","context":[]}`, "context", "one global per entry"},
		{"context key", `{"code":"1","context":{"a b":1}}`, "context.a b", "not a JavaScript identifier"},
		{"context empty key", `{"code":"1","context":{"":1}}`, "context.", "not a JavaScript identifier"},
		{"context keyword", `{"code":"1","context":{"await":1}}`, "context.await", "shadow"},
		{"context builtin", `{"code":"1","context":{"JSON":1}}`, "context.JSON", "shadow"},
		{"context console", `{"code":"1","context":{"console":1}}`, "context.console", "shadow"},
		{"context proto", `{"code":"1","context":{"__proto__":{}}}`, "context.__proto__", "shadow"},
		{"context too many", `{"code":"1","context":{` + many(257, func(i int) string { return fmt.Sprintf(`"k%d":1`, i) }) +
			`}}`, "context", "at most 256"},
		{"tools object", `{"code":"1","tools":{}}`, "tools", "an array of tools"},
		{"tool no name", `{"code":"1","tools":[{}]}`, "tools[0].name", "namespace:method"},
		{"tool bad name", `{"code":"1","tools":[{"name":"1st:search"}]}`, "tools[0].name", "namespace:method"},
		{"tool without a namespace", `{"code":"1","tools":[{"name":":c"}]}`, "tools[0].name", "namespace:method"},
		{"tool shadows", `{"code":"1","tools":[{"name":"console:log"}]}`, "tools[0].name", "choose another"},
		{"tool twice", `{"code":"1","tools":[{"name":"a:b"},{"name":"a.b"}]}`, "tools[1].name", "more than once"},
		{"tool url", `{"code":"1","tools":[{"name":"a:b","url":"file:///etc/passwd"}]}`, "tools[0].url", "http or https"},
		{"tool url user", `{"code":"1","tools":[{"name":"a:b","url":"https://u:p@h/"}]}`, "tools[0].url", "without user"},
		{"tool schema", `{"code":"1","tools":[{"name":"a:b","inputSchema":[1]}]}`, "tools[0].inputSchema", "JSON Schema"},
		{"too many tools", `{"code":"1","tools":[` +
			many(129, func(i int) string { return fmt.Sprintf(`{"name":"a:b%d"}`, i) }) + `]}`, "tools", "at most 128"},
		{"limits array", `{"code":"1","limits":[]}`, "limits", "cpuMs, outputBytes"},
		{"limit zero", `{"code":"1","limits":{"apiCalls":0}}`, "limits.apiCalls", "positive whole number"},
		{"limit negative", `{"code":"1","limits":{"cpuMs":-1}}`, "limits.cpuMs", "positive"},
		{"limit fraction", `{"code":"1","limits":{"logEntries":1.5}}`, "limits.logEntries", "positive whole number; got 1.5"},
		{"limit overflow", `{"code":"1","limits":{"outputBytes":9223372036854775808}}`, "limits.outputBytes", "whole number"},
		{"seed fraction", `{"code":"1","seed":1.5}`, "seed", "a whole number"},
		{"priority", `{"code":"1","priority":"urgent"}`, "priority", "low, normal or high"},
		{"debug", `{"code":"1","debug":true}`, "debug", "stackTraces"},
		{"debug type", `{"code":"1","debug":{"profile":1}}`, "debug.profile", "true or false"},
		{"file path up", `{"code":"1","files":{"../x":""}}`, "files", "relative path"},
		{"file path absolute", `{"code":"1","files":{"/x":""}}`, "files", "relative path"},
		{"file path unclean", `{"code":"1","files":{"a//b":""}}`, "files", "relative path"},
		{"file path NUL", `{"code":"1","files":{"a\u0000b":""}}`, "files", "relative path"},
		{"file and folder", `{"code":"1","files":{"a":"","a/b":""}}`, "files", "as a file and as a folder"},
		{"file number", `{"code":"1","files":{"a.js":1}}`, "files.a.js", "must be a string or"},
		{"file null", `{"code":"1","files":{"a.js":null}}`, "files.a.js", "must be a string or"},
		{"file base64", `{"code":"1","files":{"a":{"base64":"%"}}}`, "files.a", "does not decode"},
		{"file extra", `{"code":"1","files":{"a":{"base64":"","x":1}}}`, "files.a", "must be a string or"},
		{"entry missing", `{"entry":"a.js"}`, "entry", "not among files"},
		{"entry and code", `{"code":"1","entry":"a","files":{"a":"1"}}`, "code", "together with entry"},
		{"hosts string", `{"code":"1","hosts":"a"}`, "hosts", "array of host names"},
		{"host URL", `{"code":"1","hosts":["https://a"]}`, "hosts[0]", "host name"},
		{"host star", `{"code":"1","hosts":["ok.com","*"]}`, "hosts[1]", "host name"},
		{"args", `{"code":"1","args":"a"}`, "args", "array of strings"},
		{"arg number", `{"code":"1","args":["a",1]}`, "args[1]", "a string"},
		{"arg NUL", `{"code":"1","args":["a\u0000"]}`, "args[0]", "NUL"},
		{"many args", `{"code":"1","args":[` + many(257, func(int) string { return `""` }) + `]}`, "args", "at most 256"},
		{"secret", `{"code":"1","secrets":["a b"]}`, "secrets[0]", "name of a secret"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := execution.DecodeRequest([]byte(c.body))
			var e *execution.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want an *execution.Error", err)
			}
			if e.Code != execution.InvalidRequest || e.Field != c.field || !strings.Contains(e.Message, c.says) {
				t.Errorf("got %s %q %q, want field %q and a message with %q", e.Code, e.Field, e.Message, c.field, c.says)
			}
			if len(e.Message) > 400 {
				t.Errorf("message has %d bytes", len(e.Message))
			}
		})
	}
}

// A request that owns its body shares its files with it, if they are most of it. Any other is independent of its body.
func TestDecodeOwned(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 10_000)
	plain := `{"code":"1","files":{"a":"` + long + `","b":"` + long + `"}}`
	for _, c := range []struct {
		name, body string
		decode     func([]byte) (execution.Request, error)
		shares     bool
	}{
		{"owned", plain, execution.DecodeOwned, true},
		{"not owned", plain, execution.DecodeRequest, false},
		{"escapes", `{"code":"1","files":{"a":"` + long + `\n"}}`, execution.DecodeOwned, false},
		{"mostly code", `{"code":"` + strings.Repeat(`1,\n`, 10_000) + `1","files":{"a":"` + long + `"}}`,
			execution.DecodeOwned, false},
	} {
		body := []byte(c.body)
		r, err := c.decode(body)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		before, code := string(r.Files["a"]), r.Code
		_ = append(r.Files["a"], "more"...)
		if string(body) != c.body {
			t.Errorf("%s: a file has room in the body", c.name)
		}
		clear(body)
		if shares := string(r.Files["a"]) != before; shares != c.shares || r.Code != code {
			t.Errorf("%s: shares its files: %t, want %t; or its code", c.name, shares, c.shares)
		}
	}
}

func TestDecodeRequestTooLarge(t *testing.T) {
	t.Parallel()
	_, err := execution.DecodeRequest(make([]byte, execution.MaxRequestBytes+1))
	var e *execution.Error
	if !errors.As(err, &e) || e.Code != execution.TooLarge {
		t.Fatalf("got %v", err)
	}
}

func TestDecodeInvocationRefuses(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, body, field string }{
		{"version", `{"airlock":2,"id":"exec_0123456789","request":{"code":"1"},"via":"http"}`, "airlock"},
		{"version type", `{"airlock":"1","id":"exec_0123456789","request":{"code":"1"},"via":"http"}`, "airlock"},
		{"id", `{"airlock":1,"id":"exec_../../../x","request":{"code":"1"},"via":"http"}`, "id"},
		{"no id", `{"airlock":1,"request":{"code":"1"},"via":"http"}`, "id"},
		{"via", `{"airlock":1,"id":"exec_0123456789","request":{"code":"1"},"via":"pigeon"}`, "via"},
		{"code", `{"airlock":1,"id":"exec_0123456789","request":{},"via":"http"}`, "code"},
		{"code type", `{"airlock":1,"id":"exec_0123456789","request":{"code":1},"via":"http"}`, "code"},
		{"extra", `{"airlock":1,"id":"exec_0123456789","request":{"code":"1"},"via":"http","admin":true}`, "admin"},
		{"caller", `{"airlock":1,"id":"exec_0123456789","request":{"code":"1"},"via":"http","caller":{"tenant":"` +
			strings.Repeat("t", 300) + `"}}`, "caller.tenant"},
		{"queue", `{"airlock":1,"id":"exec_0123456789","request":{"code":"1"},"via":"http","queueMs":-1}`, "queueMs"},
		{"scopes", `{"airlock":1,"id":"exec_0123456789","request":{"code":"1"},"via":"http","scopes":[""]}`, "scopes"},
		{"scopes type", `{"airlock":1,"id":"exec_0123456789","request":{"code":"1"},"via":"http","scopes":"tier:x"}`,
			"scopes"},
		{"time", `{"airlock":1,"id":"exec_0123456789","request":{"code":"1"},"via":"http","receivedAt":"noon"}`,
			"receivedAt"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := execution.DecodeInvocation([]byte(c.body))
			var e *execution.Error
			if !errors.As(err, &e) || e.Code != execution.InvalidRequest || e.Field != c.field {
				t.Fatalf("got %v, want field %q", err, c.field)
			}
		})
	}
}

func TestDecodeInvocationBareRequest(t *testing.T) {
	t.Parallel()
	inv, err := execution.DecodeInvocation([]byte(`{"code":"1+1","input":{"airlock":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	request := execution.Request{Code: "1+1"}
	request.SetInput(inv.Request.Input)
	want := execution.Invocation{Via: execution.ViaLambda, Request: request}
	if !reflect.DeepEqual(inv, want) || string(inv.Request.Input) != `{"airlock":1}` {
		t.Errorf("got %+v, want %+v", inv, want)
	}
}

// A long input that was decoded is encoded as it is. One that was set to something else cannot leave its member.
func TestEncodeLongInput(t *testing.T) {
	t.Parallel()
	long := `{"a": "` + strings.Repeat("\u2028<", 4<<10) + `"}`
	const before = `{"code":"1","files":{"a.js":"2"},"limits":{"ticks":5},"input":`
	request, err := execution.DecodeRequest([]byte(before + long + `}`))
	if err != nil {
		t.Fatal(err)
	}
	inv := execution.Invocation{Airlock: 1, ID: "exec_0123456789", Via: execution.ViaHTTP, Request: request}
	b, err := inv.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := execution.DecodeInvocation(b)
	if err != nil {
		t.Fatalf("%v: %.200s", err, b)
	}
	if !reflect.DeepEqual(again.Request, inv.Request) {
		t.Errorf("got %.200s", b)
	}
	for _, escape := range []string{
		`"` + long[8:] + `},"via":"cli","x":{"y":"z`, long + ",", long[1:], `1` + strings.Repeat(" ", 5<<10) + `,"args":[]`,
	} {
		inv.Request.Input = json.RawMessage(escape)
		if b, err := inv.Encode(); err == nil {
			t.Errorf("%.80s was encoded: %.200s", escape, b)
		}
	}
}

func TestParseMemory(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"32mb": 32 << 20, "1GB": 1 << 30, "512 kb": 512 << 10, "100b": 100,
		"1.5mb": 3 << 19} {
		if got, err := execution.ParseMemory(text); err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "mb", "1", "0b", "0.1b", "1tb", "..mb", "+1mb", "1mb1", "0x10mb"} {
		if got, err := execution.ParseMemory(text); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
}

func TestValidID(t *testing.T) {
	t.Parallel()
	if !execution.ValidID("exec_01JD0123456789ABCDEFGHJKMN") {
		t.Error("a ULID is refused")
	}
	for _, id := range []string{"", "exec_", "exec_short", "01JD0123456789ABCDEFGHJKMN", "exec_01JD/123456789",
		"exec_01JD0123456789\x00", "exec_" + strings.Repeat("a", 65)} {
		if execution.ValidID(id) {
			t.Errorf("%q is accepted", id)
		}
	}
}

func TestHasMore(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`[]`: false, `[1,2]`: false, `[1,2,3]`: true, ` [ {"a":[1,2,3]} , "x" , [] ]`: true, `[[1,2,3]]`: false,
		`{"a":1,"b":2,"c":3}`: false, `"[1,2,3]"`: false, `[1,2,3`: true, `[1,2,`: false, ``: false, `[1,2 3]`: false,
	} {
		if got := execution.HasMore([]byte(text), 2); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
