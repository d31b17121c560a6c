package gateway_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
)

// kept returns a server with state. Its function responds with what it received, under "input", "context" and "code".
func kept(t testing.TB, o options) *served {
	t.Helper()
	dir := t.TempDir()
	store, err := sqlitestate.Open(dir, sqlitestate.Config{MaxJobsPerTenant: 100})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	o.state = store
	if o.invoke == nil {
		o.invoke = mirror
	}
	s := serve(t, o)
	s.state, s.dir = store, dir
	return s
}

func mirror(_ context.Context, inv execution.Invocation, _ func(execution.Log)) (execution.Reply, error) {
	q := inv.Request
	value, err := json.Marshal(
		map[string]any{
			"input": q.Input, "context": q.Context, "code": q.Code, "entry": q.Entry, "timeout": q.Timeout, "via": inv.Via,
			"subject": inv.Caller.Subject, "tenant": inv.Caller.Tenant, "scopes": inv.Scopes,
		},
	)
	return execution.Reply{
		Recorded: true, Result: execution.Result{ID: inv.ID, Status: execution.Completed, Result: value},
	}, err
}

func tenantToken(t *testing.T, subject, tenant, scope string) string {
	return bearer(token(t, subject, tenant, scope))
}

func tokens(t *testing.T) authn.Config { return authn.Config{APIKey: apiKey, Keys: hs256(t)} }

func want(t testing.TB, a answer, status int, parts ...string) answer {
	t.Helper()
	if a.StatusCode != status {
		t.Fatalf("%s %s: status %d, want %d\n%s", a.Request.Method, a.Request.URL, a.StatusCode, status, a.body)
	}
	for _, part := range parts {
		if !strings.Contains(string(a.body), part) {
			t.Errorf("%s %s lacks %s\n%s", a.Request.Method, a.Request.URL, part, a.body)
		}
	}
	return a
}

func TestFunctionVersions(t *testing.T) {
	t.Parallel()
	s := kept(t, options{})
	const f = "/api/functions/f"
	a := want(
		t, s.do(t, "PUT", f, `{"code":"1","policy":"strict","env":{"A":"b"}}`), 201, `"version":1`, `"aliases":{"latest":1}`,
		`"level":"safe"`,
	)
	for _, field := range []string{"name", "version", "codeSha256", "createdAt", "aliases"} {
		if a.json(t)[field] == nil {
			t.Errorf("%s is missing", field)
		}
	}
	want(t, s.do(t, "PUT", f, `{"env":{"A":"b"}, "policy":"strict", "code":"1"}`), 200, `"version":1`)
	want(t, s.do(t, "PUT", f, `{"code":"2","policy":"strict"}`), 201, `"version":2`, `"latest":2`)
	want(t, s.do(t, "PUT", f+"/aliases/prod", `{"version":1}`), 200, `"alias":"prod","version":1,"previous":null`)
	want(t, s.do(t, "POST", f+"/invoke", `{"input":[1],"context":{"env":"mine","x":2},"alias":"prod"}`), 200,
		`"function":{"name":"f","version":1}`, `"context":{"env":{"A":"b"},"x":2}`, `"input":[1]`, `"code":"1"`,
		`"via":"http"`)
	want(t, s.do(t, "POST", f+"/invoke", ""), 200, `"version":2`, `"code":"2"`)
	want(t, s.do(t, "POST", f+"/invoke", `{"version":1}`), 200, `"version":1`)
	want(t, s.do(t, "PUT", f+"/aliases/prod", `{"version":2}`), 200, `"version":2,"previous":1`)
	want(t, s.do(t, "POST", f+"/rollback", `{"alias":"prod"}`), 200, `"version":1,"previous":2`)
	want(t, s.do(t, "POST", f+"/rollback", ""), 200, `"alias":"latest","version":1`)
	want(t, s.do(t, "POST", f+"/invoke", ""), 200, `"code":"1"`)
	want(t, s.do(t, "PUT", f, `{"code":"2","policy":"strict"}`), 200, `"version":2`, `"latest":2`)
	want(t, s.do(t, "GET", f+"/versions", ""), 200, `{"items":[{"version":2`, `"aliases":["prod"]`, `"next":null`)
	want(t, s.do(t, "GET", f+"/versions/1", ""), 200, `"version":1`, `"code":"1"`, `"env":{"A":"b"}`)
	want(t, s.do(t, "GET", f+"?alias=prod", ""), 200, `"version":1`)
	want(t, s.do(t, "GET", f+"/aliases", ""), 200, `"alias":"latest"`, `"alias":"prod"`)
	want(t, s.do(t, "GET", f+"/aliases/prod", ""), 200, `"version":1`)
	want(
		t, s.do(t, "GET", f+"/diff", ""), 200, `"from":1,"to":2,"same":false`, `-1\n`, `+2\n`,
		`{"field":"env","from":{"A":"b"},"to":null}`,
	)
	want(t, s.do(t, "GET", f+"/diff?from=2&to=2", ""), 200, `"same":true`)
	want(t, s.do(t, "DELETE", f+"/aliases/prod", ""), 204)
	s.do(t, "GET", f+"/aliases/prod", "").problem(t, 404)
	s.do(t, "DELETE", f+"/aliases/latest", "").problem(t, 409)
	want(t, s.do(t, "DELETE", f, ""), 204)
	s.do(t, "DELETE", f, "").problem(t, 404)
	s.do(t, "POST", f+"/invoke", "").problem(t, 404)
	want(t, s.do(t, "PUT", f, `{"files":{"a.ts":"export default 1"}}`), 201, `"version":1`)
	want(t, s.do(t, "POST", f+"/invoke", ""), 200, `"entry":"a.ts"`)
}

