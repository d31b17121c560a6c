// Package records serves the content of the audit records: single records and lists (list.go), reports (report.go),
// summaries (summary.go), aggregates of the recent past (aggregates.go) and step by step (series.go), replays
// (replay.go) and the verification of the records' chains (verification.go).
//
// An [Index] over the records answers where there is one. Without it, and while it is behind, the newest records are
// read, and the response says that it is not complete. Callers see the records of their own tenant, unless they may
// read those of all tenants.
//
// Packages dashboard and mcp import it. Start with [Handlers].
package records
