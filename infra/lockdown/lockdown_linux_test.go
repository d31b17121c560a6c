package lockdown_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/infra/lockdown"
)

// TestMain makes this test program its own locked-down child.
func TestMain(m *testing.M) {
	if os.Getenv("LOCKDOWN_CHILD") != "" {
		os.Exit(child())
	}
	os.Exit(m.Run())
}

// plan lists the tasks of the child.
type plan struct {
	Config  lockdown.Config
	Read    string // a folder it may read, with a file "known"
	Write   string // a folder it may write
	Other   string // a folder it was not given
	Served  string // an HTTP address it may reach
	Refused string // one on a port it was not given
}

// report holds the findings of the child.
type report struct {
	Walls    lockdown.Walls
	Attempts map[string]string // "" is success
}

func child() int {
	var p plan
	if err := json.Unmarshal([]byte(os.Getenv("LOCKDOWN_CHILD")), &p); err != nil {
		panic(err)
	}
	// Threads that exist before must be bound too: hold some in a system call.
	parked, err := parkThreads(8)
	if err != nil {
		panic(err)
	}
	w, err := lockdown.Enforce(p.Config)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	r := report{Walls: w, Attempts: map[string]string{}}
	for name, attempt := range attempts(p) {
		r.Attempts[name] = ""
		if err := attempt(); err != nil {
			r.Attempts[name] = err.Error()
		}
	}
	for i, err := range parked() {
		if err == nil {
			r.Attempts[fmt.Sprintf("thread %d reads /etc/passwd", i)] = ""
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		return 4
	}
	return 0
}

// locked runs a child under cfg and returns its report.
func locked(t *testing.T, network bool) report {
	t.Helper()
	ok := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok") }))
	t.Cleanup(ok.Close)
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	p := plan{Read: t.TempDir(), Write: t.TempDir(), Other: t.TempDir(), Served: ok.URL,
		Refused: other.Listener.Addr().String()}
	for _, dir := range []string{p.Read, p.Write, p.Other} {
		if err := os.WriteFile(filepath.Join(dir, "known"), []byte("text"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	port := ok.Listener.Addr().(*net.TCPAddr).Port
	p.Config = lockdown.Config{Read: []string{p.Read}, Write: []string{p.Write}, Ports: []uint16{uint16(port)},
		Network: network}
	encoded, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = []string{"LOCKDOWN_CHILD=" + string(encoded), "PARENT=" + strconv.Itoa(os.Getpid())}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	var r report
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWalls(t *testing.T) {
	for _, network := range []bool{false, true} {
		t.Run(fmt.Sprintf("network %v", network), func(t *testing.T) {
			r := locked(t, network)
			t.Logf("standing: %q, missing: %q", r.Walls.Standing, r.Walls.Missing)
			for _, needed := range []lockdown.Wall{lockdown.NoNewPrivs, lockdown.Syscalls, lockdown.NoDumps} {
				if !slices.Contains(r.Walls.Standing, needed) {
					t.Errorf("the wall %q is missing", needed)
				}
			}
			for name, got := range r.Attempts {
				if wall := needs(name, network); wall != "" && !slices.Contains(r.Walls.Standing, wall) {
					t.Logf("%s: not judged, %q is missing", name, wall)
					continue
				}
				may := strings.HasPrefix(name, "may ") || network && strings.HasPrefix(name, "network ")
				if may && got != "" {
					t.Errorf("%s: refused: %s", name, got)
				}
				if !may && got == "" {
					t.Errorf("%s: not refused", name)
				}
			}
		})
	}
}

// needs maps an attempt that seccomp alone does not refuse to the wall that does.
func needs(attempt string, network bool) lockdown.Wall {
	switch {
	case strings.HasPrefix(attempt, "file "), strings.HasPrefix(attempt, "thread "):
		return lockdown.Files
	case strings.HasPrefix(attempt, "network tcp") && !network:
		return lockdown.Ports
	}
	return ""
}

func TestEnforceNamesAMissingFolder(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(plan{Config: lockdown.Config{Read: []string{"/no/such/folder"}}})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = []string{"LOCKDOWN_CHILD=" + string(encoded)}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "/no/such/folder") {
		t.Errorf("%v: %s", err, out)
	}
}
