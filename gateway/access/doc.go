// Package access decides who may make a request and how often.
//
//	credentials.go  recognizes the caller and bounds how often credentials can be guessed
//	limits.go       counts requests: by caller, by tenant, by webhook
//	places.go       hands out places for what callers hold open: connections, streams, sessions
//
// The rules themselves are in packages authn, ratelimit and bounds; this package applies them to HTTP requests. The
// handlers of the gateway import it. Start with [Control].
package access
