package sqstest

import "syscall"

// dieWithParent returns attributes that end the server with the test.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
