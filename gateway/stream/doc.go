// Package stream carries the events of an execution from the guest that causes them to the clients that read them, as
// server-sent events (WHATWG HTML §9.2), and serves POST /api/execute/stream.
//
// A [Log] keeps a window of the last events. Each follower reads at its own pace. When the slowest is a window
// behind, the guest that prints waits, and nothing else does. Events that were read stay in the window for clients
// who lost their connection and come back with Last-Event-ID.
//
// The guest's calls of tools of the caller are events, too, and their answers are requests ([Handlers.Answer]).
//
// Package gateway imports it. Start with [Handlers.Execute].
package stream
