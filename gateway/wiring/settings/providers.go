package settings

import (
	"strings"

	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/policy/address"
)

// providers reads the identity providers that publish their keys at a URL. JWT_JWKS_URL names the URL; without it,
// and without JWT_SECRET and JWT_PUBLIC_KEY, the OpenID configuration of JWT_ISSUER names it. Both may be
// comma-separated lists in the same order.
func (r *reader) providers(auth *authn.Config) []authn.ProviderConfig {
	issuers, urls := r.list("JWT_ISSUER"), r.list("JWT_JWKS_URL")
	if len(auth.Keys) > 0 && len(issuers) > 1 {
		r.fail("JWT_ISSUER", "several issuers need keys at a URL; JWT_SECRET and JWT_PUBLIC_KEY serve one")
		return nil
	}
	switch {
	case len(urls) == 0 && len(auth.Keys) > 0:
		return nil
	case len(urls) == 0 && len(issuers) == 0:
		if auth.Audience != "" {
			r.fail("JWT_AUDIENCE", "needs a key: set JWT_SECRET, JWT_PUBLIC_KEY or JWT_JWKS_URL")
		}
		return nil
	case len(urls) > 1 && len(urls) != len(issuers):
		r.fail("JWT_JWKS_URL", "lists %d URLs for %d issuers; list one for each, in the order of JWT_ISSUER", len(urls),
			len(issuers))
		return nil
	case len(urls) == 1 && len(issuers) > 1:
		r.fail("JWT_JWKS_URL", "is one URL for %d issuers; list one for each, or none to ask the issuers",
			len(issuers))
		return nil
	}
	var out []authn.ProviderConfig
	for n := range max(len(issuers), len(urls)) {
		var p authn.ProviderConfig
		name, from := "JWT_ISSUER", ""
		if n < len(issuers) {
			p.Issuer, from = issuers[n], issuers[n]
		}
		if n < len(urls) {
			p.KeysURL, name, from = urls[n], "JWT_JWKS_URL", urls[n]
		}
		if err := authn.CheckProviderURL(from); err != nil {
			r.fail(name, "%v", err)
			continue
		}
		out = append(out, p)
	}
	return out
}

func (r *reader) list(name string) []string {
	var out []string
	for item := range strings.SplitSeq(r.getenv(name), ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}

// ProxyHosts returns the hosts of the proxies that the environment names (https_proxy and the like). They may be
// private.
func ProxyHosts(getenv func(string) string) address.Hosts {
	var urls []string
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
		text := getenv(name)
		if text != "" && !strings.Contains(text, "://") {
			text = "http://" + text // as net/http reads it
		}
		urls = append(urls, text)
	}
	return address.Named(urls...)
}
