package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// until polls a condition until it holds or the test's deadline passes.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !so(); <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: did not come about", what)
		}
	}
}

func fetch(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A policy file that changes is in force after SIGHUP, in the gateway and in function processes; one that is wrong
// changes nothing.
func TestPolicyReload(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "deployment.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const first = "version: 1\ntiers:\n  house:\n    base: strict\n    timeout: 2s\n"
	write(first)
	p := start(t, "RATE_LIMIT_MAX_REQUESTS=100000", "AIRLOCK_POLICY_FILE="+file)
	const run = `{"code":"6*7","policy":"%"}`
	tier := func(name string) func() bool {
		return func() bool {
			status, v := p.post(t.Context(), t, "/api/execute", strings.Replace(run, "%", name, 1))
			return status == 200 && v["result"] == 42.0
		}
	}
	if !tier("house")() || tier("cabin")() {
		t.Fatal("the file is not in force at the start")
	}
	write("version: 1\ntiers:\n  strict:\n    timeout: 1h\n")
	if err := p.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if !tier("house")() {
		t.Error("a wrong file changed something")
	}
	write(first + "  cabin:\n    base: strict\n    timeout: 3s\n")
	if err := p.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	until(t, "the new tier in gateway and function process", tier("cabin"))
	until(t, "the process's figures", func() bool {
		var stats struct {
			Functions struct {
				Processes []struct {
					PID, Restarts int
					Leaking       *bool
				}
			}
		}
		if err := json.Unmarshal([]byte(fetch(t, p.url+"/api/stats")), &stats); err != nil {
			t.Fatal(err)
		}
		all := stats.Functions.Processes
		return len(all) == 1 && all[0].PID > 0 && all[0].Restarts > 0 && all[0].Leaking != nil
	})
	for _, want := range []string{`airlock_function_process_up{place="0"} 1`, "airlock_function_process_restarts_total",
		"airlock_function_process_leaking"} {
		if text := fetch(t, p.url+"/metrics"); !strings.Contains(text, want) {
			t.Errorf("%s is missing in /metrics", want)
		}
	}
}

func TestPolicyFileRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "deployment.yaml")
	if err := os.WriteFile(file, []byte("version: 1\ntiers:\n  strict:\n    timeout: 1h\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{file: "deployment.yaml:4", file + ".none": "no such file"} {
		code, _, errs := command(t, env("PORT=0", "AUDIT_STORE="+t.TempDir(), "AIRLOCK_POLICY_FILE="+path), "serve")
		if code != exitUsage || !strings.Contains(errs, "AIRLOCK_POLICY_FILE: ") || !strings.Contains(errs, says) {
			t.Errorf("%d %s", code, errs)
		}
	}
}

// The policy file sets the quotas of tenants.
func TestTenantQuota(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "deployment.yaml")
	if err := os.WriteFile(file, []byte("version: 1\ntenants:\n  \"*\":\n    quota:\n      perMinute: 2\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "AIRLOCK_POLICY_FILE="+file)
	for n := range 4 {
		status, v := p.post(t.Context(), t, "/api/execute", `{"code":"1"}`)
		if want := map[bool]int{true: 200, false: 429}[n < 2]; status != want {
			t.Errorf("request %d: %d %v", n, status, v)
		}
	}
}

// No record contains the value of a secret of the gateway, whichever process writes it.
func TestRecordsHoldNoSecrets(t *testing.T) {
	t.Parallel()
	const key = "sk-of-the-tests-here-of-records"
	p := start(t, "API_KEY="+key, "AUDIT_CODE=keep", "AUDIT_SYNC=true", "AUDIT_REDACT=caller.ip")
	for _, code := range []string{`eval('` + key + `')`, `const password = "hunter2"; 1`} {
		body, err := json.Marshal(map[string]any{"code": code, "input": map[string]string{"password": "hunter22"}})
		if err != nil {
			t.Fatal(err)
		}
		if status, v := p.post(t.Context(), t, "/api/execute", string(body), "Authorization: Bearer "+key); status != 200 {
			t.Fatalf("%d %v", status, v)
		}
	}
	files, err := filepath.Glob(filepath.Join(p.dir, "audit", "executions", "*", "*.json"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%d records, %v", len(files), err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{key, "hunter22", `"127.0.0.1"`} {
			if strings.Contains(string(text), secret) {
				t.Errorf("%s is in\n%s", secret, text)
			}
		}
		if !strings.Contains(string(text), `"code":`) {
			t.Errorf("the code is not kept in\n%s", text)
		}
	}
}
