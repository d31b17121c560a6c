package engines_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/infra/engines"
)

// A process has the pages that its job needs before the job, with what the template has in them.
func TestRehearsalMapsPages(t *testing.T) {
	const job = "const list = [...'a'.repeat(3000)].map((c, i) => ({ c, i })); " +
		"JSON.stringify(list).length + list.sort((a, b) => b.i - a.i)[0].i"
	var took []int
	for _, rehearsal := range []string{"", job + "; ({ ready: 1 })\n"} {
		cfg := config(t)
		cfg.Rehearsal = []byte(rehearsal)
		p := open(t, cfg)
		for range 2 {
			proc := take(t, p)
			before := faults(t, proc)
			if answer, err := ask(t, proc, job); err != nil || answer != "58890" {
				t.Errorf("the job gave %s %v", answer, err)
			}
			took = append(took, faults(t, proc)-before)
		}
	}
	if took[0] < 100 { // the kernel maps large pages
		t.Skipf("a job has %d page faults without a rehearsal", took[0])
	}
	if took[3]*2 > took[0] {
		t.Errorf("page faults of a job: %d, and %d with a rehearsal", took[0], took[3])
	}
}

// Without a rehearsal that works, an engine runs jobs as well, only less fast.
func TestRehearsalFails(t *testing.T) {
	for name, rehearsal := range map[string]string{
		"another answer": "fs.writeSync(1, 'no'); process.reallyExit(3)\n", "an end": "process.reallyExit(3)\n",
	} {
		t.Run(name, func(t *testing.T) {
			var logged bytes.Buffer
			cfg := config(t)
			cfg.Rehearsal = []byte(rehearsal)
			cfg.Logger = slog.New(slog.NewTextHandler(&logged, nil))
			p := open(t, cfg)
			if answer, err := ask(t, take(t, p), "6 * 7"); answer != "42" {
				t.Errorf("the job gave %s %v", answer, err)
			}
			if _, process := p.Memory(); process == 0 {
				t.Error("the memory of a process is unknown")
			}
			p.Close()
			if n := strings.Count(logged.String(), "ahead of their job"); n != 1 {
				t.Errorf("%d lines about it: %s", n, &logged)
			}
		})
	}
}

// faults returns the page faults of a process so far.
func faults(t *testing.T, proc *engines.Process) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", proc.PID))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), ") ")
	var state string
	var n [8]int
	if _, err := fmt.Sscan(after, &state, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7]); err != nil {
		t.Fatal(err)
	}
	return n[6]
}
