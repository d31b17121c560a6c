// Package invoketest is the conformance suite of invokers: all carry an execution to a function and its result back
// in the same way, on this machine and on Lambda.
//
// [Function] is the function under test. It runs no JavaScript: a word in the request's code is a command. Some
// commands do what a real function must never do. [Test] runs the suite against an invoker whose functions run
// Function. Only tests import this package.
package invoketest
