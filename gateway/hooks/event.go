package hooks

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/webhook"
)

// NewEvent returns the description of a delivery for code. See [Sees] for the headers in it.
func NewEvent(
	h execution.FunctionHook, method, path string, query url.Values, header http.Header, body []byte,
) webhook.Event {
	values := make(map[string]string, len(query))
	for name, all := range query {
		values[name] = strings.Join(all, ",")
	}
	e := webhook.NewEvent(method, path, values, header, Sees(h), body)
	for name, value := range e.Headers {
		if !keeps(h, name) || h.Scheme == SharedHeader && h.Secret != "" && strings.Contains(value, h.Secret) {
			delete(e.Headers, name)
		}
	}
	return e
}

// Kept returns a stored event as the hook would describe it today. An event that an earlier release stored may
// contain credentials.
func Kept(h execution.FunctionHook, event []byte) json.RawMessage {
	sees := webhook.Keeps(Sees(h))
	return webhook.Without(event, func(name string) bool { return sees(name) && keeps(h, name) })
}

// Sees returns the headers that code sees, in lower case: the content type, the user agent, those of the scheme's
// provider, the signature, and those that the hook asks for. A name that ends with * stands for all that begin with
// it.
func Sees(h execution.FunctionHook) []string {
	var provider []string
	switch h.Scheme {
	case Standard:
		provider = webhook.StandardHeaders()
	case GitHub:
		provider = webhook.GitHubHeaders()
	case Stripe:
		provider = webhook.StripeHeaders()
	case Slack:
		provider = webhook.SlackHeaders()
	case Shopify:
		provider = webhook.ShopifyHeaders()
	case HMAC:
		provider = append(webhook.AnyHeaders(), Headers(h)...)
	default:
		provider = webhook.AnyHeaders()
	}
	return webhook.Sees(provider, h.Headers)
}

// keeps reports whether a header may be shown. The header that carries the hook's secret may not.
func keeps(h execution.FunctionHook, name string) bool {
	if h.Scheme != SharedHeader {
		return true
	}
	for _, secret := range Headers(h) {
		if strings.EqualFold(secret, name) {
			return false
		}
	}
	return true
}
