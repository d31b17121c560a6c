//go:build !unix

package localinvoke

import "net"

// pending returns nil: pending errors are unknown on this system.
func pending(net.Conn) error { return nil }
