// Package scripttext defines how the text of a script is read before any parser sees it: a Markdown fence, a shebang,
// and the language that a file name tells. The policy scans and the sandbox runs the same bytes because both find them
// here. Every package may import it; it imports nothing of the module. Start with [Body].
package scripttext
