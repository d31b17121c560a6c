// Package mcp offers executions to agents over the Model Context Protocol, with the official SDK. The contract is the
// same as over HTTP: execute_code takes an execution request and returns its result, analyze_code returns the policy's
// verdict on code, get_execution reads an execution back, list_functions and invoke_function use saved functions,
// list_paused and resume_execution decide about executions that wait, and create_session, list_sessions and
// delete_session manage the sessions that execute_code may run in. A client that can ask its user is asked for
// approvals, instead.
//
// A failure that an agent can correct is a tool result with isError: code that threw, was blocked or timed out (with
// the whole execution result), and a request that was refused (with the fields of the problem document). Protocol
// errors are for failures that no agent can correct. While the guest prints, a caller that asked for progress
// receives each line. A slow reader slows its own guest. Cancelling a call, or hanging up, stops the guest.
//
// Over HTTP ([Handlers], [Server.ServeHTTP]), the gateway has authenticated the caller of each request, and a session
// belongs to the caller who began it. Over stdio ([Server.Serve]), there is one caller: the user who started the
// process. [Agents] carries out the calls, [RemoteTools] offers the tools of other MCP servers to executions. Their
// resources and prompts are offered to clients, too; reading one is an execution. [Proxy] is a stdio server whose tools
// are those of another gateway.
//
// Packages gateway, wiring and cli import it. Start with [Server].
package mcp
