package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/sandbox"
)

func echo(_ context.Context, params json.RawMessage) (json.RawMessage, error) { return params, nil }

func TestTools(t *testing.T) {
	e := newEngine(t)
	number := json.RawMessage(
		`{"type":"object","properties":{"n":{"type":"number"}},"required":["n"],"additionalProperties":false}`)
	grants := sandbox.Grants{
		Tools: []sandbox.Tool{
			{Name: "math:double", InputSchema: number, OutputSchema: json.RawMessage(`{"type":"number"}`),
				Call: func(_ context.Context, p json.RawMessage) (json.RawMessage, error) {
					var in struct{ N float64 }
					if err := json.Unmarshal(p, &in); err != nil {
						return nil, err
					}
					if in.N < 0 {
						return json.RawMessage(`"negative"`), nil
					}
					return json.Marshal(2 * in.N)
				}},
			{Name: "my-ns.do.it now", Call: echo},
			{Name: "alone", Call: echo},
			{Name: "now:blocking", Call: echo, Blocking: true},
			{Name: "bad:error",
				Call: func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, errors.New("no luck") }},
			{Name: "bad:panic", Call: func(context.Context, json.RawMessage) (json.RawMessage, error) { panic("x") }},
			{Name: "bad:json",
				Call: func(context.Context, json.RawMessage) (json.RawMessage, error) { return json.RawMessage("{"), nil }},
			{Name: "bad:deep", Call: func(context.Context, json.RawMessage) (json.RawMessage, error) {
				return json.RawMessage(strings.Repeat("[", 100000) + strings.Repeat("]", 100000)), nil
			}},
			{Name: "bad:slow", Timeout: time.Millisecond,
				Call: func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
					<-make(chan struct{})
					return nil, nil
				}},
			{Name: "host.echo", Call: echo},
			{Name: "lost:*", Call: echo, AnyMethod: true},
			{Name: "lost:found", Call: func(context.Context, json.RawMessage) (json.RawMessage, error) {
				return json.RawMessage("7"), nil
			}},
		},
	}
	for _, c := range []struct{ code, want string }{
		{"await math.double({n: 21})", "42"},
		{"math.double.sync({n: 4})", "8"},
		{"await my_ns.do_it_now([1, {a: null}])", `[1,{"a":null}]`},
		{"await alone.call()", "{}"},
		{"await alone({a: 1}).then(v => [v, alone.sync({b: 2}), typeof alone])", `[{"a":1},{"b":2},"function"]`},
		{"now.blocking({a: 1}).a + (await now.blocking({a: 2})).a", "3"},
		{"await host.echo()", "{}"},
		{"await host.echo(null)", "null"},
		{"(await Promise.all([1, 2, 3].map(n => math.double({n})))).join()", `"2,4,6"`},
		{"try { await math.double({n: 'x'}) } catch (e) { return [e.name, e.tool, e.message] }",
			`["TypeError","math:double","tool math:double: the parameters do not fit: n: got string, want number"]`},
		{"try { await math.double({}) } catch (e) { return e.message }",
			`"tool math:double: the parameters do not fit: the value: missing property 'n'"`},
		{"try { await math.double({n: -1}) } catch (e) { return e.message }",
			`"tool math:double: the answer does not fit: the value: got string, want number"`},
		{"try { math.double.sync(1) } catch (e) { return [e.tool, e instanceof TypeError] }", `["math:double",true]`},
		{"try { await bad.error() } catch (e) { return e.message }", `"tool bad:error: no luck"`},
		{"try { await bad.panic() } catch (e) { return e.message }", `"tool bad:panic: the call failed"`},
		{"try { await bad.json() } catch (e) { return e.message }", `"tool bad:json: the answer is not valid JSON"`},
		{"try { await bad.deep() } catch (e) { return e.message }",
			`"tool bad:deep: the answer is nested more than 512 levels deep: answer[0][0][0][0][0][0]…"`},
		{"try { await bad.slow() } catch (e) { return e.message }", `"tool bad:slow: no answer within 1ms"`},
		{"let o = {}; o.o = o; try { await alone.call(o) } catch (e) { return e.name }", `"TypeError"`},
		{"try { await alone.call(() => 1) } catch (e) { return e.message }",
			`"tool alone: the parameters cannot be written as JSON"`},
		{"const {a} = lost; [await a(1), await lost['b'](2), lost.c.sync(3), await lost.found()]", "[1,2,3,7]"},
		{"[await lost === lost, typeof lost, lost + '', Object.keys(lost), lost[Symbol.iterator]]",
			`[true,"object","[object Object]",["found"],null]`},
		{"Proxy = null; Object.prototype.get = 1; lost.mine = 2; [lost.mine, lost.get, await lost.x(3)]", "[2,1,3]"},
		{"Object.prototype.toJSON = () => 'patched'; Array.prototype[0] = 9; await alone.call({a: 1})", `"patched"`},
	} {
		r, err := e.Run(t.Context(), sandbox.Script{Code: c.code}, grants)
		if err != nil {
			t.Fatal(err)
		}
		if string(r.Value) != c.want {
			t.Errorf("%s\n got %s %s\nwant %s", c.code, r.Value, r.Error, c.want)
		}
	}
	r, err := e.Run(t.Context(), sandbox.Script{Code: "for (;;) await alone.call()"}, grants)
	if err != nil || r.Limit != sandbox.LimitAPICalls || r.Usage.APICalls != 50 {
		t.Errorf("calls without end: %+v %v", r, err)
	}
	slow := sandbox.Grants{Limits: sandbox.Limits{Wall: 20 * time.Millisecond},
		Tools: []sandbox.Tool{{Name: "a.b", Call: func(context.Context, json.RawMessage) (json.RawMessage, error) {
			<-make(chan struct{})
			return nil, nil
		}}}}
	for _, code := range []string{"a.b.sync()", "await a.b()"} {
		r, err := e.Run(t.Context(), sandbox.Script{Code: code}, slow)
		if err != nil || r.Limit != sandbox.LimitWall {
			t.Errorf("%s: %+v %v", code, r, err)
		}
	}
}

