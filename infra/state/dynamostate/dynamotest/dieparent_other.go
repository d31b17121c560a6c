//go:build !linux

package dynamotest

import "syscall"

// dieWithParent returns nil: this system cannot do it.
func dieWithParent() *syscall.SysProcAttr { return nil }