// Code that could never run is not saved.
func TestFunctionSyntaxErrors(t *testing.T) {
	t.Parallel()
	s := kept(t, options{})
	const f = "/api/functions/f"
	for body, where := range map[string]string{
		`{"code":"let a = 1;\nlet x = ;"}`:                                  `"code","line":2,"column":9`,
		`{"code":"let a; let a"}`:                                           `"code","line":1,"column":12`,
		`{"code":"const a: = 1","language":"typescript","policy":"strict"}`: `"code","line":1,"column":10`,
		`{"files":{"index.js":"export default ("}}`:                         `"files.index.js","line":1,"column":17`,
		`{"files":{"index.ts":"import './lib/a.ts'","lib/a.ts":"\nlet n: number = ;"}}`: `"files.lib/a.ts",` +
			`"line":2,"column":17`,
		`{"code":"eval('1');\n) (","policy":"strict","schedule":"0 9 * * *","env":{"A":"b"}}`:   `"code","line":2,"column":1`,
		`{"code":"` + "```js\\nlet a = 1;\\nlet b = = 2;\\n```" + `","hook":{"scheme":"none"}}`: `"code","line":3,"column":9`,
		`{"code":"import './a.js'","files":{"a.js":"}"},"limits":{"cpuMs":5},"memory":"16mb"}`: `"files.a.js","line":1,` +
			`"column":2`,
	} {
		a := want(t, s.do(t, "PUT", f, body), 400, `"field":`+where, `"code":"invalid_request"`)
		if detail, _ := a.problem(t, 400); !strings.Contains(detail, "does not parse at line ") {
			t.Errorf("%s: %s", body, detail)
		}
	}
	s.do(t, "GET", f, "").problem(t, 404)
	want(
		t,
		s.do(
			t, "PUT", f,
			`{"entry":"index.tsx","files":{"index.tsx":"#!/usr/bin/env node\nexport default () => <a b='c'/>",`+
				`"data.txt":"let x = ;"}}`,
		),
		201,
	)
	s.do(t, "PUT", f, code("let x = ;")).problem(t, 400)
	want(t, s.do(t, "GET", f, ""), 200, `"versions":1`, `"latest":1`)
}

