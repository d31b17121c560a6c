// Package share decides how much of a bound one owner may use, and keeps approximate counts of what a store cannot
// count in its transactions. It also decodes what they store. The stores of package state import it. Start with
// [Beyond] and [Tallies].
package share
