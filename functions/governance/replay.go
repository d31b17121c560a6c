package governance

import (
	"errors"
	"fmt"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/audit"
)

// Replayable returns an error that says why, for a record that no execution can be replayed from.
func Replayable(rec audit.Record) error {
	switch {
	case rec.Status == string(execution.Blocked):
		return errors.New("it was blocked: nothing ran")
	case rec.Reused != "":
		return fmt.Errorf("nothing ran: the result of %s was reused, which can be replayed", rec.Reused)
	case rec.Status == string(execution.Cancelled):
		return errors.New("it was cancelled, and its record does not contain when")
	case rec.Status == audit.DecidedStatus:
		return fmt.Errorf("it is a decision about %s: nothing ran", rec.Parent)
	case rec.Engine != "" && rec.Engine != policy.QuickJS:
		return fmt.Errorf("it ran on %s, which cannot be replayed; only %s can", rec.Engine, policy.QuickJS)
	case len(rec.Request) == 0:
		return errors.New("its record does not contain the request; set AUDIT_CODE=keep for future executions")
	}
	return nil
}
