//go:build !unix

package invoketest

// freeze never returns, which is as near to a frozen process as this system lets us get.
func freeze() { select {} }
