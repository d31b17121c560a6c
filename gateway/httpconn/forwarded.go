package gateway

import (
	"net"
	"net/netip"
	"strings"

	"github.com/valyala/fasthttp"
)

// believe gives a request that came through one of Config.Proxies the address of its caller: the last one in
// X-Forwarded-For, which is the address that the proxy saw. What stands before it is the caller's own claim, and so is
// the whole field when anybody else sends it. Everything behind this sees one address and no field to choose from.
func (s *Server) believe(ctx *fasthttp.RequestCtx) {
	ctx.SetRemoteAddr(nil) // what the request before it on this connection left
	peer, ok := netip.AddrFromSlice(ctx.RemoteIP())
	if !ok || !within(s.cfg.Proxies, peer.Unmap()) {
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
