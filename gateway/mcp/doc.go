// Package mcp offers executions to agents over the Model Context Protocol, with the official SDK: the same contract as
// HTTP, by other words. execute_code takes an execution request and gives its result, analyze_code says what the policy
// thinks of code, get_execution reads one back, and list_functions and invoke_function use what was saved before.
//
// Everything that an agent can mend is a tool result with isError: code that threw, was blocked or timed out (with the
// whole execution result), and a request that was refused (with the fields of the problem document). Protocol errors
// are left for what no agent can mend. While the guest prints, a caller that asked for progress is told each line, and
// waits are passed on: a slow reader slows its own guest. Cancelling a call, or hanging up, stops the guest.
//
// Over HTTP ([Server.ServeHTTP]) the gateway has recognised the caller of each request before it gets here; a session
// belongs to the caller who began it. Over stdio ([Server.Serve]) there is one caller: whoever started the process.
// [Proxy] is a stdio server whose tools are another gateway's.
package mcp
