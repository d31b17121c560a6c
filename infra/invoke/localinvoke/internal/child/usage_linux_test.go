package child

import (
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// A cap is undone as a whole, and a process says if it keeps its cap.
func TestCap(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	u := NewUsage(cmd.Process.Pid)
	defer u.Close()
	limit := func() (l unix.Rlimit) {
		if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_AS, nil, &l); err != nil {
			t.Fatal(err)
		}
		return l
	}
	before := limit()
	if !u.Uncap() {
		t.Error("a process without a cap is not without a cap")
	}
	u.Cap(1 << 30)
	if limit() == before {
		t.Error("the kernel has no cap")
	}
	u.Cap(1 << 40)
	if !u.Uncap() {
		t.Error("the cap was not undone")
	}
	if after := limit(); after != before {
		t.Errorf("the limit is %+v, want %+v", after, before)
	}
	u.Cap(1 << 30)
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed, and the kernel knows it no more
	if u.Uncap() {
		t.Error("the cap of a process that is gone was undone")
	}
}
