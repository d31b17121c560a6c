// Package localinvoke runs executions on function processes of this machine.
//
// A [Pool] does what the Lambda service does in the cloud: it starts function processes in advance, gives each of
// them one execution at a time, watches them from outside, and kills those that do not end. There are two kinds of
// processes:
//
//   - Sealed ones ([Config.Sealed]) run this program. They inherit the two sockets of package sealed and nothing else:
//     the pool stores their records and makes their connections.
//   - Others speak the Lambda Runtime API over a loopback port and record and connect by themselves, as on Lambda.
//
// Neither inherits the environment.
//
// A call passes through these files: [Pool.Invoke] (invoke.go) claims an idle process (roster.go), sends it the
// invocation over its link (link.go) or as the answer to its pending "next" request (runtimeapi.go), and waits for
// the first of four events (call.go): a piece of the answer, a caller that gives up, a timer, or the end of the
// process. Nothing ever waits for a dead process. A slot (slot.go) notices the exit and starts the next process. The
// answer of a sealed process is held back until its record is stored (sealed_record.go).
//
// [Pool.ServiceHandler] implements the part of the Lambda service API that invokes functions, so that AWS SDKs and
// the AWS CLI can call a local function. It needs an address of its own: function processes can reach the Runtime
// API's, and a function must not be able to start executions.
//
// Packages wiring, cli, process and tests import it. Start with [Pool.Invoke].
package localinvoke
