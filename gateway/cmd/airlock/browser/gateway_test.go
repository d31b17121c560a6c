package browser_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
)

// secret signs the tokens of gateways that ask for credentials; key is their API key.
const (
	secret = "a secret of the browser tests with 32 bytes or more"
	key    = "sk-of-the-browser-tests"
)

// server is airlock serve as a separate process, with one function process.
type server struct {
	url string
	dir string
	// credential is sent with the test's own requests; "" if the gateway requires none.
	credential string
	env        []string
}

// serve starts a gateway for a test. environment is added to its variables.
func serve(t *testing.T, environment ...string) *server {
	t.Helper()
	needBrowser(t)
	dir := t.TempDir()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = dir
	}
	s := &server{dir: dir, env: append([]string{
		"PORT=0", "FUNCTION_PROCESSES=1", "RATE_LIMIT_MAX_REQUESTS=100000", "AUDIT_CODE=keep",
		"AIRLOCK_CACHE_DIR=" + filepath.Join(cache, "airlock"),
	}, environment...)}
	cmd := exec.Command(program, "serve")
	cmd.Dir, cmd.Env, cmd.Stderr = dir, s.env, t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the gateway ended with %v", err)
		}
	})
	said := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said += lines.Text() + "\n"
		if rest, ok := strings.CutPrefix(lines.Text(), "airlock serves on "); ok {
			s.url, _, _ = strings.Cut(rest, " ")
		}
		if strings.Contains(lines.Text(), `-d '{"code"`) {
			return s
		}
	}
	t.Fatalf("the gateway did not start:\n%s", said)
	return nil
}

// guarded starts a gateway that requires credentials; the test itself has the API key.
func guarded(t *testing.T, environment ...string) *server {
	t.Helper()
	s := serve(t, append([]string{"JWT_SECRET=" + secret, "API_KEY=" + key}, environment...)...)
	s.credential = key
	return s
}

// airlock runs another command of the program with the server's settings and returns what it prints.
func (s *server) airlock(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env, cmd.Stderr = s.dir, s.env, t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("airlock %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// token mints a token of a tenant.
func (s *server) token(t *testing.T, tenant, scopes string) string {
	t.Helper()
	return s.airlock(t, "token", "--sub", "someone", "--tenant", tenant, "--scope", scopes)
}

// execute runs a request (code, policy, …) and returns its result; the answer must be 200.
func (s *server) execute(t *testing.T, request map[string]any, headers ...string) execution.Result {
	t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	var result execution.Result
	text := s.request(t, 200, http.MethodPost, "/api/execute", string(body), headers...)
	if err := json.Unmarshal(text, &result); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return result
}

// request makes a request as a program would, checks the status and returns the body of the response. Headers are
// "Name: value" lines.
func (s *server) request(t *testing.T, status int, method, path, body string, headers ...string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if s.credential != "" {
		r.Header.Set("Authorization", "Bearer "+s.credential)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != status {
		t.Fatalf("%s %s: %d, want %d\n%s", method, path, res.StatusCode, status, text)
	}
	return text
}

// hold runs code that does not end by itself until ctx ends.
func (s *server) hold(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/api/execute",
		strings.NewReader(`{"code": "await new Promise(() => setTimeout(() => {}, 1e9))", "policy": "agent"}`))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+s.credential)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	return res.Body.Close()
}
