package audit

import (
	"cmp"
	"slices"
	"strings"
)

// Slow is one of the slowest executions.
type Slow struct {
	ID         string  `json:"i"`
	DurationMs float64 `json:"d"`
}

// mostSlow is how many of the slowest are remembered.
const mostSlow = 8

// slower keeps the slowest of all, slowest first.
func slower(all []Slow, more ...Slow) []Slow {
	all = append(all, more...)
	slices.SortFunc(all, func(a, b Slow) int {
		return cmp.Or(cmp.Compare(b.DurationMs, a.DurationMs), strings.Compare(b.ID, a.ID))
	})
	return slices.Clip(all[:min(len(all), mostSlow)])
}
