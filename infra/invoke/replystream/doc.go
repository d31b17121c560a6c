// Package replystream reads what a function streams back: lines of [execution.Event], cut into arbitrary pieces. The
// invokers share it. A guest may have taken the function over, so everything that the contract does not allow is
// rejected.
//
// Only the packages below invoke import it. Start with [Answer].
package replystream
