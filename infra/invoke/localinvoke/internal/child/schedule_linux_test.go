package child

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/infra/timerslack"
)

// A child inherits the timer slack and the niceness of the thread that starts it.
func TestSchedule(t *testing.T) {
	own := nice() // of this goroutine's thread; all threads have it
	s := NewSpawner()
	cmd := exec.Command("sleep", "60")
	if err := s.Do(cmd.Start); err != nil {
		t.Fatal(err)
	}
	child := strconv.Itoa(cmd.Process.Pid)
	got := niceOf(t, child)
	slackText, err := os.ReadFile("/proc/" + child + "/timerslack_ns")
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	s.Close()
	if got != min(own+niceness, 19) {
		t.Errorf("the niceness of a child is %d, of this process %d", got, own)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.Skip("the kernel does not say what the timer slack is")
	case err != nil:
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(slackText)); got != strconv.FormatInt(timerslack.Slack.Nanoseconds(), 10) {
		t.Errorf("a child has %s ns of slack", got)
	}
}

// niceOf returns the niceness of a process, field 19 of proc(5).
func niceOf(t *testing.T, pid string) int {
	t.Helper()
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	_, fields, _ := strings.Cut(string(stat), ") ")
	n, err := strconv.Atoi(strings.Fields(fields)[16])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
