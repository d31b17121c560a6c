//go:build !linux

package timerslack

// SetThread does nothing on this system.
func SetThread() error { return nil }

// Restart does nothing on this system.
func Restart() error { return nil }
