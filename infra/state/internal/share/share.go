package share

// The last tenth of a bound is reserved for owners that use almost nothing: one token that uses up a tenant's quota
// does not lock out the tenant's other tokens.
const (
	reservedPart = 10
	smallPart    = 100
)

// Beyond reports whether an owner with own and added exceeds what all may use, of which used is taken.
func Beyond(used, own, added, most int64) bool {
	if used > most {
		return true
	}
	return used > most-max(most/reservedPart, 1) && own > added && own > max(most/smallPart, 1)
}
