// Package webhook holds the rules that every HTTP door to code shares: which headers of a request code sees, and how an
// [Event] looks. The gateway's webhooks and the events of a function on Lambda both go by them.
//
// Headers pass by an allowlist. Credentials never pass, whatever a provider or a function names: see [Credential].
package webhook
