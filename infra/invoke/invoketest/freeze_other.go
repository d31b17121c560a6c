//go:build !unix

package invoketest

// freeze blocks forever, which is the closest that this system has to a frozen process.
func freeze() { select {} }
