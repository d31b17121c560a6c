// Package share holds the rules that the stores of package state have in common: quotas and leases. It keeps
// approximate counts of what a store cannot count in its transactions, and decodes what they store. The stores import
// it. Start with [Measure], [Lease] and [Tallies].
package share
