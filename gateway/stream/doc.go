// Package stream carries the events of one execution from the guest that causes them to the clients that read them, as
// server-sent events (WHATWG HTML §9.2).
//
// A [Log] keeps a window of the last events. Whoever follows it reads at their own pace: when the slowest is a window
// behind, the guest that prints waits, and nothing else does. Events already read stay in the window for clients who
// lost their connection and come back with Last-Event-ID.
package stream
