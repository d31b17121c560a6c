// Package process is what a function process is made of, on Lambda and on this machine alike: the sandbox, the policy
// and the runner over them, opened from settings; then the walls around the process; then the loop that serves
// invocations until the process ends.
//
// On this machine the process is sealed: its owner stores what it records, and makes the connections of its
// executions ([Outside]). On Lambda it has nobody beside it, and opens the record store itself.
//
// Two main packages call [Serve] and nothing else: functions/lambda, the Lambda bootstrap, and "airlock function".
package process
