package settings

import (
	"net"
	"strings"

	"github.com/airlock-run/airlock/functions/webhook"
)

// Hooks holds the settings of webhooks.
type Hooks struct {
	Host          string // host name that serves webhooks only; "" if there is none
	Address       string // or the address that serves webhooks only
	PerMinute     int
	AnswerHeaders []string
}

// hooks reads the settings of webhooks. HOOKS_HOST with a port is an address to listen on, without one a host name.
func (r *reader) hooks(host string, open bool) Hooks {
	h := Hooks{PerMinute: r.number("HOOKS_PER_MINUTE", 300, 1, 1_000_000_000)}
	for name := range strings.SplitSeq(r.getenv("HOOKS_ANSWER_HEADERS"), ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if err := webhook.CheckAnswerHeaders([]string{name}); err != nil {
			r.fail("HOOKS_ANSWER_HEADERS", "%v", err)
			continue
		}
		h.AnswerHeaders = append(h.AnswerHeaders, name)
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
		h.Host = text
	default:
		if at == "" {
			at = host
		}
		if open && !Loopback(at) {
			r.fail("HOOKS_HOST", "%s can be reached by others, and no credential is set: "+
				"set API_KEY, or listen on 127.0.0.1", at)
		}
		h.Address = net.JoinHostPort(at, port)
	}
	if r.getenv("AWS_LAMBDA_RUNTIME_API") != "" && h.Address != "" {
		r.fail("HOOKS_HOST", "must be the name of a host on Lambda, where the gateway cannot listen elsewhere; got %q", text)
	}
	return h
}
