// Package localinvoke runs executions on function processes of this machine.
//
// A [Pool] is what the Lambda service is in the cloud: it starts function processes ahead, hands each of them one
// execution at a time, watches them from outside, and kills what does not end. There are two kinds of processes:
//
//   - Sealed ones ([Config.Sealed]) are of our own program. They inherit a link to the pool and a counter, as package sealed
//     has them, and nothing else: the pool stores their records and makes their connections.
//   - Others speak the Lambda Runtime API over a loopback port, and do for themselves what a Lambda function does for itself.
//
// Both have an environment that inherits nothing.
//
// The life of one call: [Pool.Invoke] claims an idle process (roster.go), hands it the invocation over its link
// (link.go) or its pending "next" request (runtimeapi.go), and then waits on four things at once (call.go): a piece
// of the answer, the caller giving up, the clock, and the end of the process. Whatever comes first decides; nothing
// ever waits for a dead process. A slot (slot.go) notices the exit and starts the next process. The answer of a
// sealed process is held until its account has become a record (account.go).
//
// [Pool.ServiceHandler] is the part of the Lambda service API that invokes functions, so that the AWS SDKs and the
// AWS CLI can call a local function. It must be served on an address of its own: the Runtime API's is the one that
// function processes can reach, and a function must not be able to start executions.
package localinvoke
