//go:build !linux

package pgtest

import (
	"os"
	"syscall"
)

var quit os.Signal = os.Kill

func unprivileged() *syscall.SysProcAttr { return nil }

func serving() *syscall.SysProcAttr { return nil }

func giveAway(string) error { return nil }
