package audit

import (
	"math"
	"slices"
)

// A Spread is a distribution of milliseconds: a count for each size. Neighbouring sizes are 2 % apart, so a quantile is
// at most 1 % off. The sizes begin at a microsecond; less counts as nothing. Spreads of different records can be added,
// unlike quantiles. (After DDSketch: Masson, Rim and Lee, VLDB 2019.)
type Spread map[int]int64

const (
	finest   = 0.001 // milliseconds
	growth   = 1.02
	coarsest = 2000 // 10¹⁴ ms
)

// Add adds one number.
func (s *Spread) Add(ms float64) {
	size := 0
	if ms > finest {
		size = min(int(math.Ceil(math.Log(ms/finest)/math.Log(growth))), coarsest)
	}
	if *s == nil {
		*s = Spread{}
	}
	(*s)[size]++
}

// Merge adds the numbers of o.
func (s *Spread) Merge(o Spread) {
	if *s == nil && len(o) > 0 {
		*s = make(Spread, len(o))
	}
	for size, n := range o {
		(*s)[size] += n
	}
}

// Quantiles returns the p-quantile for each p from 0 to 1 (nearest rank), within 1 %. An empty spread returns zeros.
func (s Spread) Quantiles(p ...float64) []float64 {
	out := make([]float64, len(p))
	sizes := make([]int, 0, len(s))
	total := int64(0)
	for size, n := range s {
		sizes, total = append(sizes, size), total+n
	}
	slices.Sort(sizes)
	for i, share := range p {
		rank, seen := max(int64(math.Ceil(share*float64(total))), 1), int64(0)
		for _, size := range sizes {
			if seen += s[size]; seen >= rank {
				out[i] = middle(size)
				break
			}
		}
	}
	return out
}

// middle returns the number whose relative distance to both ends of a size is the same.
func middle(size int) float64 {
	if size <= 0 {
		return 0
	}
	return finest * math.Pow(growth, float64(size)) * 2 / (1 + growth)
}

// MemoryBins is the number of bins of the histogram of memory.
const MemoryBins = 10

// MemoryBound returns the upper end, in bytes, of a bin of that histogram: 1 MiB, doubling to 256 MiB. It returns false
// for the last bin, which has none.
func MemoryBound(bin int) (int64, bool) {
	if bin < 0 || bin >= MemoryBins-1 {
		return 0, false
	}
	return 1 << (20 + bin), true
}

func memoryBin(bytes int64) int {
	for bin := range MemoryBins {
		if bound, ok := MemoryBound(bin); ok && bytes <= bound {
			return bin
		}
	}
	return MemoryBins - 1
}
