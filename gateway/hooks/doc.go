// Package hooks receives webhooks. It verifies that a delivery comes from its sender (verify.go), describes the event
// to code (event.go), runs the function once per delivery (handlers.go, delivery.go), and turns what the code returns
// into the answer (answer.go). Owners of functions can try events without a sender (try.go).
//
// Each scheme compares in constant time. The schemes that sign a timestamp refuse one that is too old or too far
// ahead. Every scheme that signs has a key by which a second delivery of the same message is recognized (see
// [Proof]); the [Store] keeps the keys.
//
// Packages gateway and registry import it. Start with [Handlers.Deliver].
package hooks
