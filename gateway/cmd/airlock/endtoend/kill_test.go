//go:build linux

package endtoend_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/records/filerecords"
)

// killing is one run of the test: the executions that were started, and those that were answered.
type killing struct {
	t       *testing.T
	program string
	env     []string
	random  *rand.Rand

	mu       sync.Mutex
	answered map[string]execution.Status
	failed   int
}

// Under load, the gateway and its function processes are killed at random moments, and the gateway is started again.
// Afterwards every answer has a record that agrees with it, every chain holds, and nothing ran or is recorded twice.
// The test takes 8 s, or longer on a slow machine. AIRLOCK_KILL_TIME=1m makes it longer, and AIRLOCK_KILL_SEED chooses
// other moments.
func TestKilled(t *testing.T) {
	length, seed := 8*time.Second, uint64(1)
	if text := os.Getenv("AIRLOCK_KILL_TIME"); text != "" {
		var err error
		if length, err = time.ParseDuration(text); err != nil {
			t.Fatalf("AIRLOCK_KILL_TIME: %v", err)
		}
	}
	if text := os.Getenv("AIRLOCK_KILL_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("AIRLOCK_KILL_SEED: %v", err)
		}
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "airlock")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", program, "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	store := filepath.Join(dir, "audit")
	k := &killing{
		// moments, not secrets
		t: t, program: program, random: rand.New(rand.NewPCG(seed, 0)), answered: map[string]execution.Status{},
		env: []string{
			"PORT=0", "FUNCTION_PROCESSES=2", "RATE_LIMIT_MAX_REQUESTS=1000000000", "AUDIT_STORE=file://" + store,
			"AUDIT_CODE=keep",
			"AIRLOCK_CACHE_DIR=" + filepath.Join(os.TempDir(), "airlock-test-cache"),
		},
	}
	kills, lives := 0, 0
	for end := time.Now().Add(length); time.Now().Before(end) || len(k.answered) < 20 || kills == 0; lives++ {
		kills += k.life(lives)
	}
	t.Logf("%d gateways and %d function processes killed; %d executions answered, %d requests failed", lives, kills,
		len(k.answered), k.failed)
	k.verify(store)
}

// life is one gateway from start to SIGKILL, with the function processes that were killed on the way.
func (k *killing) life(n int) (kills int) {
	cmd := exec.CommandContext(k.t.Context(), k.program, "serve")
	cmd.Env, cmd.Dir = k.env, filepath.Dir(k.program)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		k.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	url := ""
	for lines := bufio.NewScanner(stdout); url == "" && lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "airlock serves on "); ok {
			url, _, _ = strings.Cut(rest, " ")
		}
	}
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	if url == "" {
		_ = cmd.Wait()
		k.t.Fatalf("after %d kills the gateway does not start:\n%s", n, stderr.String())
	}
	over := make(chan struct{})
	var clients sync.WaitGroup
	for c := range 4 {
		clients.Go(func() { k.client(url, fmt.Sprintf("%d-%d", n, c), over) })
	}
	k.pause(50, 900)
	functions := map[int]bool{}
	for range k.random.IntN(4) {
		for _, pid := range children(k.t, cmd.Process.Pid) {
			functions[pid] = true
			if k.random.IntN(2) == 0 && syscall.Kill(pid, syscall.SIGKILL) == nil {
				kills++
			}
		}
		k.pause(0, 500)
	}
	for _, pid := range children(k.t, cmd.Process.Pid) {
		functions[pid] = true
	}
	if err := cmd.Process.Kill(); err != nil {
		k.t.Fatal(err)
	}
	close(over)
	clients.Wait()
	_ = cmd.Wait() // it was killed
	k.gone(functions)
	return kills
}

// pause waits between lowest and highest milliseconds: the test is about moments.
func (k *killing) pause(lowest, highest int) {
	<-time.After(time.Duration(lowest+k.random.IntN(highest-lowest)) * time.Millisecond)
}

// client requests one execution after the other, each of different code, and notes the answers.
func (k *killing) client(url, name string, over <-chan struct{}) {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, Timeout: 20 * time.Second}
	for i := 0; ; i++ {
		select {
		case <-over:
			return
		default:
		}
		code := fmt.Sprintf("await new Promise((done) => setTimeout(done, %d)); console.log('here'); '%s-%d'", i%7*5, name, i)
		result, err := ask(&client, url, code)
		k.mu.Lock()
		switch {
		case err != nil:
			k.failed++
		case k.answered[result.ID] != "":
			k.t.Errorf("%s was answered twice", result.ID)
		default:
			k.answered[result.ID] = result.Status
		}
		k.mu.Unlock()
		if err == nil && result.Status == execution.Completed && string(result.Result) != fmt.Sprintf(`"%s-%d"`, name, i) {
			k.t.Errorf("%s answers to somebody else: %s", result.ID, result.Result)
		}
	}
}

// ask returns an execution's result. A kill may cause an error.
func ask(client *http.Client, url, code string) (result execution.Result, err error) {
	body, err := json.Marshal(map[string]any{"code": code})
	if err != nil {
		return result, err
	}
	res, err := client.Post(url+"/api/execute", "application/json", bytes.NewReader(body)) // the client has a timeout
	if err != nil {
		return result, err
	}
	defer func() { _ = res.Body.Close() }() // it was read
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return result, err
	}
	if res.StatusCode != http.StatusOK {
		return result, fmt.Errorf("status %d: %s", res.StatusCode, text)
	}
	return result, json.Unmarshal(text, &result)
}

// children returns the live child processes of a process.
func children(t *testing.T, parent int) []int {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // that thread has ended
		}
		for field := range strings.FieldsSeq(string(text)) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, pid)
		}
	}
	return out
}

// gone waits until the function processes have ended after their gateway.
func (k *killing) gone(functions map[int]bool) {
	look, patience := time.NewTicker(5*time.Millisecond), time.After(2*time.Minute)
	defer look.Stop()
	for pid := range functions {
		for {
			line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			if err != nil || !bytes.HasPrefix(line, []byte(k.program)) {
				break // ended, or a zombie that nobody has waited for
			}
			select {
			case <-look.C:
			case <-patience:
				_ = syscall.Kill(pid, syscall.SIGKILL)
				k.t.Fatalf("function process %d outlives its gateway", pid)
			}
		}
	}
}

func (k *killing) verify(dir string) {
	t := k.t
	store, err := filerecords.Open(dir, filerecords.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	report, err := store.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range report.Problems {
		t.Errorf("%s", problem)
	}
	ids, codes := map[string]string{}, map[string]string{}
	err = store.Each(t.Context(), time.Time{}, func(line []byte) error {
		var r struct{ ID, Status, CodeSHA256 string }
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		if _, there := ids[r.ID]; there {
			t.Errorf("%s is recorded twice", r.ID)
		}
		if other, there := codes[r.CodeSHA256]; there {
			t.Errorf("%s and %s are the same request", r.ID, other)
		}
		ids[r.ID], codes[r.CodeSHA256] = r.Status, r.ID
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for id, status := range k.answered {
		if ids[id] != string(status) {
			t.Errorf("%s was answered as %q and is recorded as %q", id, status, ids[id])
		}
		if _, err := store.Get(t.Context(), id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	replayed(t, store, "on")
}
