package main

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/airlock-run/airlock/functions/webhook"
	"github.com/airlock-run/airlock/gateway"
)

// hookSettings are the settings of webhooks.
type hookSettings struct {
	host      string // the host that they alone are served on; "" where there is none
	address   string // or the address that they alone are served on
	perMinute int
	answers   []string
}

// hooks reads the settings of webhooks. A host with a port is an address to listen on, a host without one a name.
func (r *reader) hooks(host string, open bool) hookSettings {
	h := hookSettings{perMinute: r.number("HOOKS_PER_MINUTE", 300, 1, 1_000_000_000)}
	for name := range strings.SplitSeq(r.getenv("HOOKS_ANSWER_HEADERS"), ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if err := webhook.CheckAnswerHeaders([]string{name}); err != nil {
			r.fail("HOOKS_ANSWER_HEADERS", "%v", err)
			continue
		}
		h.answers = append(h.answers, name)
	}
	text := strings.TrimSpace(r.getenv("HOOKS_HOST"))
	if text == "" {
		return h
	}
	at, port, err := net.SplitHostPort(text)
	switch {
	case strings.ContainsAny(text, "/@ ,?#"), err == nil && port == "":
		r.fail("HOOKS_HOST", "must be the name of a host, such as hooks.example.com, or an address to listen on, "+
			"such as 127.0.0.1:3001; got %q", text)
	case err != nil:
		h.host = text
	default:
		if at == "" {
			at = host
		}
		if open && !loopback(at) {
			r.fail("HOOKS_HOST", "%s can be reached by others, and no credential is set: "+
				"set API_KEY, or listen on 127.0.0.1", at)
		}
		h.address = net.JoinHostPort(at, port)
	}
	if r.getenv("AWS_LAMBDA_RUNTIME_API") != "" && h.address != "" {
		r.fail("HOOKS_HOST", "must be the name of a host on Lambda, where nothing else can be listened on; got %q", text)
	}
	return h
}

// serveHooks listens on the address of webhooks, if they have one, and serves them there. The settings then have
// the port that was picked. wait returns what serving came to.
func serveHooks(server *gateway.Server, set *settings) (close func(), wait <-chan error, err error) {
	if set.hooks.address == "" {
		return func() {}, nil, nil
	}
	listener, err := net.Listen("tcp", set.hooks.address)
	if err != nil {
		return nil, nil, fmt.Errorf("HOOKS_HOST: cannot listen on %s: %w", set.hooks.address, errors.Unwrap(err))
	}
	set.hooks.address = listener.Addr().String()
	ended := make(chan error, 1)
	if err := server.KeepHooksApart(); err != nil {
		return nil, nil, errors.Join(err, listener.Close())
	}
	go func() { ended <- server.ServeHooks(listener) }()
	return func() { _ = listener.Close() }, ended, nil // closed by the server already, or never used
}
