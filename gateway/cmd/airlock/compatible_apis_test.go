package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// apiCase is a request to the API of another service. {sandbox} in a path, body or header stands for a sandbox of the
// user ann.
type apiCase struct {
	name, method, path, who, body string
	headers                       []string
	status                        int
	// The response contains says, and does not contain hides.
	says, hides string
}

// What callers of the APIs of Piston and E2B may try: contexts of others, paths, encodings, names and limits.
func TestAPIsOfOtherServices(t *testing.T) {
	t.Parallel()
	p := start(t, "JWT_SECRET="+secret, "RATE_LIMIT_MAX_REQUESTS=10000", "AUDIT_STORE=file://"+t.TempDir())
	token := func(subject, tenant, scopes string) string {
		t.Helper()
		code, out, errs := command(t, env("JWT_SECRET="+secret), "token", "--sub", subject, "--tenant", tenant,
			"--scope", scopes)
		if code != 0 {
			t.Fatal(errs)
		}
		return strings.TrimSpace(out)
	}
	tokens := map[string]string{
		"ann": token("ann", "acme", "execute"), "bob": token("bob", "acme", "execute"),
		"eve":    token("eve", "other", "execute"),
		"reader": token("ann", "acme", "audit:read"), "nobody": "",
	}
	const sandboxes, contexts, run = "/api/e2b/v2/sandboxes", "/api/e2b/contexts", "/api/e2b/execute"
	_, made := p.post(t.Context(), t, sandboxes, `{}`, "X-Api-Key: "+tokens["ann"])
	sandbox, ok := made["sandboxID"].(string)
	if !ok {
		t.Fatal(made)
	}
	in := "E2b-Sandbox-Id: {sandbox}"
	piston := func(members string) string { return `{"language":"js","version":"*",` + members + `}` }
	file := func(name string) string {
		return piston(fmt.Sprintf(`"files":[{"content":"console.log(1)"},{"name":%s,"content":"x"}]`, name))
	}
	zeros := strings.Repeat("00", 400_000)
	for _, c := range []apiCase{
		{name: "a step of one's own", path: run, who: "ann", headers: []string{in}, body: `{"code":"let x = 'mine'; x"}`,
			status: 200, says: "mine"},
		{name: "another tenant's sandbox", path: run, who: "eve", headers: []string{in}, body: `{"code":"x"}`, status: 404,
			hides: "mine"},
		{name: "another caller's sandbox", path: run, who: "bob", headers: []string{in}, body: `{"code":"x"}`, status: 404,
			hides: "mine"},
		{name: "another tenant's context", path: run, who: "eve", body: `{"code":"x","context_id":"{sandbox}"}`, status: 404,
			hides: "mine"},
		{name: "two contexts in one body", path: run, who: "ann", body: `{"code":"1","context_id":"a","context_id":"b"}`,
			status: 400},
		{name: "a context in other letters", path: run, who: "ann", body: `{"code":"1","Context_ID":"{sandbox}"}`,
			status: 404},
		{name: "no context", path: run, who: "ann", body: `{"code":"1"}`, status: 404},
		{name: "a path for a context", path: run, who: "ann", body: `{"code":"1","context_id":"../../etc"}`, status: 404},
		{name: "another's sandbox to delete", method: "DELETE", path: "/api/e2b/sandboxes/{sandbox}", who: "eve",
			status: 404},
		{name: "another's context to delete", method: "DELETE", path: contexts + "/{sandbox}", who: "bob", status: 404},
		{name: "a list of another tenant", method: "GET", path: contexts, who: "eve", status: 200, hides: "sess_"},
		{name: "a list of one's own", method: "GET", path: contexts, who: "ann", status: 200, says: "{sandbox}"},
		{name: "no credential", path: sandboxes, who: "nobody", body: `{}`, status: 401},
		{name: "an invalid credential in the header of a sandbox", path: sandboxes, who: "nobody", body: `{}`,
			headers: []string{"X-Access-Token: no"}, status: 401},
		{name: "a token in the header of a key", path: contexts, who: "nobody", body: `{}`,
			headers: []string{"X-Api-Key: " + tokens["ann"]}, status: 200},
		{name: "a token in the header of a sandbox", path: contexts, who: "nobody", body: `{}`,
			headers: []string{"E2b-Traffic-Access-Token: " + tokens["ann"]}, status: 200},
		{name: "a credential in two headers", path: sandboxes, who: "nobody", body: `{}`,
			headers: []string{"X-Access-Token: " + tokens["ann"], "X-Api-Key: no"}, status: 401},
		{name: "the header of a sandbox elsewhere", path: "/api/execute", who: "nobody", body: `{"code":"1"}`,
			headers: []string{"X-Access-Token: " + tokens["ann"]}, status: 401},
		{name: "the header of a sandbox on Piston", path: "/api/v2/execute", who: "nobody", body: file(`"a"`),
			headers: []string{"X-Access-Token: " + tokens["ann"]}, status: 401},
		{name: "a path that ends like an endpoint", path: "/api/e2b/../execute", who: "nobody", body: `{"code":"1"}`,
			headers: []string{"X-Access-Token: " + tokens["ann"]}, status: 404},
		{name: "a token in a form", path: sandboxes, who: "ann", body: `a=b`,
			headers: []string{"Content-Type: application/x-www-form-urlencoded"}, status: 415},
		{name: "another scope", path: sandboxes, who: "reader", body: `{}`, status: 403},
		{name: "another scope on Piston", path: "/api/v2/execute", who: "reader", body: file(`"a"`), status: 403},
		{name: "a sandbox that never ends", path: sandboxes, who: "ann", body: `{"timeout":1e300}`, status: 400},
		{name: "deep values", path: contexts, who: "ann", status: 400,
			body: `{"x":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`},
		{name: "a file above", path: "/api/v2/execute", who: "ann", body: file(`"../x"`), status: 400,
			says: "escape parent directory"},
		{name: "an absolute file", path: "/api/v2/execute", who: "ann", body: file(`"/etc/passwd"`), status: 400},
		{name: "a file in the end above", path: "/api/v2/execute", who: "ann", status: 400,
			body: file(`"a/b/../../../x"`)},
		{name: "a backslash", path: "/api/v2/execute", who: "ann", body: file(`"..\\x"`), status: 400},
		{name: "a NUL", path: "/api/v2/execute", who: "ann", body: file(`"a\u0000.js"`), status: 400},
		{name: "the folder itself", path: "/api/v2/execute", who: "ann", body: file(`"a/.."`), status: 400},
		{name: "a long name", path: "/api/v2/execute", who: "ann", status: 400,
			body: file(`"` + strings.Repeat("a", 256) + `"`)},
		{name: "a name of the language", path: "/api/v2/execute", who: "ann", body: file(`"__proto__"`), status: 200,
			says: `"stdout":"1\n"`},
		{name: "two long texts", path: "/api/v2/execute", who: "ann", status: 200, says: `"stderr":"yyyy`,
			body: piston(`"files":[{"content":"console.log('x'.repeat(2000)); console.error('y'.repeat(2000))"}]`)},
		{name: "zeros in hexadecimal", path: "/api/v2/execute", who: "ann", status: 200, says: `"stdout":"400000\n"`,
			body: piston(`"files":[{"content":"console.log(require('fs').readFileSync('z').length)"},` +
				`{"name":"z","encoding":"hex","content":"` + zeros + `"}]`)},
		{name: "a program as bytes", path: "/api/v2/execute", who: "ann", status: 200, says: "a NUL byte is not allowed",
			body: piston(`"files":[{"name":"a","content":"console.log(1)"},{"name":"a","encoding":"hex","content":"ff00"}]`)},
		{name: "no environment", path: "/api/v2/execute", who: "ann", status: 200, hides: secret,
			body: piston(`"files":[{"content":"console.log(JSON.stringify(process.env))"}]`)},
		{name: "another tier in other letters", path: "/api/v2/execute", who: "ann", status: 200,
			says: "fetch is not available",
			body: piston(`"policy":"strict","Policy":"agent","files":[{"content":"fetch('https://example.com')"}]`)},
		{name: "limits above the tier's", path: "/api/v2/execute", who: "ann", status: 400,
			body: piston(`"run_memory_limit":1e300,"files":[{"content":"1"}]`)},
		{name: "a limit of nothing", path: "/api/v2/execute", who: "ann", status: 400,
			body: piston(`"run_memory_limit":0.4,"files":[{"content":"1"}]`)},
		{name: "a selector that costs", path: "/api/v2/execute", who: "ann", status: 400, says: "runtime is unknown",
			body: `{"language":"js","version":"` + strings.Repeat(">1 ||", 100_000) + `","files":[]}`},
		{name: "the sandbox is as it was", path: run, who: "ann", headers: []string{in}, body: `{"code":"x"}`, status: 200,
			says: `"execution_count":2`},
	} {
		named := strings.NewReplacer("{sandbox}", sandbox)
		method := c.method
		if method == "" {
			method = "POST"
		}
		r, err := http.NewRequestWithContext(t.Context(), method, p.url+named.Replace(c.path),
			strings.NewReader(named.Replace(c.body)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		if tokens[c.who] != "" {
			r.Header.Set("Authorization", "Bearer "+tokens[c.who])
		}
		for _, h := range c.headers {
			name, value, _ := strings.Cut(named.Replace(h), ": ")
			r.Header.Set(name, value)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(c.name, err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil {
			t.Error(c.name, err)
		}
		text := string(body)
		if res.StatusCode != c.status {
			t.Errorf("%s: status %d, want %d: %.300s", c.name, res.StatusCode, c.status, text)
		}
		if !strings.Contains(text, named.Replace(c.says)) {
			t.Errorf("%s: %.300s does not say %s", c.name, text, c.says)
		}
		if c.hides != "" && strings.Contains(text, c.hides) {
			t.Errorf("%s: %.300s says %s", c.name, text, c.hides)
		}
	}
}

// The credential that a sandbox is made with is in the response to its own request alone, however often that is sent.
func TestCredentialsOfSandboxes(t *testing.T) {
	t.Parallel()
	p := start(t, "API_KEY="+clientKey, "RATE_LIMIT_MAX_REQUESTS=10000")
	const key = "Idempotency-Key: one-sandbox"
	_, first := p.post(t.Context(), t, "/api/e2b/v2/sandboxes", `{}`, key, "X-Api-Key: "+clientKey)
	_, again := p.post(t.Context(), t, "/api/e2b/v2/sandboxes", `{}`, key, "Authorization: Bearer "+clientKey)
	if first["sandboxID"] == nil || first["sandboxID"] != again["sandboxID"] {
		t.Error(first, again)
	}
	for _, made := range []map[string]any{first, again} {
		if made["envdAccessToken"] != clientKey || made["trafficAccessToken"] != clientKey {
			t.Error("the client has no tokens for its sandbox")
		}
	}
	status, v := p.post(t.Context(), t, "/api/e2b/contexts", `{}`, "X-Access-Token: "+clientKey)
	if status != 200 {
		t.Error(status, v)
	}
	err := filepath.WalkDir(p.dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(content), clientKey) {
			t.Errorf("%s has the credential", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
