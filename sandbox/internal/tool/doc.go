// Package tool calls the functions that a caller lends to a guest. A Tool checks parameters and answers with its JSON
// Schemas, bounds their size and depth, and waits no longer than its timeout. Parameters, schemas and the answers of
// tools' servers are hostile.
//
// Start at [Tool.Call]. Only package sandbox imports this package.
package tool
