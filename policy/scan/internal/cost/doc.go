// Package cost counts the work of a scan. Work is counted instead of timed, so that the same code always has the same
// result. A unit is about ten nanoseconds.
//
// Package syntax predicts what a parser needs from an outline of the code, package flow counts what its walk does, and
// both take it from one [Budget]. Code that would take more than its share is scanned by tokens, and the finding
// threat.Unanalysed says so. Only package scan imports this package.
package cost
