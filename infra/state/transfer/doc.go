// Package transfer copies a state from one store to another: saved functions with all versions, jobs with requests,
// results and callbacks, keys with their answers, events, receivers that are gone, and anchors. Stores of package
// state implement [Store]; package wiring and tests import it. Start with [Copy].
package transfer
