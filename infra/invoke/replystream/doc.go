// Package replystream puts together what a function streams back: lines of [execution.Event], however they were cut
// on the way. The invokers share it. A function may have been taken over by its guest, so nothing is believed that
// the contract does not allow.
package replystream
