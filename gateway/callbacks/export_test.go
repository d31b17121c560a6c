package callbacks

import (
	"net"
	"time"

	"github.com/airlock-run/airlock/policy/address"
)

// NewSenderWith returns a sender that looks names up by resolver.
func NewSenderWith(opened []string, resolver *net.Resolver, now func() time.Time) *Sender {
	return newSender(address.Dialer{Opened: opened, Timeout: timeout, Resolver: resolver}, now)
}
