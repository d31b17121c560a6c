package gateway

import (
	"bytes"
	"errors"
	"net"
	"strings"

	"github.com/valyala/fasthttp"
)

// KeepHooksApart has webhooks served by ServeHooks alone. It is called before anything is served.
func (s *Server) KeepHooksApart() error {
	if s.cfg.HooksHost != "" {
		return errors.New("gateway: webhooks have a host of their own; they cannot have a listener too")
	}
	s.hooksApart.Store(true)
	return nil
}

// ServeHooks answers webhooks, and nothing else, on l until Shutdown; it then returns nil. A host of their own
// keeps the logins of browsers away from webhooks; a port of their own keeps them apart from the API in a
// firewall.
func (s *Server) ServeHooks(l net.Listener) error {
	if err := errors.Join(s.reachable(l), s.KeepHooksApart()); err != nil {
		return err
	}
	s.app.Handler() // builds the table of routes
	return s.app.Server().Serve(doormen{l, s.places.connections, s.cfg.Proxies, true})
}

// misplaced reports whether a request is for a webhook where none are served, or for anything else where only they are.
func (s *Server) misplaced(ctx *fasthttp.RequestCtx) bool {
	var own bool
	switch {
	case s.cfg.HooksHost != "":
		own = sameHost(string(ctx.Request.Header.Host()), s.cfg.HooksHost)
	case s.hooksApart.Load():
		conn, ok := ctx.Conn().(*lingerer)
		own = ok && conn.hooks
	default:
		return false
	}
	return own != hooksRequest(ctx)
}

// hooksRequest reports whether a request is below the path of webhooks, as routes are found and as paths are cleaned.
func hooksRequest(ctx *fasthttp.RequestCtx) bool {
	below := func(path []byte) bool { return bytes.HasPrefix(path, []byte(hooksPath+"/")) }
	return below(ctx.URI().PathOriginal()) && below(ctx.Path())
}

// sameHost compares a Host header with a name, without its port.
func sameHost(hostport, name string) bool {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		hostport = host
	}
	trim := func(s string) string { return strings.TrimSuffix(strings.Trim(s, "[]"), ".") }
	return strings.EqualFold(trim(hostport), trim(name))
}

// validHost takes a DNS name or an address, without a port.
func validHost(host string) bool {
	if net.ParseIP(strings.Trim(host, "[]")) != nil {
		return true
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(host, "."), ".") {
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, func(c rune) bool {
			return !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '-' || c == '_')
		}) {
			return false
		}
	}
	return len(host) <= 253
}
