// Package client calls a gateway over HTTP: executions that are waited for or followed, results and records read back,
// code analysed, saved functions invoked.
//
// A guest's failure is in the [execution.Result]; every error is of the request, the caller or the platform. What the
// gateway refused is a *[Problem]. A [Client] is safe for concurrent use, and tries nothing twice but the rest of a
// stream that was lost.
package client
