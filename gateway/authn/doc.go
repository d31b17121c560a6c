// Package authn says who is calling and what they may do.
//
// Three ways to be known: the deployment's API key (all scopes), a JSON Web Token signed under a configured key or by an
// identity provider whose keys are had by URL (the scopes it carries), or, when no credential is configured at all, the one local user of a loopback address.
//
// Tokens are checked as RFC 8725 advises: one algorithm is pinned to each key, "none" and every other algorithm are
// refused before a key is touched, exp is required, iat and nbf may not lie ahead, iss and aud are compared when
// configured, and what libraries let through is refused by hand: crit, b64, duplicate members, foreign typ.
//
// Claims used: iss and sub (who; both may be absent), tenant (whose data; absent means "default", which no token may
// name), and the scopes in scope (one string, parted by spaces) or scp (an array of strings). A token without scopes may do
// nothing.
//
// An [Identity]'s subject begins with the kind of its credential, so that no claim of a token makes it the operator, a
// webhook or another issuer's user.
package authn
