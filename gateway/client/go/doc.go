// Package client calls a gateway over HTTP: it runs code and waits for it, follows it, or submits it to run later. It
// offers functions of the program to the code ([Tools]), reads results and records back, analyses code, and saves and
// invokes functions.
//
// A guest's failure is in the [Result]. An error means that the request, the caller or the platform is at fault; the
// error of what the gateway refused is a *[Problem]. A [Client] is safe for concurrent use. It repeats the request for
// the rest of a stream that was lost, and what the gateway refused because it is busy, if Config.Retries says so.
//
// Any program may import it. Start with [New].
package client
