// Package audit is the command airlock audit, which reads and checks the records of executions. Package cli imports it.
// Start with [Command].
package audit
