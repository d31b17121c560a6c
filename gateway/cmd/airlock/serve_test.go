package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/infra/lategc"
)

// TestMain makes this binary airlock itself when tests start it as a child, so that signals and exit codes are real.
func TestMain(m *testing.M) {
	lategc.Start(100)
	if len(os.Args) > 1 && os.Args[1] == "ledger" {
		os.Exit(serveLedger())
	}
	if len(os.Args) > 2 && os.Args[1] == "shop" {
		os.Exit(serveShop(os.Args[2]))
	}
	if len(os.Args) > 1 && os.Args[1] == "function" {
		if err := process.Serve(context.Background(), os.Getenv, os.Stdin, os.Stderr, tryAttempts); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(exitPlatform)
		}
		os.Exit(0)
	}
	if os.Getenv("AIRLOCK_TEST_AS_PROGRAM") != "" || len(os.Args) > 1 && os.Args[1] == "scanner" {
		os.Exit(run(os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// command runs the program in this process. Its command must end by itself.
func command(t testing.TB, getenv func(string) string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(args, getenv, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

func TestToken(t *testing.T) {
	t.Parallel()
	getenv := env("JWT_SECRET="+secret, "JWT_ISSUER=https://issuer.example", "JWT_AUDIENCE=airlock")
	code, out, errs := command(t, getenv, "token", "--sub", "alice", "--scope", "execute priority", "--tenant", "acme",
		"--ttl", "5m")
	if code != 0 || errs != "" {
		t.Fatal(code, errs)
	}
	key, err := authn.SecretKey([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	a, err := authn.New(authn.Config{Keys: []authn.Key{key}, Issuer: "https://issuer.example", Audience: "airlock",
		Now: func() time.Time { return time.Now().Add(4 * time.Minute) }})
	if err != nil {
		t.Fatal(err)
	}
	id, err := a.Authenticate("Bearer "+strings.TrimSpace(out), "")
	if err != nil {
		t.Fatal(err)
	}
	if id.Subject != "jwt:https://issuer.example/alice" || id.Tenant != "acme" {
		t.Errorf("the caller is %s of %s, want jwt:https://issuer.example/alice of acme", id.Subject, id.Tenant)
	}
	for scope, want := range map[string]bool{authn.Priority: true, authn.AuditRead: false} {
		if id.May(scope) != want {
			t.Errorf("may %s: %v, want %v", scope, !want, want)
		}
	}
	for _, c := range []struct {
		getenv func(string) string
		args   []string
		says   string
	}{
		{env(), nil, "JWT_SECRET: is not set"},
		{env("JWT_SECRET=short"), nil, "JWT_SECRET: has 5 bytes"},
		{getenv, []string{"--ttl", "0s"}, "--ttl"},
		{getenv, []string{"--tenant", "a b"}, "tenant"},
		{getenv, []string{"extra"}, "unknown command"},
		{getenv, []string{"--nope"}, "unknown flag"},
	} {
		if code, _, errs := command(t, c.getenv, append([]string{"token"}, c.args...)...); code != exitUsage ||
			!strings.Contains(errs, c.says) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: %d %q", c.args, code, errs)
		}
	}
}

func TestServeRefusesToStart(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env  []string
		code int
		says string
	}{
		{[]string{"PORT=x"}, exitUsage, "PORT: must be"},
		{[]string{"HOST=0.0.0.0"}, exitUsage, "set API_KEY"},
		{[]string{"PORT=" + port}, exitPlatform, "PORT: 127.0.0.1:" + port + " is in use"},
		{[]string{"PORT=0", "AUDIT_STORE=file://" + file}, exitPlatform, "AUDIT_STORE: "},
		{[]string{"PORT=0", "AUDIT_STORE=file:///proc/nothing"}, exitPlatform, "AUDIT_STORE: "},
	} {
		code, out, errs := command(t, env(c.env...), "serve")
		if code != c.code || out != "" {
			t.Errorf("%v: %d %q", c.env, code, out)
		}
		if !strings.Contains(errs, c.says) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: %q", c.env, errs)
		}
	}
}

// program is airlock serve as a separate process, ready for requests.
type program struct {
	*exec.Cmd
	url   string
	start string
	dir   string
}

func start(t testing.TB, environment ...string) *program {
	t.Helper()
	return startHeard(t, nil, environment...)
}

// startHeard is start with a writer for the program's log; nil means the log of the test.
func startHeard(t testing.TB, log io.Writer, environment ...string) *program {
	t.Helper()
	return startGiven(t, log, nil, environment...)
}

// startGiven is startHeard with open files that the program inherits.
func startGiven(t testing.TB, log io.Writer, files []*os.File, environment ...string) *program {
	t.Helper()
	return serving(t, tryStart(t, log, files, environment...))
}

// tryStart starts airlock serve. The program has no URL if it ended instead.
func tryStart(t testing.TB, log io.Writer, files []*os.File, environment ...string) *program {
	t.Helper()
	dir := t.TempDir()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = dir
	}
	cache = filepath.Join(cache, "airlock")
	cmd := exec.Command(os.Args[0], "serve")
	cmd.Stderr, cmd.ExtraFiles = log, files
	return tryCommand(t, dir, cmd,
		append([]string{"AIRLOCK_TEST_AS_PROGRAM=1", "PORT=0", "FUNCTION_PROCESSES=1", "AIRLOCK_CACHE_DIR=" + cache},
			environment...))
}

// startCommand runs a command in a folder until it says that it serves.
func startCommand(t testing.TB, dir string, cmd *exec.Cmd, environment []string) *program {
	t.Helper()
	return serving(t, tryCommand(t, dir, cmd, environment))
}

// serving fails the test unless a program serves.
func serving(t testing.TB, p *program) *program {
	t.Helper()
	if p.url == "" {
		t.Fatalf("it did not start:\n%s", p.start)
	}
	return p
}

func tryCommand(t testing.TB, dir string, cmd *exec.Cmd, environment []string) *program {
	t.Helper()
	cmd.Dir, cmd.Env = dir, environment
	if cmd.Stderr == nil {
		cmd.Stderr = os.Stderr
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	p := &program{Cmd: cmd, dir: dir}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		p.start += lines.Text() + "\n"
		if rest, ok := strings.CutPrefix(lines.Text(), "airlock serves on "); ok {
			p.url, _, _ = strings.Cut(rest, " ")
		}
		if strings.Contains(lines.Text(), `-d '{"code"`) {
			return p
		}
	}
	p.url = ""
	return p
}

func (p *program) post(ctx context.Context, t *testing.T, path, body string, headers ...string) (int, map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "POST", p.url+path, strings.NewReader(body))
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
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return res.StatusCode, v
}

// A process serves, a function process runs the code, and the record is on disk. A shutdown then lets running
// executions finish and leaves no process behind.
func TestServe(t *testing.T) {
	t.Parallel()
	p := start(t, "RATE_LIMIT_MAX_REQUESTS=1000")
	for _, want := range []string{"no credentials: this machine only", "policy     standard", "records    file://",
		"1 processes", "behind ", "1000 requests", "curl -s http://127.0.0.1:",
		"pages      /dashboard, /security, /approvals, /functions, /jobs, /sessions, /packages, /playground, /docs\n"} {
		if !strings.Contains(p.start, want) {
			t.Errorf("%q is missing in\n%s", want, p.start)
		}
	}
	status, v := p.post(t.Context(), t, "/api/execute",
		`{"code":"console.log(input.n); return input.n * 2","input":{"n":21}}`)
	if status != 200 || v["status"] != "completed" {
		t.Fatalf("%d %v", status, v)
	}
	if v["result"] != 42.0 || v["output"] != "21\n" {
		t.Errorf("%v", v)
	}
	files, err := filepath.Glob(filepath.Join(p.dir, "audit", "executions", "*", v["id"].(string)+".json"))
	if err != nil || len(files) != 1 {
		t.Errorf("%d records of it, %v", len(files), err)
	}

	slow := make(chan map[string]any)
	running := make(chan struct{})
	go func() {
		close(running)
		_, v := p.post(context.WithoutCancel(t.Context()), t, "/api/execute",
			`{"code":"await new Promise(r => setTimeout(r, 700)); return 'finished'"}`)
		slow <- v
	}()
	<-running
	for busy := false; !busy; {
		res, err := http.Get(p.url + "/api/stats")
		if err != nil {
			t.Fatal(err)
		}
		var stats struct{ Queue struct{ Running int } }
		err = json.NewDecoder(res.Body).Decode(&stats)
		res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		busy = stats.Queue.Running == 1
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if v := <-slow; v["result"] != "finished" {
		t.Errorf("the shutdown cut a run short: %v", v)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if code, out, errs := command(t, env(), "audit", "verify", "--store", filepath.Join(p.dir, "audit")); code != 0 {
		t.Errorf("audit verify: %d\n%s%s", code, out, errs)
	}
}

func TestServeWithCredentials(t *testing.T) {
	t.Parallel()
	p := start(t, "HOST=0.0.0.0", "JWT_SECRET="+secret, "API_KEY=sk-of-the-tests-here")
	if !strings.Contains(p.start, "credentials required") {
		t.Errorf("%s", p.start)
	}
	p.url = strings.Replace(p.url, "[::]", "127.0.0.1", 1)
	p.url = strings.Replace(p.url, "0.0.0.0", "127.0.0.1", 1)
	if status, v := p.post(t.Context(), t, "/api/execute", `{"code":"1"}`); status != 401 {
		t.Errorf("%d %v", status, v)
	}
	_, token, _ := command(t, env("JWT_SECRET="+secret), "token")
	for _, credential := range []string{"sk-of-the-tests-here", strings.TrimSpace(token)} {
		if status, v := p.post(t.Context(), t, "/api/execute", `{"code":"1+1"}`,
			"Authorization: Bearer "+credential); status != 200 || v["result"] != 2.0 {
			t.Errorf("%d %v", status, v)
		}
	}
}
