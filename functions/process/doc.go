// Package process is the composition root of a function process, on Lambda and on this machine: it opens the sandbox,
// the policy and the runner from settings, puts the walls around the process, and serves invocations until the
// process ends.
//
// On this machine the process is sealed: its owner stores its records and makes the connections of its executions
// ([Outside]), and it uses the owner's scan of the code. On Lambda it has no owner and opens the record store itself.
//
// Two main programs call [Serve]: functions/lambda, the Lambda bootstrap, and "airlock function". Package wiring
// shares its settings. Start with [Serve].
package process
