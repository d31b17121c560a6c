// Package cli holds the commands of the program airlock: one file per command, or per part of a large one (audit_,
// functions_, run_). Each command reads its flags and settings, calls package wiring or a gateway, prints, and
// returns an error with an exit code of package exit. Only the main program and tests import it.
//
// Start with [Run] in root.go.
package cli
