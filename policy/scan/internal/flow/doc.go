// Package flow follows values through a syntax tree and reports the powers that code acquires or uses.
//
// One walk passes over the statements and expressions in source order and keeps, for each variable and member, the
// values that it may hold. It walks again while values turn up that were needed before they were known.
//
//	walker       statements, patterns and functions
//	expressions  expressions and their values
//	calls        what calls return and do
//	host         names and members that the host provides
//	loader       modules
//	program      the code's own variables and functions
//	values       constant folding
//	timers       functions that set themselves going
//	findings     what was found, once per category and place
//
// tokens.go scans code that has no tree. Start with [Flow]. Only package scan imports this package.
package flow
