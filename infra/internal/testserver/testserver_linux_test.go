package testserver_test

import (
	"os/exec"
	"syscall"
	"testing"

	"github.com/airlock-run/airlock/infra/internal/testserver"
)

// The end of a server can be received more than once, so that a server that has ended can be stopped.
func TestEnd(t *testing.T) {
	ended, err := testserver.Start(exec.Command("false"))
	if err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("the first receiver did not learn how the server ended")
	}
	<-ended
}

// Without the tests a server ends by the signal that it names, or else at once.
func TestEndsWithTheTests(t *testing.T) {
	for _, c := range []struct {
		name      string
		as        *syscall.SysProcAttr
		want      syscall.Signal
		separated bool
	}{
		{"default", nil, syscall.SIGKILL, false},
		{"other attributes", &syscall.SysProcAttr{Setpgid: true}, syscall.SIGKILL, true},
		{"a signal", &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT}, syscall.SIGQUIT, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.Command("true")
			cmd.SysProcAttr = c.as
			ended, err := testserver.Start(cmd)
			if err != nil {
				t.Fatal(err)
			}
			<-ended
			if got := cmd.SysProcAttr; got.Pdeathsig != c.want || got.Setpgid != c.separated {
				t.Errorf("%+v", got)
			}
		})
	}
}
