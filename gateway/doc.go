// Package gateway serves the HTTP API. It turns a request into an execution, and the execution's outcome into a
// response.
//
// # The path of an execution
//
//	httpconn     rejects malformed HTTP before any handler runs
//	middleware   request ID, security headers, trace, protection against web pages
//	access       authentication, rate limit, quota
//	admission    decodes the body and asks the policy for a decision
//	queue        waits for a free function, fairly between tenants
//	execute      invokes the function and returns its result
//
// A blocked script is answered without waiting. Every other result carries the ID of the audit record that the
// function wrote. If the function died before it recorded, the gateway writes the record; if nobody can, the result
// is withheld with status 503.
//
// A guest's failure is status 200 with an outcome in the body. Any other status means that the request, the caller or
// the platform is at fault, and the body is a problem document (RFC 9457). Callers who disconnect stop their run and
// lose no record.
//
// Without a configured credential, the gateway serves on a loopback address only, and refuses the requests that a web
// page could have made.
//
// # Where to go from here
//
// Start with routes.go, then read execute.go from top to bottom. ARCHITECTURE.md draws the life of one execution and
// lists which package imports which.
//
// Stored executions that run later are in package jobs, saved functions in package registry, webhooks in package
// hooks, what the audit records say in package records, agents in package mcp, web pages in package dashboard. Each
// owns its handlers and its storage interface, and none imports this package; assemble.go connects them. Package
// wiring opens the deployment's parts and makes a [Server].
//
// Handlers must copy what they keep: fasthttp reuses its buffers.
package gateway
