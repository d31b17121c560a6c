// Package sealed connects a function process to its owner, the process that started it on the same machine, so that
// the function process can be left without files, sockets, keys and credentials of its own.
//
// Each function process inherits two connected sockets and opens no other:
//
//   - descriptor 3, the link: executions go in, answers and the accounts of them come out;
//   - descriptor 4, the counter: the function asks for what lies outside, and the owner hands it over or refuses.
//
// # The link
//
// The link has the semantics of the Lambda Runtime API: a process is ready, is handed one invocation, answers it
// piece by piece or reports a failure, and is then ready for the next. It is not HTTP: an execution costs one write
// and one wake-up on each side. A message is a byte for its [Kind], four bytes for its length, and its body.
//
//	owner     invocation
//	function  ready, then for each invocation: any number of parts and accounts, then one end or failure
//
// An account is an audit record that the function would otherwise store. The function sends it before the end of the
// answer, and the owner stores it before it hands out the answer. A process that ends with an invocation unread in
// its socket resets the link, which tells the owner that nothing has run.
//
// # The counter
//
// A request names a host and a port, or a secret. The owner decides by the execution that this process is running at
// that moment, never by anything that the process says about it. A connection is resolved, checked and made by the
// owner, and its descriptor goes over with the reply (SCM_RIGHTS). A reply belongs to the execution that asked: one
// that comes late is closed, not sent.
//
// # Who trusts whom
//
// The function trusts its owner. The owner trusts the function with the execution it was handed, and takes its every
// byte for hostile: lengths are bounded before they are allocated, and a message out of turn ends the process.
package sealed
