// Package execution is the contract: what a caller sends to have code run, and what comes back.
//
// A [Request] travels as JSON over HTTPS, MCP, a webhook or a direct Lambda invocation; the same request gives the
// same [Result] whichever way it came. Between gateway and function it rides in an [Invocation], which adds who is
// asking and under which id. A function that streams answers with a sequence of [Event] lines.
//
// The package holds types and their JSON and nothing else: no policy, no sandbox, no transport. Field names are fixed;
// old documents keep decoding. Every string code is append-only.
package execution
