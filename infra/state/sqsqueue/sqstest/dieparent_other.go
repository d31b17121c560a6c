//go:build !linux

package sqstest

import "syscall"

// dieWithParent returns nil: this system cannot do it.
func dieWithParent() *syscall.SysProcAttr { return nil }
