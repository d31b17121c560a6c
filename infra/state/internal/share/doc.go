// Package share decides how much of a bound one owner may use, and counts now and then what a store cannot count in its
// transactions. The stores of package state import it. Start with [Beyond] and [Tallies].
package share
