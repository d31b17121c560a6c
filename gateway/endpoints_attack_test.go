package gateway_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/openapi"
)

// No endpoint accepts a body in which an object has a name twice, whether both are written alike or one with an escape,
// and none accepts a name in another case: the policy and the function must read the same request.
func TestNamesOfMembersAtEveryEndpoint(t *testing.T) {
	t.Parallel()
	s, fill := prepared(t)
	ann := tenantToken(t, "ann", "acme", strings.Join(authn.Scopes(), " "))
	for _, d := range routeCases() {
		rest, ok := strings.CutPrefix(d.body, `{"`)
		name, value, named := strings.Cut(rest, `":`)
		if !ok || !named || d.scope == "-" {
			continue
		}
		method, _, _ := strings.Cut(d.route, " ")
		escaped := fmt.Sprintf(`\u%04x%s`, name[0], name[1:])
		for what, body := range map[string]string{
			"the same name":    `{"` + name + `":` + strings.TrimSuffix(value, "}") + "," + d.body[1:],
			"an escaped name":  `{"` + escaped + `":` + strings.TrimSuffix(value, "}") + "," + d.body[1:],
			"an escape later":  strings.TrimSuffix(d.body, "}") + `,"` + escaped + `":` + value,
			"a nested name":    strings.TrimSuffix(d.body, "}") + `,"input":[{"a":{"b":1,"\u0062":2}}]}`,
			"another case":     `{"` + strings.ToUpper(name[:1]) + name[1:] + `":` + value,
			"all in capitals":  `{"` + strings.ToUpper(name) + `":` + value,
			"a long s or sign": `{"` + strings.NewReplacer("s", "\u017f", "k", "\u212a").Replace(name) + `\u0000":` + value,
		} {
			got, _ := s.status(t, method, fill.Replace(d.path), fill.Replace(body), ann)
			if got != 400 && !ignored(d.route, what, got) {
				t.Errorf("%s, %s: status %d, want 400: %s", d.route, what, got, body)
			}
		}
	}
}

// ignored reports whether an endpoint may ignore a name: the APIs of other services ignore unknown names, and no call
// waits for an answer in the table of routes.
func ignored(route, what string, status int) bool {
	switch route {
	case "POST /api/executions/{id}/calls/{seq}":
		return status == 404 // caller_tools_test.go answers calls
	case "POST /api/e2b/v2/sandboxes", "POST /api/e2b/sandboxes":
		return status == 201 && !strings.Contains(what, "name") && !strings.Contains(what, "escape")
	case "POST /api/e2b/contexts":
		return status == 200 && !strings.Contains(what, "name") && !strings.Contains(what, "escape")
	}
	return false
}

