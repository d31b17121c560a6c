package s3test

import "syscall"

// dieWithParent keeps the server from outliving a killed test.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
