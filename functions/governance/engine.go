package governance

import "github.com/airlock-run/airlock/functions/execution"

// quickJSOnly returns the fields of an invocation that only QuickJS can serve.
func quickJSOnly(inv execution.Invocation) (fields []string) {
	q := inv.Request
	if inv.Session != nil {
		fields = append(fields, "session")
	}
	if q.Seed != nil {
		fields = append(fields, "seed")
	}
	if q.Debug != nil && *q.Debug != (execution.Debug{}) {
		fields = append(fields, "debug")
	}
	if q.Limits.Ticks > 0 {
		fields = append(fields, "limits.ticks")
	}
	return fields
}
