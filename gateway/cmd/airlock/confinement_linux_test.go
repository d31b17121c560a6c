package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Native code in a function process of airlock serve, with records, state, a chain key, secrets and credentials
// beside it, reaches none of them: no file, no socket, no process, no system call but those that compute. It reaches
// what its execution was granted through the broker, and nothing else.
func TestAttemptsInAFunctionProcess(t *testing.T) {
	t.Parallel()
	granted := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = io.WriteString(w, "granted")
	}))
	defer granted.Close()
	name := "airlock-attempt-" + strconv.Itoa(os.Getpid())
	abstract, err := net.Listen("unix", "@"+name)
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close()
	policyFile := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(policyFile, []byte("version: 1\nsecrets: {HELD: [held.example]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	confidential := map[string]string{
		"AUDIT_CHAIN_KEY": "a chain key of this test", "AIRLOCK_SECRET_HELD": "a secret of this test",
		"AWS_SECRET_ACCESS_KEY": "a credential of this test",
		"CALLBACK_SECRET":       "whsec_" + strings.Repeat("c2VjcmV0", 6),
	}
	environment := []string{"RATE_LIMIT_MAX_REQUESTS=1000", "AIRLOCK_POLICY_FILE=" + policyFile,
		"EGRESS_ALLOW=" + granted.Listener.Addr().String(), "AUDIT_CODE=keep"}
	for name, value := range confidential {
		environment = append(environment, name+"="+value)
	}
	p := startGiven(t, nil, leftOpen(t), environment...)
	_, v := p.post(t.Context(), t, "/api/execute", `{"code":"'somebody else'"}`)
	records, err := filepath.Glob(filepath.Join(p.dir, "audit", "executions", "*", v["id"].(string)+".json"))
	if err != nil || len(records) != 1 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	plan, err := json.Marshal(attemptsPlan{
		Records: filepath.Join(p.dir, "audit"), Record: records[0], State: filepath.Join(p.dir, "state"), Working: p.dir,
		Cache: os.TempDir(), Gateway: strings.TrimPrefix(p.url, "http://"), Abstract: "@" + name, Secret: "HELD",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range []string{"standard", "agent"} {
		t.Run(tier, func(t *testing.T) {
			body, err := json.Marshal(map[string]any{"code": attemptsMark + string(plan) + "*/ 0", "policy": tier})
			if err != nil {
				t.Fatal(err)
			}
			status, v := p.post(t.Context(), t, "/api/execute", string(body))
			text, err := json.Marshal(v["result"])
			var report attemptsReport
			if err == nil {
				err = json.Unmarshal(text, &report)
			}
			if status != 200 || err != nil || report.Parent != p.Process.Pid {
				t.Fatalf("status %d, %v: %v", status, err, v)
			}
			checkAttempts(t, tier, report, confidential)
		})
	}
	if _, err := os.Stat(records[0]); err != nil {
		t.Error(err)
	}
	if code, out, errs := command(t, env("AUDIT_CHAIN_KEY="+confidential["AUDIT_CHAIN_KEY"]), "audit", "verify", "--store",
		filepath.Join(p.dir, "audit")); code != 0 {
		t.Errorf("audit verify: %d\n%s%s", code, out, errs)
	}
}

// leftOpen returns files that whoever starts a gateway left open.
func leftOpen(t *testing.T) (files []*os.File) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "left open")
	for range 8 {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		files = append(files, f)
	}
	return files
}

// checkAttempts checks what native code found.
func checkAttempts(t *testing.T, tier string, report attemptsReport, confidential map[string]string) {
	t.Helper()
	if len(report.Attempts) < 100 {
		t.Errorf("only %d attempts were made", len(report.Attempts))
	}
	for name, got := range report.Attempts {
		switch {
		case tier == "agent" && name == "anybody through the broker": // that is what the tier grants
		case strings.HasPrefix(name, "may ") && got != "":
			t.Errorf("%s: refused: %s", name, got)
		case !strings.HasPrefix(name, "may ") && got == "":
			t.Errorf("%s: not refused", name)
		}
	}
	for _, call := range report.Syscalls {
		t.Errorf("the system call %s is not refused", call)
	}
	for _, open := range report.Descriptors {
		t.Errorf("it has an open file that it can write, a folder or a device: descriptor %s", open)
	}
	may := []string{"AIRLOCK_CACHE_DIR", "AIRLOCK_PACKAGES", "AIRLOCK_POLICY_FILE", "AIRLOCK_SEALED", "EGRESS_ALLOW",
		"GOGC", "GOTRACEBACK", "HOME"}
	for _, entry := range report.Environment {
		name, value, _ := strings.Cut(entry, "=")
		if !slices.Contains(may, name) {
			t.Errorf("its environment has %s", name)
		}
		for _, held := range confidential {
			if strings.Contains(value, held) {
				t.Errorf("its environment contains %s", name)
			}
		}
	}
}

// What was granted is reached through the broker: a host that the deployment opened, by a guest and with its own name.
func TestGrantedThroughTheBroker(t *testing.T) {
	t.Parallel()
	granted := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_,
			_ = io.WriteString(w, r.Header.Get("X-Key"))
	}))
	defer granted.Close()
	host := granted.Listener.Addr().String()
	policyFile := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(policyFile, []byte(fmt.Sprintf("version: 1\nsecrets: {MINE: [%q]}\n", host)),
		0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "AIRLOCK_POLICY_FILE="+policyFile, "EGRESS_ALLOW="+host, "AIRLOCK_SECRET_MINE=the value of it",
		"RATE_LIMIT_MAX_REQUESTS=1000")
	fetch := fmt.Sprintf(`const r = await fetch("http://%s/", {headers: {"X-Key": typeof secrets === "undefined" ? `+
		`"none" : "" + secrets.MINE}}); (await r.text()).length`, host)
	for what, c := range map[string]struct {
		request map[string]any
		want    any
	}{
		"an opened host": {map[string]any{"code": fetch}, 4.0},
		// the placeholder, in place of what the server saw
		"and a secret there": {map[string]any{"code": fetch, "secrets": []string{"MINE"}}, 39.0},
	} {
		body, err := json.Marshal(c.request)
		if err != nil {
			t.Fatal(err)
		}
		if status, v := p.post(t.Context(), t, "/api/execute", string(body)); status != 200 || v["result"] != c.want {
			t.Errorf("%s: %d %v", what, status, v)
		}
	}
	_, v := p.post(t.Context(), t, "/api/execute",
		fmt.Sprintf(`{"code":"await fetch('%s').catch(e => e.message)","policy":"agent"}`, p.url))
	if text, _ := v["result"].(string); !strings.Contains(text, "is not a public one") {
		t.Errorf("the gateway itself: %v", v)
	}
}
