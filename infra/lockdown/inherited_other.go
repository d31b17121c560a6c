//go:build !unix

package lockdown

// KeepDescriptors does nothing: programs inherit nothing on this system unless they are told to.
func KeepDescriptors() {}
