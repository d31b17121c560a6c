// Package callbacks tells receivers that an execution has ended, as Standard Webhooks do
// (github.com/standard-webhooks/standard-webhooks): an id that stays the same however often it is sent, the time of
// this attempt, and a signature over both and the body.
package callbacks
