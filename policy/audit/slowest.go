package audit

import (
	"cmp"
	"slices"
	"strings"
)

// A Slow execution is one of the slowest.
type Slow struct {
	ID         string  `json:"i"`
	DurationMs float64 `json:"d"`
}

// mostSlow is the number of slowest executions that are kept.
const mostSlow = 8

// slower returns the slowest of all, slowest first.
func slower(all []Slow, more ...Slow) []Slow {
	all = append(all, more...)
	slices.SortFunc(all, func(a, b Slow) int {
		return cmp.Or(cmp.Compare(b.DurationMs, a.DurationMs), strings.Compare(b.ID, a.ID))
	})
	return slices.Clip(all[:min(len(all), mostSlow)])
}
