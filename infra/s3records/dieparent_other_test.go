//go:build !linux

package s3records_test

import "syscall"

// dieWithParent has no means here.
func dieWithParent() *syscall.SysProcAttr { return nil }
