// Package invoketest is the conformance suite of invokers: all carry an execution to a function and its result back
// in the same way, on this machine and on Lambda.
//
// [Function] is the function under test. It knows no JavaScript; a word in the request's code is a command, including
// commands that a real function must never execute. [Test] runs the suite against an invoker whose functions run
// Function. Only tests import this package.
package invoketest
