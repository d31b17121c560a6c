package lockdown

import (
	"errors"
	"fmt"
	"os"

	seccomp "github.com/elastic/go-seccomp-bpf"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// Enforce builds the walls around all threads of the process. They cannot be removed. It is called once. It fails if a
// wall that the kernel supports cannot be built or a folder of cfg does not exist; the process must not go on then.
// Walls.Missing lists the walls that the kernel does not support.
func Enforce(cfg Config) (Walls, error) {
	w := Walls{Standing: []Wall{}, Missing: []Wall{}}
	if cfg.Sealed && (len(cfg.Read)+len(cfg.Write)+len(cfg.Ports) > 0 || cfg.Network) {
		return w, errors.New("a sealed process has no folders, ports or network")
	}
	abi := landlockABI()
	if err := restrict(cfg, abi); err != nil {
		return w, fmt.Errorf("landlock: %w", err)
	}
	w.add(Files, abi >= 1)
	if !cfg.Network {
		w.add(Ports, abi >= 4)
	}
	w.add(Signals, abi >= scopesABI)
	if err := noDumps(); err != nil {
		return w, err
	}
	w.add(NoDumps, true)
	filtered := seccomp.Supported()
	if filtered {
		if err := filter(cfg); err != nil {
			return w, fmt.Errorf("seccomp: %w", err)
		}
	}
	w.add(Syscalls, filtered)
	if cfg.Sealed {
		w.add(NoFiles, filtered)
		w.add(NoSockets, filtered)
	}
	// Both kinds of wall set it on every thread; without either it would apply to one thread only.
	w.add(NoNewPrivs, filtered || abi >= 1)
	return w, nil
}

// EndFirst marks a child process as the first that the kernel ends when the machine or container has no memory left.
// It is called right after the child has started; the child's own children inherit it. Where /proc cannot be written,
// the kernel ends the largest process, as it does by default.
func EndFirst(id int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", id), []byte("1000"), 0)
}

// landlockABI returns the kernel's version of Landlock; 0 means none.
func landlockABI() int {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0 // the kernel does not know the call, or was started without Landlock
	}
	// As in go-landlock: scopes with the bug of erratum 2 are not used.
	errata, err := ll.LandlockGetErrata()
	if abi >= scopesABI && (err != nil || errata&2 == 0) {
		return scopesABI - 1
	}
	return abi
}

// noDumps prevents the memory of this process from being written to disk or read by processes of the same user.
func noDumps() error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid dumps: %w", err)
	}
	return nil
}