func TestHostileSchemas(t *testing.T) {
	e := newEngine(t)
	defs := `"a0":{"type":"object"}`
	for i := 1; i < 30; i++ {
		defs += fmt.Sprintf(`,"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]}`, i, i-1, i-1)
	}
	tree := `{"anyOf":[{"properties":{"x":{"$ref":"#"}},"required":["y"]},` +
		`{"properties":{"x":{"$ref":"#"}},"required":["z"]}]}`
	nested := strings.Repeat(`{"x":`, 40) + "1" + strings.Repeat("}", 40)
	for _, c := range []struct{ name, schema, params, want string }{
		{"remote", `{"$ref":"https://example.com/s.json"}`, "", "must not refer to"},
		{"file", `{"$ref":"file:///etc/passwd"}`, "", "must not refer to"},
		{"meta", `{"$schema":"http://169.254.169.254/latest"}`, "", "must not refer to"},
		{"look-behind", `{"pattern":"(?<=a)b"}`, "", "not a regular expression of the RE2 kind"},
		{"huge pattern", `{"pattern":"[a-z]{900}[a-z]{900}[a-z]{900}"}`, "", "too large"},
		{"deep", strings.Repeat(`{"not":`, 100) + "true" + strings.Repeat("}", 100), "",
			"nested more than 32 levels deep: schema.not.not"},
		{"long", `{"description":"` + strings.Repeat("x", 70000) + `"}`, "", "at most 65536"},
		{"not a schema", `{"type":7}`, "", "not a valid JSON Schema"},
		{"doubling", `{"$defs":{` + defs + `},"$ref":"#/$defs/a29"}`, "{}", "too many steps"},
		{"tree", tree, nested, "too many steps"},
		{"endless", `{"$ref":"#"}`, "{}", ""},
		{"backtracking", `{"properties":{"s":{"pattern":"^(a+)+$"}}}`, `{"s":"` + strings.Repeat("a", 30000) + `!"}`,
			"does not match"},
		{"long match", `{"properties":{"s":{"pattern":"(x?){400}y"}}}`, `{"s":"` + strings.Repeat("x", 900000) + `"}`,
			"too many steps"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tool := sandbox.Tool{Name: "a:b", InputSchema: json.RawMessage(c.schema), Call: echo}
			err := sandbox.CheckTool(tool)
			if c.params == "" {
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "inputSchema: ") {
					t.Fatalf("got %v, want %q", err, c.want)
				}
				return
			}
			if err != nil {
				if c.want == "" {
					return
				}
				t.Fatal(err)
			}
			r, err := e.Run(t.Context(), sandbox.Script{Code: "await a.b(input)", Input: json.RawMessage(c.params)},
				sandbox.Grants{Tools: []sandbox.Tool{tool}})
			if err != nil || !strings.Contains(r.Error, c.want) || r.Error == "" {
				t.Fatalf("got %s %s %v, want %q", r.Value, r.Error, err, c.want)
			}
		})
	}
}

