// Package invoketest is the conformance suite that every invoker passes: whatever carries an execution to a function
// and its result back behaves the same, on this machine and on Lambda.
//
// [Function] is the function under test: it knows no JavaScript, and does what a word in the request's code says,
// including everything that a real function must never do. [Test] runs the suite against an invoker whose functions run
// it.
package invoketest
