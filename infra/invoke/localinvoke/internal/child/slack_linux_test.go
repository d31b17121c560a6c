package child

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// A child inherits the timer slack of the thread that starts it.
func TestSlack(t *testing.T) {
	if _, err := os.Stat("/proc/self/timerslack_ns"); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the kernel does not say what the timer slack is")
	}
	s := NewSpawner()
	defer s.Close()
	cmd := exec.Command("cat", "/proc/self/timerslack_ns")
	var out strings.Builder
	cmd.Stdout = &out
	if err := s.Do(cmd.Start); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(out.String()); got != strconv.FormatInt(slack.Nanoseconds(), 10) {
		t.Errorf("a child has %s ns of slack", got)
	}
}
