// Package runner handles one invocation in the function: it decides, runs and records.
//
//	execution.Invocation ─▶ policy.Decide ─▶ sandbox.Run ─▶ audit.Record ─▶ execution.Result
//
// It does not trust the caller: the policy decides here even if a gateway has decided before, so the tighter of the
// two decisions holds. A guest's failure is part of the Result; an error means that the platform failed or that the
// request is invalid. A result whose record cannot be written is withheld.
//
// Only package process, package cli and tests import it. Start with [Runner.Run].
package runner
