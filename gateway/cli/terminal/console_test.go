package terminal_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/airlock-run/airlock/gateway/cli/terminal"
)

// TestPipedIsASocket checks that a socket counts as a pipe: Node.js gives its child processes one.
func TestPipedIsASocket(t *testing.T) {
	t.Parallel()
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range ends {
		f := os.NewFile(uintptr(fd), "end")
		defer f.Close()
		if !terminal.Piped(f) {
			t.Errorf("descriptor %d of a socket is not piped", fd)
		}
	}
}
