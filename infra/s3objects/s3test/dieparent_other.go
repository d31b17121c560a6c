//go:build !linux

package s3test

import "syscall"

// dieWithParent has no means here.
func dieWithParent() *syscall.SysProcAttr { return nil }
