package webhook

import (
	"net/http"
	"slices"
	"strings"
)

// common returns the headers that describe the body and its sender. Code sees them from every provider.
func common() []string { return []string{"content-type", "user-agent"} }

// StandardHeaders returns the headers of Standard Webhooks.
func StandardHeaders() []string {
	return []string{"webhook-id", "webhook-signature", "webhook-timestamp"}
}

// GitHubHeaders returns the headers of GitHub. A pattern that ends with * matches every name with that prefix.
func GitHubHeaders() []string {
	return []string{"x-github-*", "x-hub-signature", "x-hub-signature-256"}
}

// StripeHeaders returns the headers of Stripe.
func StripeHeaders() []string { return []string{"stripe-signature"} }

// SlackHeaders returns the headers of Slack.
func SlackHeaders() []string { return []string{"x-slack-*"} }

// ShopifyHeaders returns the headers of Shopify.
func ShopifyHeaders() []string { return []string{"x-shopify-*"} }

// AnyHeaders returns the headers of every known provider, for entries that do not know the sender.
func AnyHeaders() []string {
	return slices.Concat(StandardHeaders(), GitHubHeaders(), StripeHeaders(), SlackHeaders(), ShopifyHeaders(), []string{
		"x-gitlab-event", "x-gitlab-event-uuid", "x-gitlab-instance", "x-gitlab-webhook-uuid", // GitLab
		"x-attempt-number", "x-event-key", "x-event-time", "x-hook-uuid", "x-request-uuid", // Bitbucket
		"x-forgejo-*", "x-gitea-*", "x-gogs-*",
		"svix-id", "svix-signature", "svix-timestamp",
		"linear-delivery", "linear-event", "linear-signature",
		"sentry-hook-resource", "sentry-hook-signature", "sentry-hook-timestamp",
		"x-twilio-signature",
		"x-amz-sns-message-id", "x-amz-sns-message-type", "x-amz-sns-topic-arn", // Amazon SNS over HTTP
		"ce-id", "ce-source", "ce-specversion", "ce-subject", "ce-time", "ce-type", // CloudEvents, binary mode
		"x-delivery-id", "x-event", "x-event-id", "x-event-type", "x-signature", "x-signature-256",
		"x-hmac-sha256", "x-hmac-signature",
		"x-webhook-delivery", "x-webhook-event", "x-webhook-id", "x-webhook-signature", "x-webhook-timestamp", // common usage
	})
}

// Sees returns all headers that an entry passes: the common ones, the provider's, and those asked for by name.
func Sees(provider, asked []string) []string {
	all := slices.Concat(common(), provider, asked)
	for i := range all {
		all[i] = strings.ToLower(all[i])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Visible returns the headers that sees passes and that carry no credential. Names are in lower case; several values
// of a name are joined by commas.
func Visible(header http.Header, sees []string) map[string]string {
	out := map[string]string{}
	for name, values := range header {
		if lower := strings.ToLower(name); passes(lower, sees) {
			joined := strings.ToValidUTF8(strings.Join(values, ", "), "\uFFFD")
			if before, twice := out[lower]; twice { // names that differ in case alone
				joined = before + ", " + joined
			}
			out[lower] = joined
		}
	}
	return out
}

// passes reports whether a name in lower case passes.
func passes(name string, sees []string) bool {
	if Credential(name) {
		return false
	}
	return slices.ContainsFunc(sees, func(pattern string) bool {
		prefix, open := strings.CutSuffix(pattern, "*")
		return pattern == name || open && strings.HasPrefix(name, prefix)
	})
}

// Credential reports whether a header's name says that it carries a credential, an identity that a proxy vouches for,
// or a cookie. It errs on the safe side: no code receives such a header.
func Credential(name string) bool {
	// Some servers treat "_" and "." as "-".
	name = strings.Map(func(c rune) rune {
		if c == '_' || c == '.' {
			return '-'
		}
		return c
	}, strings.ToLower(name))
	for _, part := range []string{
		"apikey", "assertion", "authenti", "authoriz", "bearer", "client-cert", "client-principal", "client-verify",
		"clientcert", "cookie", "credential", "jwt", "oidc", "passcode", "passphrase", "passw", "pomerium-claim",
		"remote-email", "remote-groups", "remote-name", "remote-user", "secret", "sessid", "session", "ssl-cert",
		"ssl-client", "tailscale-user", "token", "vouch-", "webauth",
	} {
		if strings.Contains(name, part) {
			return true
		}
	}
	for segment := range strings.SplitSeq(name, "-") {
		switch segment {
		case "auth", "authn", "authz", "csrf", "dpop", "iap", "oauth", "oauth2", "otp", "pass", "pin", "pwd", "saml", "sess",
			"sid", "sso", "xsrf":
			return true
		}
	}
	switch name {
	case "x-appengine-user-email", "x-forwarded-email", "x-forwarded-groups", "x-forwarded-preferred-username",
		"x-forwarded-user":
		return true // identities
	case "sec-websocket-protocol":
		return true // some clients that cannot set a header send a bearer token in it
	case "idempotency-key", "x-event-key":
		return false
	}
	return name == "key" || strings.HasSuffix(name, "-key")
}
