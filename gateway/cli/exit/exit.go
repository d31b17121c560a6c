// Package exit maps the errors of the command line to exit codes. Everything below gateway/cli may import it.
package exit

import (
	"errors"

	"github.com/airlock-run/airlock/gateway/wiring/settings"
)

// The exit codes. A program that a signal stops exits with Signal plus the signal's number, as shells expect: 130 for
// Ctrl-C.
const (
	Guest    = 1 // the guest failed or set an exit code; for audit verify: a record is bad
	Usage    = 2 // the command line or a setting is wrong
	Blocked  = 3 // the policy refused
	Limit    = 4 // a limit ended the run
	Platform = 5 // the program or the machine failed
	Signal   = 128
)

// Codes is the help text about the exit codes.
const Codes = `Exit codes:
  0    completed
  1    the guest failed or set an exit code; for audit verify and export a bad record, for replay a difference
  2    usage: the command line or a setting is wrong, and the message says which
  3    the policy blocked it
  4    a limit ended it
  5    the platform failed: the machine, the store or the gateway
  130  stopped by Ctrl-C (143 by SIGTERM); the guest was stopped too
`

// An Error is an error with an exit code.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// With returns err with an exit code.
func With(code int, err error) error { return &Error{code, err} }

// Wiring returns an error of package wiring with its exit code: Usage if a setting is wrong, Platform otherwise. It
// returns nil if err is nil.
func Wiring(err error) error {
	if err == nil {
		return nil
	}
	var wrong *settings.Error
	if errors.As(err, &wrong) {
		return With(Usage, err)
	}
	return With(Platform, err)
}

// Code returns the exit code of err. An error without a code is one of usage.
func Code(err error) int {
	var coded *Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &coded):
		return coded.Code
	}
	return Usage
}