func TestListFunctions(t *testing.T) {
	t.Parallel()
	s := kept(t, options{})
	for n := range 5 {
		want(t, s.do(t, "PUT", fmt.Sprintf("/api/functions/f%d", n), code(fmt.Sprint(n))), 201)
	}
	var names []string
	for path := "/api/functions?limit=2"; path != ""; {
		page := want(t, s.do(t, "GET", path, ""), 200).json(t)
		for _, item := range page["items"].([]any) {
			names = append(names, item.(map[string]any)["name"].(string))
		}
		next, _ := page["next"].(string)
		if path = ""; next != "" {
			path = "/api/functions?limit=2&cursor=" + next
		}
	}
	if fmt.Sprint(names) != "[f0 f1 f2 f3 f4]" {
		t.Error(names)
	}
}

func TestFunctionErrors(t *testing.T) {
	t.Parallel()
	s := kept(t, options{})
	want(t, s.do(t, "PUT", "/api/functions/f", code("1")), 201)
	long := strings.Repeat("n", 65)
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"PUT", "/api/functions/.x", code("1"), 400, "name"},
		{"PUT", "/api/functions/a%20b", code("1"), 400, "name"},
		{"PUT", "/api/functions/" + long, code("1"), 400, "name"},
		{"PUT", "/api/functions/g", ``, 415, "Content-Type"},
		{"PUT", "/api/functions/g", `{}`, 400, "code"},
		{"PUT", "/api/functions/g", `[]`, 400, "object"},
		{"PUT", "/api/functions/g", `null`, 400, "object"},
		{"PUT", "/api/functions/g", `{"code":"1","code":"2"}`, 400, "code"},
		{"PUT", "/api/functions/g", `{"code":"1","input":1}`, 400, "input: is not a field"},
		{"PUT", "/api/functions/g", `{"code":"1","policy":"nope"}`, 400, "policy"},
		{"PUT", "/api/functions/g", `{"code":"1","engine":"v8"}`, 400, "engine"},
		{"PUT", "/api/functions/g", `{"code":"1","timeout":0}`, 400, "timeout"},
		{
			"POST", "/api/execute", `{"code":"` + strings.Repeat("x", 256<<10+1) + `","policy":"strict"}`, 400,
			"code has 262145 bytes",
		},
		{"POST", "/api/execute", `{"code":"` + strings.Repeat("x", 4<<20+1) + `"}`, 400, "has 4194305 bytes"},
		{"POST", "/api/execute", `{"code":"1","input":"` + strings.Repeat("x", 1<<20+1) + `"}`, 413, "beside the text"},
		{"PUT", "/api/functions/g", `{"code":"` + strings.Repeat("x", 16<<20+1) + `"}`, 413, "body"},
		{"POST", "/api/functions/g/invoke", `{"input":"` + strings.Repeat("x", 1<<20+1) + `"}`, 413, "1048576"},
		{"PUT", "/api/functions/g", `{"files":{"a.js":"1","b.js":"2"}}`, 400, "entry"},
		{"PUT", "/api/functions/g", `{"files":{"../a.js":"1"}}`, 400, "files"},
		{"PUT", "/api/functions/g", `{"code":"1","env":{"A":1}}`, 400, "env"},
		{"PUT", "/api/functions/g", `{"code":"1","env":{"A-B":"1"}}`, 400, "env"},
		{"PUT", "/api/functions/g", `{"code":"1","env":{"A":"1"},"context":{"env":1}}`, 400, "context.env"},
		{"PUT", "/api/functions/g", `{"code":"1","hook":{"scheme":"nope","secret":"x"}}`, 400, "hook.scheme"},
		{"PUT", "/api/functions/g", `{"code":"1","hook":{"scheme":"github"}}`, 400, "hook.secret"},
		{"PUT", "/api/functions/g", `{"code":"1","hook":{"scheme":"github","secret":"x","other":1}}`, 400, "hook"},
		{"PUT", "/api/functions/g", `{"code":"1","hook":{"scheme":"none","alias":"prod"}}`, 400, "hook.alias"},
		{"PUT", "/api/functions/g", `{"code":"1","hook":"github"}`, 400, "hook"},
		{"PUT", "/api/functions/g", `{"code":"1","schedule":"often"}`, 400, "schedule.cron"},
		{
			"PUT", "/api/functions/g", `{"code":"1","schedule":{"cron":"* * * * *","timeZone":"Mars/Olympus"}}`, 400,
			"schedule.timeZone",
		},
		{"PUT", "/api/functions/g", `{"code":"1","schedule":{"cron":"* * * * *","missed":"maybe"}}`, 400, "schedule.missed"},
		{"PUT", "/api/functions/g", `{"code":"1","schedule":{"cron":"0 0 30 2 *"}}`, 400, "never"},
		{"GET", "/api/functions/g", ``, 404, "g"},
		{"GET", "/api/functions/f?version=2", ``, 404, "version 2"},
		{"GET", "/api/functions/f?version=x", ``, 400, "version"},
		{"GET", "/api/functions/f?alias=x", ``, 404, "alias x"},
		{"GET", "/api/functions/f?version=1&alias=latest", ``, 400, "alias"},
		{"GET", "/api/functions/f?nope=1", ``, 400, "nope"},
		{"GET", "/api/functions?limit=0", ``, 400, "limit"},
		{"GET", "/api/functions?cursor=!", ``, 400, "cursor"},
		{"GET", "/api/functions/f/diff?from=9", ``, 404, "version 9"},
		{"GET", "/api/functions/f/versions/0", ``, 400, "version"},
		{"PUT", "/api/functions/f/aliases/a", `{"version":2}`, 404, "version 2"},
		{"PUT", "/api/functions/f/aliases/a", `{"version":"1"}`, 400, "version"},
		{"PUT", "/api/functions/f/aliases/a", `{}`, 400, "version"},
		{"PUT", "/api/functions/f/aliases/a%2Fb", `{"version":1}`, 400, "alias"},
		{"PUT", "/api/functions/g/aliases/a", `{"version":1}`, 404, "g"},
		{"POST", "/api/functions/f/rollback", ``, 409, "earlier version"},
		{"POST", "/api/functions/f/invoke", `{"version":1,"alias":"latest"}`, 400, "alias"},
		{"POST", "/api/functions/f/invoke", `{"version":0}`, 400, "version"},
		{"POST", "/api/functions/f/invoke", `{"version":1.5}`, 400, "version"},
		{"POST", "/api/functions/f/invoke", `{"code":"2"}`, 400, "code: is not a field of a call"},
		{"POST", "/api/functions/f/invoke", `{"context":{"eval":1}}`, 400, "context.eval"},
		{"POST", "/api/functions/f/invoke", `{"callback":"http://x.example/"}`, 400, "respond-async"},
		{
			"POST", "/api/functions/f/invoke", `{"input":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`, 400,
			"nested",
		},
	} {
		if detail, _ := s.do(t, c.method, c.path, c.body).problem(t, c.status); !strings.Contains(detail, c.says) {
			t.Errorf("%s %s %.80s: %s", c.method, c.path, c.body, detail)
		}
	}
}

