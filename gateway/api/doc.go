// Package api holds what all handlers of the gateway share: the caller of a request, problem documents, the decoding of
// requests and the encoding of responses, and [Submission], the form in which every handler asks for an execution.
//
// Every package of the gateway may import it. It imports only packages without handlers. Start with submission.go.
package api
