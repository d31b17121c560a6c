//go:build !linux

package lockdown

// EndFirst does nothing: the system decides which process it ends.
func EndFirst(int) {}

// Enforce does nothing: every wall is missing on this system.
func Enforce(Config) (Walls, error) {
	return Walls{Missing: []Wall{NoNewPrivs, Files, Ports, Signals, Syscalls, NoDumps}}, nil
}