func TestHTTPTools(t *testing.T) {
	e := newEngine(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		switch q.URL.Path {
		case "/wrapped":
			fmt.Fprintf(w, `{"result": %s}`, body)
		case "/bare":
			fmt.Fprint(w, `{"result": 1, "more": 2}`)
		case "/broken":
			w.WriteHeader(500)
			fmt.Fprint(w, `{"error": {"message": "out of cheese"}}`)
		case "/text":
			fmt.Fprint(w, `hello`)
		case "/empty":
			w.WriteHeader(204)
		case "/elsewhere":
			http.Redirect(w, q, "http://127.0.0.2:9/", http.StatusTemporaryRedirect)
		case "/huge":
			for range 5 << 10 {
				fmt.Fprint(w, strings.Repeat(" ", 1024))
			}
		}
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	tool := func(path string) sandbox.Tool { return sandbox.Tool{Name: "t:" + path[1:], URL: server.URL + path} }
	grants := sandbox.Grants{
		Network: sandbox.Network{OpenedHosts: []string{host}},
		Tools: []sandbox.Tool{tool("/wrapped"), tool("/bare"), tool("/broken"), tool("/text"), tool("/empty"),
			tool("/elsewhere"), tool("/huge")},
	}
	for _, c := range []struct{ code, want string }{
		{"await t.wrapped({a: [1]})", `{"tool":"t:wrapped","params":{"a":[1]},"executionId":"exec_1"}`},
		{"await t.bare()", `{"result":1,"more":2}`},
		{"await t.empty()", "null"},
		{"await t.broken().catch(e => e.message)", `"tool t:broken: the tool's server answered 500: out of cheese"`},
		{"await t.text().catch(e => e.message)", `"tool t:text: the answer is not valid JSON"`},
		{"await t.elsewhere().catch(e => e.message)",
			`"tool t:elsewhere: ` + host +
				` redirects elsewhere: the host 127.0.0.2:9 is not among the hosts that this execution may reach"`},
		{"await t.huge().catch(e => e.message)", `"tool t:huge: the answer has 4194305 bytes; at most 4194304 are accepted"`},
	} {
		r, err := e.Run(t.Context(), sandbox.Script{ID: "exec_1", Code: c.code}, grants)
		if err != nil || string(r.Value) != c.want {
			t.Errorf("%s\n got %s %s %v\nwant %s", c.code, r.Value, r.Error, err, c.want)
		}
	}
	grants.Network = sandbox.Network{}
	r, err := e.Run(t.Context(), sandbox.Script{Code: "await t.bare()"}, grants)
	if err != nil || !strings.Contains(r.Error, "is not among the hosts") {
		t.Errorf("a tool on a host that is not opened: %s %s %v", r.Value, r.Error, err)
	}
}

func TestToolNames(t *testing.T) {
	for name, want := range map[string]string{
		"ns:method": "ns.method", "ns.method": "ns.method", "ns": "ns.call", "a:b:c": "a.b_c", "a.b.c": "a.b_c",
		"a:b.c":       "a.b_c",
		"my-ns:do it": "my_ns.do_it", "ns:": "ns.call", "ünï:$x": "_n_.$x", "a:😀": "a.__",
	} {
		namespace, method := sandbox.ToolGlobal(name)
		if got := namespace + "." + method; got != want {
			t.Errorf("%q: got %s, want %s", name, got, want)
		}
	}
}

// TestGlobalsAreNoNamespaces checks that no tool can be a method of a global that the guest has without tools, nor a
// method that the language calls by itself.
func TestGlobalsAreNoNamespaces(t *testing.T) {
	e := newEngine(t)
	grants := sandbox.Grants{Network: sandbox.Network{Mode: sandbox.NetworkPublic,
		Secrets: []sandbox.Secret{{Name: "A", Value: "b"}}}}
	r := run(t, e,
		sandbox.Script{Code: "[...Object.getOwnPropertyNames(globalThis), " +
			"...Object.getOwnPropertyNames(Object.prototype)]"}, grants)
	var names []string
	if err := json.Unmarshal(r.Value, &names); err != nil || len(names) < 100 {
		t.Fatal(r.Error, err, len(names))
	}
	for _, name := range names {
		if sandbox.CheckTool(sandbox.Tool{Name: name + ":x", URL: "https://a.example"}) == nil {
			t.Errorf("a tool may be a method of %s", name)
		}
	}
	for _, method := range []string{"then", "toJSON", "__proto__", "constructor", "valueOf"} {
		if sandbox.CheckTool(sandbox.Tool{Name: "a:" + method, URL: "https://a.example"}) == nil {
			t.Errorf("a tool may be the method %s", method)
		}
	}
}
