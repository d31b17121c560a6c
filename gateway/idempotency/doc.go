// Package idempotency carries out each request with an Idempotency-Key once
// (draft-ietf-httpapi-idempotency-key-header).
//
// A request claims its key before it is carried out. The response is kept under the key, and a second request with
// the same key and body receives it again. Where a request changes what outlives this process, or where several
// gateways share no memory, the key is kept in the state, too.
//
// The handlers of the gateway import it. Start with [Keys.Once].
package idempotency