func TestFunctionsBelongToTenants(t *testing.T) {
	t.Parallel()
	s := kept(t, options{auth: tokens(t)})
	ann, bob := tenantToken(t, "ann", "acme", "execute functions tier:strict"), tenantToken(
		t, "bob", "other", "execute functions",
	)
	reader, none := tenantToken(t, "ron", "acme", "execute"), tenantToken(t, "nil", "acme", "audit:read")
	want(t, s.do(t, "PUT", "/api/functions/f", `{"code":"1","policy":"strict","hook":{"scheme":"none"}}`, ann), 201)
	want(t, s.do(t, "POST", "/api/functions/f/invoke", "", reader), 200, `"tenant":"acme"`, `"subject":"jwt:/ron"`)
	want(t, s.do(t, "POST", "/hooks/acme/f", "{}"), 200, `"subject":"hook:f"`, `"scopes":["tier:strict"]`)
	s.do(t, "POST", "/hooks/f", "{}").problem(t, 404)
	s.do(t, "POST", "/hooks/other/f", "{}").problem(t, 404)
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/api/functions/f", ""}, {"DELETE", "/api/functions/f", ""}, {"POST", "/api/functions/f/invoke", ""},
		{"GET", "/api/functions/f/versions", ""},
		{"GET", "/api/functions/f/aliases", ""}, {"GET", "/api/functions/f/diff", ""},
		{"POST", "/api/functions/f/rollback", ""}, {"PUT", "/api/functions/f/aliases/a", `{"version":1}`},
	} {
		s.do(t, c.method, c.path, c.body, bob).problem(t, 404)
		s.do(t, c.method, c.path, c.body, none).problem(t, 403)
		s.do(t, c.method, c.path, c.body).problem(t, 401)
		if slices.Contains([]string{"PUT", "DELETE"}, c.method) || strings.HasSuffix(c.path, "rollback") {
			s.do(t, c.method, c.path, c.body, reader).problem(t, 403)
		}
	}
	s.do(t, "PUT", "/api/functions/f", code("1"), reader).problem(t, 403)
	if page := want(t, s.do(t, "GET", "/api/functions", "", bob), 200).json(t); len(page["items"].([]any)) != 0 {
		t.Errorf("%v", page)
	}
	want(t, s.do(t, "PUT", "/api/functions/f", code("2"), bob), 201, `"version":1`)
	want(t, s.do(t, "GET", "/api/functions/f", "", ann), 200, `"code":"1"`)
}

