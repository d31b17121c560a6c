// Package outbound builds the HTTP clients of the program. A client is a set of [Limits] and a way to dial. Whatever
// the server does, an exchange ends within the time limits, and the client reads no more bytes than the limits permit.
//
// A server is not trusted because the operator named it. It may be taken over, replaced or broken, and its response may
// be as hostile as a guest's program: endless, one byte a second, a thousand headers, compressed zeros.
//
// No other package creates an http.Client, an http.Transport or a net.Dialer; a test checks this. A library that needs
// a transport of its own (the AWS SDK) has it bounded by [Limits.Shape] and [Limits.Bound].
//
// Start with [Limits.Client]. Every package may import it; it imports nothing of the module.
package outbound
