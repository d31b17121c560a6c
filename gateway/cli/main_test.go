package cli

import (
	"os"
	"strings"
	"testing"
)

// TestMain serves as the worker process that a command under test starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "scanner" || os.Args[1] == "function") {
		os.Exit(Run(os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// env returns an environment of NAME=value pairs.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for _, p := range pairs {
			if n, v, _ := strings.Cut(p, "="); n == name {
				return v
			}
		}
		return ""
	}
}