func TestSecretsAreNeverShown(t *testing.T) {
	t.Parallel()
	s := kept(t, options{})
	const hidden = "hidden-from-everybody"
	body := func(code, hook string) string { return fmt.Sprintf(`{"code":%q,"hook":%s}`, code, hook) }
	given := `{"scheme":"shared-header","secret":"` + hidden + `"}`
	answers := map[string]answer{
		"put": want(t, s.do(t, "PUT", "/api/functions/f", body("1", given)), 201, `"secretSet":true`),
	}
	answers["again"] = want(
		t, s.do(t, "PUT", "/api/functions/f", body("1", `{"scheme":"shared-header"}`)), 200, `"secretSet":true`,
	)
	for _, path := range []string{
		"/api/functions", "/api/functions/f", "/api/functions/f/versions", "/api/functions/f/versions/1",
		"/api/functions/f/diff",
	} {
		answers[path] = want(t, s.do(t, "GET", path, ""), 200)
	}
	answers["hook"] = want(
		t, s.do(t, "POST", "/hooks/f", "x", "X-Webhook-Secret: "+hidden, "Content-Type: text/plain"), 200, `"body":"x"`,
	)
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		if strings.Contains(string(answers[name].body), hidden) {
			t.Errorf("%s shows the secret: %s", name, answers[name].body)
		}
	}
	s.do(t, "PUT", "/api/functions/f", body("1", `{"scheme":"github"}`)).problem(t, 400)
}

func TestWithoutState(t *testing.T) {
	t.Parallel()
	s := serve(t, options{})
	s.do(t, "GET", "/api/functions", "").problem(t, 501)
	s.do(t, "PUT", "/api/functions/f", code("1")).problem(t, 501)
	s.do(t, "POST", "/hooks/f", "{}").problem(t, 501)
	s.do(t, "DELETE", "/api/result/exec_0123456789", "").problem(t, 501)
	s.do(t, "GET", "/api/result/exec_0123456789", "").problem(t, 404)
}

