// Package runner is what a function does with one invocation: decide, run, record.
//
//	execution.Invocation ─▶ policy.Decide ─▶ sandbox.Run ─▶ audit.Record ─▶ execution.Result
//
// It trusts nobody in front of it: the policy decides here even when a gateway has decided before. A guest's failure is
// in the Result; an error is the platform's, or says that the request itself is at fault. A result whose record could
// not be written is withheld.
package runner
