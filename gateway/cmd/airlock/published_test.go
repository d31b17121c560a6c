package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// publishedClients are clients of other services that work with a gateway, by the program that calls one with them.
var publishedClients = map[string]string{
	"e2b.mjs": "@e2b/code-interpreter", "piston.mjs": "piston-api-client",
}

// Clients of other services, as they are published, run code on a gateway. make clients installs them.
func TestPublishedClients(t *testing.T) {
	t.Parallel()
	modules := os.Getenv("CLIENT_MODULES")
	if modules == "" {
		t.Skip("CLIENT_MODULES names no folder with the clients; make clients installs them")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	for program, client := range publishedClients {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			if _, err := os.Stat(filepath.Join(modules, client)); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			text, err := os.ReadFile(filepath.Join(repository, "gateway/client/published", program))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, program), text, 0o600)
			}
			if err == nil {
				err = os.Symlink(modules, filepath.Join(dir, "node_modules"))
			}
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, node, program)
			cmd.Dir, cmd.Env = dir, clientGateway(t)
			if client == "piston-api-client" { // it sends no credential
				cmd.Env = append(os.Environ(), "AIRLOCK_URL="+start(t).url)
			}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// The client of E2B for Python, which only PyPI has, sends these requests (e2b-code-interpreter 2.9.1 on e2b 2.39.1).
func TestRequestsOfE2BForPython(t *testing.T) {
	t.Parallel()
	p := start(t, "API_KEY="+clientKey, "RATE_LIMIT_MAX_REQUESTS=10000")
	send := func(method, path, body string, status int, headers ...string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, p.url+"/api/e2b"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			r.Header.Set(name, value)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != status {
			t.Fatalf("%s %s: %d %v\n%s", method, path, res.StatusCode, err, text)
		}
		return string(text)
	}
	const key = "X-API-KEY: " + clientKey
	var sandbox struct{ SandboxID, TemplateID, ClientID, EnvdVersion, EnvdAccessToken, TrafficAccessToken string }
	first := send("POST", "/sandboxes", `{"templateID": "code-interpreter-v1", "timeout": 300, "secure": true, `+
		`"allow_internet_access": true, "metadata": {}, "envVars": {}}`, 201, key)
	if err := json.Unmarshal([]byte(first), &sandbox); err != nil || sandbox.EnvdAccessToken != clientKey {
		t.Fatal(err, first)
	}
	traffic := []string{
		"E2b-Sandbox-Id: " + sandbox.SandboxID, "E2b-Sandbox-Port: 49999",
		"E2B-Traffic-Access-Token: " + sandbox.TrafficAccessToken,
	}
	run := func(body, want string) {
		t.Helper()
		got := send("POST", "/execute", body, 200, append(traffic, "X-Access-Token: "+sandbox.EnvdAccessToken)...)
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s does not say %s", body, got, want)
		}
	}
	run(`{"code": "let x = 1", "context_id": null, "language": null, "env_vars": null}`, `"execution_count":1`)
	run(`{"code": "x + process.env.A", "context_id": null, "language": "js", "env_vars": {"A": "b"}}`,
		`"text":"1b","is_main_result":true`)
	type codeContext struct{ ID, Language, Cwd string }
	var made codeContext
	text := send("POST", "/contexts", `{"language": "js", "cwd": "/root"}`, 200, traffic...)
	if err := json.Unmarshal([]byte(text), &made); err != nil || made != (codeContext{made.ID, "javascript", "/"}) {
		t.Fatal(err, text)
	}
	run(`{"code": "typeof x", "context_id": "`+made.ID+`", "language": null, "env_vars": null}`, `"text":"undefined"`)
	if list := send("GET", "/contexts", "", 200, traffic...); !strings.Contains(list, made.ID) {
		t.Error(list)
	}
	send("POST", "/contexts/"+made.ID+"/restart", "", 204, traffic...)
	send("DELETE", "/contexts/"+made.ID, "", 204, traffic...)
	send("DELETE", "/sandboxes/"+sandbox.SandboxID, "", 204, key)
	send("DELETE", "/sandboxes/"+sandbox.SandboxID, "", 404, key)
}
