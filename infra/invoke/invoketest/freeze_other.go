//go:build !unix

package invoketest

// freeze blocks forever, which comes closest to a frozen process on this system.
func freeze() { select {} }
