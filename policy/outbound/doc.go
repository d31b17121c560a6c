// Package outbound builds the HTTP clients of the program. A client is a set of [Limits] and a way to dial: whatever
// the server does, an exchange ends within the limits' time, and no more than the limits' bytes of its answer are read.
//
// A server is not trusted because the operator named it. It may be taken over, replaced or broken, and its answer is as
// hostile as a guest's program: endless, one byte a second, a thousand headers, compressed zeros.
//
// No other package makes an http.Client, an http.Transport or a net.Dialer; a test holds the program to it. What needs
// a transport of a library's own (the AWS SDK) has it bounded by [Limits.Shape] and [Limits.Bound].
package outbound
