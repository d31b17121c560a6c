package timerslack_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/infra/timerslack"
)

// TestMain makes this binary a program that restarts itself, and prints what it is afterwards.
func TestMain(m *testing.M) {
	if os.Getenv("TIMERSLACK_TEST_AS_PROGRAM") == "" {
		os.Exit(m.Run())
	}
	if os.Getenv("TIMERSLACK_TEST_THREAD") != "" {
		if err := timerslack.SetThread(); err != nil {
			fmt.Println(err)
		}
	}
	err := timerslack.Restart()
	fmt.Println(os.Getpid(), strings.Join(os.Args[1:], " "), err)
	for _, variable := range os.Environ() {
		if strings.HasPrefix(variable, "AIRLOCK_") {
			fmt.Println("left in the environment:", variable)
		}
	}
	tasks, err := filepath.Glob("/proc/self/task/*")
	if err != nil || len(tasks) < 2 {
		fmt.Println(tasks, err)
	}
	for _, task := range tasks { // the files of threads are hidden, and there
		slack, err := os.ReadFile("/proc/" + filepath.Base(task) + "/timerslack_ns")
		fmt.Println(strings.TrimSpace(string(slack)), err)
	}
	os.Exit(0)
}

// Restart keeps the process ID and the arguments, and every thread of the new image has the slack, the monitor's too.
func TestRestart(t *testing.T) {
	t.Parallel()
	for name, env := range map[string]string{"default": "", "given": "TIMERSLACK_TEST_THREAD=1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "one", "two words")
			cmd.Env = append(os.Environ(), "TIMERSLACK_TEST_AS_PROGRAM=1", env)
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			if want := fmt.Sprint(cmd.Process.Pid, " one two words <nil>"); lines[0] != want {
				t.Errorf("the program says %q, want %q", lines[0], want)
			}
			if len(lines) < 3 {
				t.Errorf("the program has %d threads, want two or more", len(lines)-1)
			}
			if name == "given" {
				return // only one thread got it
			}
			told := 0
			want := fmt.Sprint(timerslack.Slack.Nanoseconds(), " <nil>")
			for _, line := range lines[1:] {
				if strings.HasSuffix(line, "operation not permitted") {
					continue // only root may ask for another thread's
				}
				if told++; line != want {
					t.Errorf("a thread has %q, want %q", line, want)
				}
			}
			if told == 0 {
				t.Error("no thread could be asked")
			}
		})
	}
}
