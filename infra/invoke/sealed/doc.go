// Package sealed connects a function process to its owner, the process that started it on the same machine, so that
// the function process needs no files, sockets, keys or credentials of its own.
//
// Each function process inherits two connected sockets and opens no other:
//
//   - descriptor 3, the link: executions go in, answers and their records come out;
//   - descriptor 4, the broker's socket: the function asks for connections, secrets, processes of other engines and
//     calls of the caller's tools, and the broker in the owner passes them or refuses.
//
// # The link
//
// The link has the semantics of the Lambda Runtime API: a process is ready, receives one invocation, answers it in
// parts or reports a failure, and is ready for the next. It is not HTTP: an execution costs one write and one wake-up
// on each side. A message is a byte for its [Kind], four bytes for its length, and its body.
//
//	owner     invocation
//	function  ready, then for each invocation: any number of parts and records, then one end or failure
//
// The function sends an audit record before the end of the answer, and the owner corrects and stores it before it
// passes the answer on. A process that ends with an unread invocation in its socket resets the link, which tells the
// owner that nothing has run.
//
// Beside its payload, an invocation carries the owner's scan of the code, so that the code is scanned once. The payload
// cannot hold one: it is only as trusted as the caller whose request it is.
//
// # The broker
//
// A request names a host and a port, a secret, an engine, or a tool. The broker decides by the execution that the
// process is running at that moment, never by anything that the process says about it. The broker resolves the name,
// checks the addresses and connects; the descriptor travels with the reply (SCM_RIGHTS). A reply belongs to the
// execution that asked: a late one is closed, not sent.
//
// A call of a tool of the caller takes a connection to the owner of its own. The function sends the parameters and
// reads a value or an error. The call is over when either side closes the connection.
//
// # Trust
//
// The function trusts its owner. The owner trusts the function with its current execution only and treats its every
// byte as hostile: it bounds lengths before it allocates, and ends the process at a message out of turn.
//
// Packages localinvoke, process and tests import it. Start with [Function] and [Outside].
package sealed
