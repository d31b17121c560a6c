package httpconn

import (
	"net"
	"net/netip"
	"strings"

	"github.com/valyala/fasthttp"
)

// ApplyForwardedFor replaces the peer address of a request that a trusted proxy forwarded by the address of its
// caller: the last address in X-Forwarded-For, which is the one that the proxy saw. Addresses before it are the
// caller's own claim, and so is the whole header when anybody else sends it. Handlers see one address and no header
// to choose from.
func ApplyForwardedFor(ctx *fasthttp.RequestCtx, proxies []netip.Prefix) {
	ctx.SetRemoteAddr(nil) // reset the address of the previous request on this connection
	peer, ok := netip.AddrFromSlice(ctx.RemoteIP())
	if !ok || !within(proxies, peer.Unmap()) {
		return
	}
	fields := ctx.Request.Header.PeekAll(fasthttp.HeaderXForwardedFor)
	if len(fields) == 0 {
		return
	}
	hops := strings.Split(string(fields[len(fields)-1]), ",")
	caller, err := netip.ParseAddr(strings.TrimSpace(hops[len(hops)-1]))
	if err != nil {
		return
	}
	ctx.SetRemoteAddr(net.TCPAddrFromAddrPort(netip.AddrPortFrom(caller.Unmap().WithZone(""), 0)))
}

func within(networks []netip.Prefix, a netip.Addr) bool {
	for _, n := range networks {
		if n.Contains(a) {
			return true
		}
	}
	return false
}

// Network returns what one subscriber usually holds: an IPv4 address, or the /64 of an IPv6 address.
func Network(ip string) string {
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return "unknown"
	}
	a = a.Unmap()
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}
