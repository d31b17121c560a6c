package settings

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest returns the candidate that typed probably means, or "" if none is within one slip in four characters.
func Nearest(typed string, candidates []string) string {
	best, closest := "", len(typed)/4+2
	if len(typed) < 4 {
		closest = 2
	}
	for _, c := range candidates {
		d := levenshtein.ComputeDistance(strings.ToLower(typed), strings.ToLower(c))
		if len(typed) > 2 && strings.HasPrefix(c, typed) {
			d = 1
		}
		if d < closest {
			best, closest = c, d
		}
	}
	return best
}
