// Package mcpguard keeps a process that speaks the Model Context Protocol alive, whatever the other side sends: the SDK
// reads messages on goroutines of its own, where a panic ends the process.
//
// Every package may import it; it imports nothing of the module. Start with [Client].
package mcpguard
