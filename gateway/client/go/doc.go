// Package client calls a gateway over HTTP: it runs code and waits for or follows it, reads results and records back,
// analyses code, and saves and invokes functions.
//
// A guest's failure is in the [execution.Result]. An error means that the request, the caller or the platform is at
// fault; the error of what the gateway refused is a *[Problem]. A [Client] is safe for concurrent use. It repeats
// nothing but the request for the rest of a stream that was lost.
//
// Any program may import it. Start with [New].
package client
