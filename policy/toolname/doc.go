// Package toolname defines the rules for the names and descriptions of tools. The operator names a server, but the
// server names and describes its tools. These texts become members of JavaScript objects, lines of TypeScript, and text
// that a model reads.
//
// [Check] accepts or refuses a name, [Global] returns the identifiers that the guest calls it by, and [Plain] makes
// hidden characters visible. Every package may import it; it imports nothing of the module. Start with [Check].
package toolname
