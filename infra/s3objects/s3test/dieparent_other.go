//go:build !linux

package s3test

import "syscall"

// dieWithParent returns nil: this system cannot do it.
func dieWithParent() *syscall.SysProcAttr { return nil }
