//go:build !linux && !darwin

package sqlitestate

// noRoom reports false: it is unknown on this system.
func noRoom(string) bool { return false }

func readOnly(string) bool { return false }
