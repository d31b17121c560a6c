package main

import (
	"strings"
	"testing"

	"github.com/airlock-run/airlock/gateway/cli"
	"github.com/airlock-run/airlock/gateway/cli/exit"
)

// The tests of this package run the program in this process, or start the test binary as the program.
var run = cli.Run

const (
	exitGuest    = exit.Guest
	exitUsage    = exit.Usage
	exitLimit    = exit.Limit
	exitPlatform = exit.Platform
	exitSignal   = exit.Signal
)

const secret = "a secret of the tests with 32 bytes or more"

// env returns a getenv for NAME=value pairs.
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

// contains checks that a text contains each of the parts.
func contains(t testing.TB, name, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s does not contain %q:\n%s", name, part, text)
		}
	}
}
