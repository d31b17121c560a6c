// Package httpconn guards the connections of the gateway below its handlers.
//
//	listener.go    bounds the connections of one address, and survives a lack of descriptors
//	files.go       says how many connections the limit of open files allows
//	forwarded.go   replaces the peer by the caller that a trusted proxy names
//	framing.go     reports requests that two HTTP parsers could read differently
//	linger.go      closes a connection without losing the response on it
//	disconnect.go  ends a context when the caller hangs up
//
// It knows connections and headers, and nothing of executions. It imports package bounds alone; any package of the
// gateway may import it. Start with [Listener].
package httpconn
