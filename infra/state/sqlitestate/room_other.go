//go:build !linux && !darwin

package sqlitestate

// noRoom and readOnly cannot tell here.
func noRoom(string) bool { return false }

func readOnly(string) bool { return false }
