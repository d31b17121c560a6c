// Package webhook holds the rules of every HTTP entry to code: which headers of a request code sees, and the form of
// an [Event]. The gateway's webhooks and the HTTP events of a function on Lambda follow them.
//
// An allowlist passes headers. Credentials never pass, whatever a provider or a function names: see [Credential].
//
// The packages of functions and gateway import it. Start with [Visible].
package webhook
