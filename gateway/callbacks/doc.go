// Package callbacks calls receivers back when an execution has ended, as Standard Webhooks demands
// (github.com/standard-webhooks/standard-webhooks): with an ID that stays the same in every attempt, the time of the
// attempt, and a signature over both and the body.
//
// [Rules] decide which receivers a request may name; [Sender] makes one attempt; package jobs repeats it. Package
// gateway imports this package. Start with [Sender].
package callbacks