// Two people who edit a function do not overwrite each other, and a caller who has the current one does not get it
// again.
func TestFunctionConditions(t *testing.T) {
	t.Parallel()
	s := kept(t, options{})
	const path = "/api/functions/greet"
	put := func(code string, status int, headers ...string) string {
		t.Helper()
		return want(t, s.do(t, "PUT", path, `{"code":"`+code+`"}`, headers...), status).Header.Get("ETag")
	}
	put("1", 412, "If-Match: *")
	first := put("1", 201, "If-None-Match: *")
	put("2", 412, "If-None-Match: *")
	put("2", 400, `If-None-Match: "x"`)
	got := want(t, s.do(t, "GET", path, ""), 200)
	if tag := got.Header.Get("ETag"); tag != first || tag == "" {
		t.Errorf("GET has the tag %s, PUT had %s", tag, first)
	}
	if again := s.do(t, "GET", path, "", "If-None-Match: "+first); again.StatusCode != 304 || len(again.body) > 0 {
		t.Errorf("the same again: %s", again.Status)
	}
	second := put("2", 201, `If-Match: "other", `+first)
	put("3", 412, "If-Match: "+first)
	want(t, s.do(t, "PUT", path+"/aliases/live", `{"version":1}`), 200)
	put("3", 412, "If-Match: "+second)
	put("3", 412, "If-Match: W/"+want(t, s.do(t, "GET", path, ""), 200).Header.Get("ETag"))
	// An empty condition, or one after an empty header line, does not permit overwriting.
	put("3", 400, "If-Match:  ")
	put("3", 400, "If-Match: , ")
	put("3", 412, "If-Match:  ", `If-Match: "other"`)
	put("3", 400, "If-None-Match:  ")
	put("3", 400, "If-None-Match:  ", "If-None-Match: *")
	put("3", 201, "If-Match: *")
	want(t, s.do(t, "GET", path, "", "If-None-Match: "+second), 200)
	want(t, s.do(t, "DELETE", path, "", "If-Match: "+second), 400, "If-Match")
}

// A webhook is set and removed independently of its function: no version is made, the schedule stays, the secret is
// kept and never shown, and a condition prevents overwriting the changes of others.
func TestHookSettings(t *testing.T) {
	t.Parallel()
	s := kept(t, options{})
	const path, key = "/api/functions/f/hook", "a-secret-of-twenty-bytes"
	want(t, s.do(t, "PUT", "/api/functions/f", `{"code":"1","schedule":"0 9 * * 1-5"}`), 201)
	s.do(t, "GET", path, "").problem(t, 404)
	s.do(t, "DELETE", path, "").problem(t, 404)
	body := `{"scheme":"hmac-sha256","secret":"` + key + `","header":"X-Sum","headers":["X-Kind"]}`
	a := want(t, s.do(t, "PUT", path, body), 200,
		`"scheme":"hmac-sha256"`, `"header":"X-Sum"`, `"headers":["X-Kind"]`, `"path":"/hooks/f"`, `"secretSet":true`)
	first := a.Header.Get("ETag")
	want(t, s.do(t, "GET", path, "", "If-None-Match: "+first), 304)
	want(t, s.do(t, "PUT", path, `{"scheme":"hmac-sha256","async":true}`, "If-Match: "+first), 200, `"async":true`,
		`"secretSet":true`)
	s.do(t, "PUT", path, `{"scheme":"hmac-sha256"}`, "If-Match: "+first).problem(t, 412)
	s.do(t, "PUT", path, `{"scheme":"github"}`).problem(t, 400) // another scheme has no secret yet
	sum := hex.EncodeToString(signature(key, "{}"))
	want(t, s.do(t, "POST", "/hooks/f", "{}", "X-Signature-256: "+sum), 202)
	for _, shown := range []answer{a, s.do(t, "GET", path, ""), s.do(t, "GET", "/api/functions/f", "")} {
		if strings.Contains(string(shown.body), key) {
			t.Errorf("the secret is in %s", shown.body)
		}
	}
	want(t, s.do(t, "GET", "/api/functions/f", ""), 200, `"versions":1`, `"cron":"0 9 * * 1-5"`)
	want(t, s.do(t, "DELETE", path, ""), 204)
	s.do(t, "POST", "/hooks/f", "{}", "X-Signature-256: "+sum).problem(t, 404)
	want(t, s.do(t, "GET", "/api/functions/f", ""), 200, `"hook":null`, `"cron":"0 9 * * 1-5"`)
}
