//go:build unix && !linux

package mcptools

import "syscall"

// ownGroup returns a process group of its own.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