// spellings are other ways to write a path, which servers in front of the gateway may read as another one.
func spellings(path string) []string {
	inside, last := path[1:], strings.LastIndex(path, "/")
	return []string{
		"/" + path, "//x/.." + path, "/x/.." + path, "/." + path, "/%2e" + path, "/x/%2e%2e" + path, "/x/..%2f" + inside,
		"/..;" + path, "/x/..;" + path, path + "/", path + "/.", path + "/x/..", path + "//", path + "%2f", path + "%00",
		path + ";a=b", path + "%3b", path + "%3f", path + "%23", path + "%0a", path + "%20", path + ".json",
		strings.ToUpper(path), "/%" + fmt.Sprintf("%02x", inside[0]) + inside[1:],
		strings.ReplaceAll(path, "/", "%2f"), "/" + strings.ReplaceAll(inside, "/", `\`), path[:last] + "%2f" + path[last+1:],
		path[:last] + "%252f" + path[last+1:], path[:last] + "%c0%af" + path[last+1:], path[:last] + "/%ef%bc%8f" +
			path[last+1:],
	}
}

// steering are headers by which some servers choose a route, a method or a caller.
var steering = []string{
	"X-Original-Url: /healthz", "X-Rewrite-Url: /healthz", "X-Http-Method-Override: GET", "X-Http-Method: GET",
	"X-Method-Override: GET", "X-Forwarded-Prefix: /healthz", "X-Forwarded-For: 127.0.0.1", "X-Real-Ip: 127.0.0.1",
	"Forwarded: for=127.0.0.1;host=localhost", "X-Forwarded-User: ann", "X-Remote-User: ann",
	"X-Forwarded-Host: localhost",
	"Cookie: airlock=1; __Host-airlock=1; session=1", "Authorization: Bearer", "Authorization: Basic YW5uOg==",
	"X-Amzn-Oidc-Identity: ann", "Cf-Access-Authenticated-User-Email: ann@a.example",
}

// A caller without access to a route gets none by another spelling of its path, or by headers that other servers trust.
func TestSpellingsOfPaths(t *testing.T) {
	t.Parallel()
	s, fill := prepared(t)
	send := func(method, path, body string, headers ...string) int {
		t.Helper()
		if body != "" {
			headers = append(headers, "Content-Type: application/json")
		}
		got := exchange(t, s.addr, fmt.Sprintf(
			"%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Length: %d\r\n%s\r\n%s",
			method, path, s.addr, len(body), strings.Join(append(headers, ""), "\r\n"), body))
		status := 0
		if _, err := fmt.Sscanf(got, "HTTP/1.1 %d", &status); err != nil {
			t.Fatalf("%s %s: %.80q", method, path, got)
		}
		return status
	}
	for _, d := range routeCases() {
		if d.scope == "-" {
			continue
		}
		method, _, _ := strings.Cut(d.route, " ")
		path, _, _ := strings.Cut(fill.Replace(d.path), "?")
		callers := [][]string{nil}
		if d.scope != "" {
			callers = append(callers, []string{tenantToken(t, "ann", "acme", authn.Priority)})
		}
		for _, caller := range callers {
			for _, spelling := range spellings(path) {
				if got := send(method, spelling, fill.Replace(d.body), caller...); got < 400 || got >= 500 {
					t.Errorf("%s %s: status %d, with a token: %t", method, spelling, got, caller != nil)
				}
			}
		}
		for _, header := range steering {
			if got := send(method, path, fill.Replace(d.body), header); got != 401 && got != 403 {
				t.Errorf("%s with %s: status %d", d.route, header, got)
			}
		}
	}
}

// A page of another site changes nothing with the cookie of a session, even if it knew the second secret, and reads no
// stream.
func TestNoRouteTrustsOtherSites(t *testing.T) {
	t.Parallel()
	s, fill := prepared(t)
	cookie := s.enter(t, apiKey)
	own := []string{cookie, withToken, "Sec-Fetch-Site: same-origin"}
	if got, _ := s.status(t, "GET", "/api/live?view=dashboard", "", own...); got != 200 {
		t.Fatalf("the page itself gets %d", got)
	}
	sites := map[string][]string{
		"cross-site":        {"Sec-Fetch-Site: cross-site", "Origin: https://evil.example"},
		"no fetch metadata": {"Origin: https://evil.example"},
		"an opaque origin":  {"Origin: null"},
		"another port":      {"Origin: http://127.0.0.1:1", "Sec-Fetch-Site: same-site"},
		"a longer host":     {"Origin: " + s.url + ".evil.example"},
		"user information":  {"Origin: http://" + s.addr + "@evil.example"},
		"two origins":       {"Origin: " + s.url + " https://evil.example"},
		"a navigation":      {"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"},
	}
	for _, d := range routeCases() {
		method, _, _ := strings.Cut(d.route, " ")
		if d.scope == "-" || method == "GET" && d.path != "/api/live?view=dashboard" {
			continue
		}
		for site, headers := range sites {
			for _, kind := range []string{"application/json", "text/plain"} {
				got, _ := s.status(t, method, fill.Replace(d.path), fill.Replace(d.body),
					append([]string{cookie, withToken, "Content-Type: ", "Content-Type: " + kind}, headers...)...)
				if got != 401 && got != 403 {
					t.Errorf("%s from %s as %s: status %d", d.route, site, kind, got)
				}
			}
		}
		if method == "GET" {
			continue
		}
		if got, _ := s.status(t, method, fill.Replace(d.path), fill.Replace(d.body), cookie, withToken); got != 401 &&
			got != 403 {
			t.Errorf("%s without an origin: status %d", d.route, got)
		}
	}
}

// hostileValues are values of parameters that stores, encoders or pages may read as something else.
func hostileValues() []string {
	long := strings.Repeat("a", 12_000)
	coded := base64.RawURLEncoding.EncodeToString
	return []string{
		"-1", "0", "1e9", "9223372036854775808", "0x10", "NaN", " 1", "1\x00", "\x00", "\xff\xfe",
		"\u202e", "%", "%%", "*", "'",
		`' OR 1=1 --`, `"; DROP TABLE jobs; --`, "../../../etc/passwd", "..\\..", "exec_../../x", "exec_0123456789/../..",
		"exec_\u00e9123456789", long, strings.Repeat("%25", 3000), strings.Repeat("\u202e", 3000), "exec_" + long,
		coded([]byte("../../x")), coded([]byte(`{"after":"x","after":"y"}`)), coded([]byte("\x00\xff")),
		coded([]byte(long[:8000])),
		"0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-02-30T00:00:00Z",
		"292277026596-01-01T00:00:00Z", "-999999h", "1ns",
		"9223372036854775807ns", "2562047h", "{}", "[]", "null", "true", "\r\nX-Injected: 1", "$ref", "__proto__", "${1+1}",
		"{{1}}", "<script>alert(1)</script>",
	}
}

// Calls of tools that take few arguments read names as the API does.
func TestNamesOfArguments(t *testing.T) {
	t.Parallel()
	s, _ := waiting(t, options{}, []execution.Waiting{refund(1)})
	want(t, s.do(t, "PUT", "/api/functions/f", `{"code":"1"}`), 201)
	const once = `{"name":"f","input":1}`
	call := func(tool, message string) (failed bool, text string) {
		t.Helper()
		headers := append([]string{"Mcp-Method: tools/call", "Mcp-Name: " + tool}, mcpHeaders...)
		a := s.do(t, "POST", "/mcp", message, headers...)
		return a.StatusCode != 200 || strings.Contains(string(a.body), `"isError":true`), string(a.body)
	}
	if failed, text := call("invoke_function", messageFor("invoke_function", once)); failed {
		t.Fatalf("the plain call: %s", text)
	}
	for tool, all := range map[string][]string{
		"invoke_function": {
			`{"name":"f","name":"f"}`, `{"name":"f","n\u0061me":"f"}`, `{"name":"f","Name":"f"}`, `{"NAME":"f"}`,
			`{"name":"f","input":{"a":1,"a":2}}`, `{"name":"f","Input":1}`, `{"name":"f","version":1,"Version":1}`,
			`{"name":"f","context":{"a":{"b":1,"\u0062":2}}}`,
		},
		"get_execution": {`{"ID":"exec_0123456789"}`, `{"id":"exec_0123456789","id":"exec_0123456789"}`},
		"resume_execution": {
			`{"id":"x","decisions":[{"seq":1,"decision":"reject","Decision":"approve"}]}`,
			`{"id":"x","decisions":[{"seq":1,"decision":"reject","decision":"approve"}]}`,
		},
	} {
		for _, arguments := range all {
			if _, text := call(tool, messageFor(tool, arguments)); !strings.Contains(text, "invalid_request") {
				t.Errorf("%s %s: %.300s", tool, arguments, text)
			}
		}
	}
	message := messageFor("invoke_function", once)
	for what, other := range map[string]string{
		"two names":          strings.Replace(message, `"name":"invoke`, `"name":"execute_code","name":"invoke`, 1),
		"an escaped name":    strings.Replace(message, `"name":"invoke`, `"n\u0061me":"execute_code","name":"invoke`, 1),
		"two methods":        strings.Replace(message, `"method":`, `"method":"ping","method":`, 1),
		"two lists":          strings.Replace(message, `"arguments":`, `"arguments":{"name":"g"},"arguments":`, 1),
		"two params":         strings.Replace(message, `"params":`, `"params":{},"params":`, 1),
		"two IDs":            strings.Replace(message, `"id":1`, `"id":2,"id":1`, 1),
		"two clients":        strings.Replace(message, `"_meta":{`, `"_meta":{"a":1,"a":2,`, 1),
		"arguments in front": strings.Replace(message, `{"jsonrpc"`, `{"params":{"arguments":{}},"jsonrpc"`, 1),
	} {
		if other == message {
			t.Fatalf("%s: the message is the same", what)
		}
		if failed, text := call("invoke_function", other); !failed {
			t.Errorf("%s: %.300s", what, text)
		}
	}
}

// No value of a parameter in the description of the API makes a route of reading fail inside, cost more than a request
// may, or answer with another header.
func TestHostileParameters(t *testing.T) {
	t.Parallel()
	s, fill := prepared(t)
	ann := tenantToken(t, "ann", "acme", strings.Join(authn.Scopes(), " "))
	document, err := openapi.New("1")
	if err != nil {
		t.Fatal(err)
	}
	parameters := queryParameters(t, document.JSON())
	tried := 0
	for _, d := range routeCases() {
		method, pattern, _ := strings.Cut(d.route, " ")
		path, query, _ := strings.Cut(fill.Replace(d.path), "?")
		if method != "GET" || strings.HasSuffix(path, "/live") || path == "/mcp" {
			continue
		}
		for _, name := range parameters[pattern] {
			for _, value := range hostileValues() {
				values, err := url.ParseQuery(query)
				if err != nil {
					t.Fatal(err)
				}
				values.Set(name, value)
				a := s.do(t, "GET", path+"?"+values.Encode(), "", ann)
				if tried++; a.StatusCode >= 500 || a.Header.Get("X-Injected") != "" {
					t.Errorf("GET %s?%s=%.60q: status %d %.200s", path, name, value, a.StatusCode, a.body)
				}
				if strings.Contains(a.Header.Get("Content-Type"), "html") {
					t.Errorf("GET %s?%s=%.60q: a page of %s", path, name, value, a.Header.Get("Content-Type"))
				}
			}
		}
	}
	if tried < 500 {
		t.Errorf("only %d requests were tried", tried)
	}
}

// queryParameters returns the names of the query parameters of every GET in an OpenAPI document, by path.
func queryParameters(t *testing.T, document []byte) map[string][]string {
	t.Helper()
	type parameter struct {
		Ref  string `json:"$ref"`
		Name string `json:"name"`
		In   string `json:"in"`
	}
	var doc struct {
		Paths map[string]struct {
			Get struct{ Parameters []parameter }
		}
		Components struct{ Parameters map[string]parameter }
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for path, item := range doc.Paths {
		for _, p := range item.Get.Parameters {
			if p.Ref != "" {
				p = doc.Components.Parameters[p.Ref[strings.LastIndex(p.Ref, "/")+1:]]
			}
			if p.In == "query" {
				out[path] = append(out[path], p.Name)
			}
		}
	}
	return out
}

// Headers within the limit of the head cost no more than a request may, however many they are and whatever they list.
func TestFloodsOfHeaders(t *testing.T) {
	s := costServer(t)
	const room = 15_000
	fill := func(part string) string { return strings.Repeat(part, room/len(part)) }
	for name, head := range map[string]string{
		"short names":      fill("a:b\r\n"),
		"different names":  manyHeaders(room),
		"cookies":          "Cookie: " + fill("a=b;"),
		"many cookies":     fill("Cookie: a=b\r\n"),
		"a session":        "Cookie: " + fill("airlock=b;"),
		"preferences":      "Prefer: " + fill("wait=1,"),
		"many preferences": fill("Prefer: a\r\n"),
		"tags":             "If-None-Match: " + fill(`"a",`),
		"weak tags":        "If-None-Match: " + fill(`W/"`),
		"if match":         "If-Match: " + fill(`"a",`),
		"types":            "Accept: " + fill("a/b;q=0.1,"),
		"codings":          "Accept-Encoding: " + fill("gzip;q=0,"),
		"traces":           "Traceparent: 00-" + fill("0") + "\r\nTracestate: a=b",
		"states":           "Tracestate: " + fill("a=b,"),
		"addresses":        "X-Forwarded-For: " + fill("::1,"),
		"forwarded":        "Forwarded: " + fill("for=a;"),
		"ranges":           "Range: bytes=" + fill("0-1,"),
		"cache directives": "Cache-Control: " + fill("no-cache,"),
		"a last event":     "Last-Event-ID: exec_" + fill("0"),
		"a key":            "Idempotency-Key: " + fill("k"),
		"an ID":            "X-Request-Id: " + fill("x"),
		"connections":      "Connection: " + fill("keep-alive,"),
		"a type":           "X-Type: 1; " + fill("a=b;"),
	} {
		head = strings.TrimSuffix(head, "\r\n")
		for _, endpoint := range []struct{ method, path, body string }{
			{"POST", "/api/execute", `{"code":"1"}`}, {"GET", "/api/functions/g", ""}, {"GET", "/openapi.json", ""},
			{"GET", "/dashboard", ""}, {"POST", "/hooks/none", "{}"}, {"POST", "/mcp", mcpHello},
		} {
			what := fmt.Sprintf("%s at %s %s", name, endpoint.method, endpoint.path)
			s.within(t, what, ownTime/2, 20_000, func() (took time.Duration) {
				return s.spent(t, endpoint.method, endpoint.path, endpoint.body, "application/json", head)
			})
		}
	}
}

// manyHeaders returns headers of different names.
func manyHeaders(room int) string {
	var b strings.Builder
	for i := 0; b.Len() < room; i++ {
		fmt.Fprintf(&b, "x%x:\r\n", i)
	}
	return b.String()
}

// Names of functions that only Unicode normalization, case or trailing dots make equal are refused or different.
func TestNamesThatLookAlike(t *testing.T) {
	t.Parallel()
	s := kept(t, options{})
	for name, value := range map[string]string{"f": "1", "F": "2", "f.": "3", "f.js": "4", "CON": "5", "con": "6"} {
		want(t, s.do(t, "PUT", "/api/functions/"+name, `{"code":"`+value+`"}`), 201)
	}
	want(t, s.do(t, "DELETE", "/api/functions/F", ""), 204)
	want(t, s.do(t, "DELETE", "/api/functions/CON", ""), 204)
	for name, value := range map[string]string{"f": "1", "f.": "3", "f.js": "4", "con": "6"} {
		if got := want(t, s.do(t, "GET", "/api/functions/"+name, ""), 200).json(t)["code"]; got != value {
			t.Errorf("%s runs %v, want %s", name, got, value)
		}
	}
	for _, name := range []string{
		"\u00e9", "e\u0301", "\uff46", "f\u200b", "\u0455", "f\u0000", "f ", "f%2f", "..", ".", "f/../g", "f:stream", "f~1",
		"\u017f", "\u212a", "f\u202e", "\U0001d41f",
	} {
		a := s.do(t, "PUT", "/api/functions/"+url.PathEscape(name), `{"code":"1"}`)
		if a.StatusCode != 400 && a.StatusCode != 404 && a.StatusCode != 405 {
			t.Errorf("%q: status %d", name, a.StatusCode)
		}
	}
}
