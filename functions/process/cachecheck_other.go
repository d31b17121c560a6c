//go:build !unix

package process

// CheckCache checks nothing where files have no owner and mode.
func CheckCache(string, string) error { return nil }
