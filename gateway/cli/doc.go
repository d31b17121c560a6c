// Package cli holds the commands of the program airlock: one file per command, or per part of a large one
// (functions_, run_). The commands audit, packages and state have packages of their own below this one. Each command
// reads its flags and settings, calls package wiring or a gateway, prints, and returns an error with an exit code of
// package exit. What all commands share that call a gateway is in gateway_tool.go.
//
// Only the main program and tests import it. Start with [Run] in root.go.
package cli
