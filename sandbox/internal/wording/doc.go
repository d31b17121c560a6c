// Package wording gives the errors of the engine the messages of V8, which people and their programs know. The engine
// is terse ("not a function"): its messages name neither the expression at fault nor its value.
//
// [Message] words what a running program throws. It knows the place of the error in the compiled text and reads names
// and literals there (expressions.go, values.go), classes (classes.go) and patterns (destructuring.go). What the text
// does not show is left out, or is worded as in the most likely case. [Syntax] words what a parser refuses.
//
// All texts are hostile. The work is linear in the text that a [Place] holds. Package source imports this package.
package wording
