package hooks

import (
	"strconv"
	"strings"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/webhook"
	"github.com/airlock-run/airlock/gateway/api"
)

// Schemes returns every scheme.
func Schemes() []string {
	return []string{None, Standard, GitHub, Stripe, Slack, Shopify, HMAC, SharedHeader}
}

// NeedsSecret reports whether a scheme needs a secret.
func NeedsSecret(scheme string) bool { return scheme != None }

// Check refuses a hook that could not verify anything, or whose secret could be guessed. It accepts a hook without a
// secret, because a hook that is saved again may keep the secret it has.
func Check(h execution.FunctionHook) error {
	known := false
	for _, s := range Schemes() {
		known = known || s == h.Scheme
	}
	switch {
	case !known:
		return api.Invalid("hook.scheme", "must be one of "+strings.Join(Schemes(), ", "))
	case h.Scheme == None && h.Secret != "":
		return api.Invalid("hook.secret", "is not used with the scheme none; leave it out, or choose a scheme that verifies")
	case h.Header != "" && h.Scheme != HMAC && h.Scheme != SharedHeader:
		return api.Invalid("hook.header", "can be chosen only with the schemes hmac-sha256 and shared-header")
	case h.Header != "" && !webhook.IsToken(h.Header):
		return api.Invalid("hook.header", "is not the name of a header")
	case unusable(h.Header):
		return api.Invalid("hook.header", "names a header that senders cannot set; choose another")
	case h.ToleranceSeconds < 0 || h.ToleranceSeconds > 24*60*60:
		return api.Invalid("hook.toleranceSeconds", "must be a whole number from 1 to 86400")
	}
	if err := checkHeaders(h); err != nil {
		return err
	}
	if h.Secret != "" {
		if _, err := keyOf(h); err != nil {
			return api.Invalid("hook.secret", err.Error())
		}
	}
	return nil
}

// unusable reports whether a header never reaches a hook, or has a meaning for HTTP itself.
func unusable(name string) bool {
	switch strings.ToLower(name) {
	case "cookie", "cookie2", "set-cookie", "set-cookie2", "host", "connection", "content-length", "content-type",
		"transfer-encoding", "te", "trailer", "upgrade", "expect", "proxy-authorization":
		return true
	}
	return false
}

// maxHeaders bounds how many headers a hook may ask for.
const maxHeaders = 32

// checkHeaders refuses to show code a credential, or the header that carries the hook's secret.
func checkHeaders(h execution.FunctionHook) error {
	if len(h.Headers) > maxHeaders {
		return api.Invalid("hook.headers", "has more than 32 names")
	}
	for i, name := range h.Headers {
		field := "hook.headers[" + strconv.Itoa(i) + "]"
		switch {
		case !webhook.IsToken(name) || strings.Contains(name, "*"):
			return api.Invalid(field, "is not the name of a header")
		case webhook.Credential(name):
			return api.Invalid(field, "names a header that carries credentials, which code never sees; leave it out")
		case !keeps(h, name):
			return api.Invalid(field, "names the header that holds the hook's secret, which code never sees; leave it out")
		}
	}
	return nil
}

// Headers returns where a scheme looks for the signature or the secret: the header that the hook names, or the usual
// ones.
func Headers(h execution.FunctionHook) []string {
	switch {
	case h.Header != "":
		return []string{h.Header}
	case h.Scheme == HMAC:
		return []string{
			"X-Signature-256", "X-Signature", "X-Hub-Signature-256", "X-Webhook-Signature", "X-Hmac-Sha256", "X-Hmac-Signature",
		}
	case h.Scheme == SharedHeader:
		return []string{
			"X-Webhook-Secret", "X-Hook-Secret", "X-Shared-Secret", "X-Webhook-Token", "X-Auth-Token", "X-Gitlab-Token",
			"X-Secret", "X-Api-Key", "Authorization",
		}
	}
	return nil
}
