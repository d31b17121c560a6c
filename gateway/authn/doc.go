// Package authn decides who is calling and what they may do.
//
// A caller is recognized by the deployment's API key (all scopes), by a JSON Web Token that is signed under a
// configured key or by an identity provider whose keys are fetched from a URL (the scopes it carries), or, if no
// credential is configured, as the one local user of a loopback address.
//
// Tokens are checked as RFC 8725 advises: each key has one algorithm; "none" and every other algorithm are refused
// before a key is used; exp is required; iat and nbf may not lie ahead; iss and aud are compared if configured; and
// what libraries accept is refused here: crit, b64, duplicate members, a foreign typ.
//
// Claims in use: iss and sub (who; both are optional), tenant (whose data; without it "default", which no token may
// name), and the scopes in scope (one string, separated by spaces) or scp (an array of strings). A token without
// scopes may do nothing.
//
// The subject of an [Identity] begins with the kind of its credential, so that no claim of a token makes it the
// operator, a webhook or a user of another issuer.
//
// Any package of the gateway above it may import it. Start with [Authenticator].
package authn
