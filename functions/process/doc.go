// Package process is what a function process is made of, on Lambda and on this machine alike: the sandbox, the policy,
// the record store and the runner over them, opened from settings; then the walls around the process; then the loop that
// serves invocations until the process ends.
//
// Two main packages call [Serve] and nothing else: functions/execute, the Lambda bootstrap, and "airlock function".
package process
