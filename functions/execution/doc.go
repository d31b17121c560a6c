// Package execution is the wire contract: what a caller sends to run code, and what it gets back.
//
// A [Request] travels as JSON over HTTPS, MCP, a webhook or a direct Lambda invocation, and always leads to the same
// [Result]. Between gateway and function it travels in an [Invocation], which adds the caller and the ID. A function
// that streams answers with a sequence of [Event] lines.
//
// The package holds types and their JSON only: no policy, no sandbox, no transport. It imports nothing but leaf
// packages, and every package may import it. Field names are fixed, old documents keep decoding, and string codes are
// append-only.
//
// Start with [Request] and [Result].
package execution
