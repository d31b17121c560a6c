// Package localinvoke runs executions on function processes of this machine.
//
// A [Pool] is what the Lambda service is in the cloud: it starts function processes ahead, hands each of them one
// execution at a time over the Lambda Runtime API on a loopback port, watches them from outside, and kills what does not
// end. The processes run the very program that runs on Lambda, in an environment that inherits nothing.
//
// The life of one call: [Pool.Invoke] claims an idle process (roster.go), hands it the invocation through the process's
// pending "next" request (runtimeapi.go), and then waits on four things at once (await.go): a piece of the answer, the
// caller giving up, the clock, and the end of the process. Whatever comes first decides; nothing ever waits for a dead
// process. A slot (slot.go) notices the exit and starts the next process.
//
// [Pool.ServiceHandler] is the part of the Lambda service API that invokes functions, so that the AWS SDKs and the AWS CLI
// can call a local function. It must be served on an address of its own: the Runtime API's is the one that function
// processes can reach, and a function must not be able to start executions.
package localinvoke
