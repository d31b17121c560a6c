package audit_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/airlock-run/airlock/policy/audit"
)

// Whatever the numbers and however they were added up, quantiles are within 1 % of the exact ones.
func TestSpreadQuantiles(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	shares := []float64{0, .5, .95, .99, 1}
	for round := range 50 {
		var parts [3]audit.Spread
		var all []float64
		for n := range 1 + rng.IntN(500) {
			ms := math.Exp(rng.NormFloat64()*float64(1+round%5)) + .002
			all = append(all, ms)
			parts[n%3].Add(ms)
		}
		slices.Sort(all)
		var sum audit.Spread
		for _, part := range parts {
			sum.Merge(part)
		}
		doc, err := json.Marshal(sum)
		if err != nil {
			t.Fatal(err)
		}
		var back audit.Spread
		if err := json.Unmarshal(doc, &back); err != nil || !reflect.DeepEqual(back, sum) {
			t.Fatalf("%v: %s", err, doc)
		}
		for i, got := range back.Quantiles(shares...) {
			want := all[max(int(math.Ceil(shares[i]*float64(len(all)))), 1)-1]
			if math.Abs(got-want) > want*.0101 {
				t.Errorf("round %d: the %g quantile of %d is %g, want %g", round, shares[i], len(all), got, want)
			}
		}
	}
	if got := (audit.Spread(nil)).Quantiles(.5, .99); !slices.Equal(got, []float64{0, 0}) {
		t.Errorf("of none: %v", got)
	}
	var odd audit.Spread
	for _, ms := range []float64{0, -1, math.Inf(-1), 1e-9} {
		odd.Add(ms)
	}
	odd.Add(math.Inf(1))
	odd.Add(1e300)
	if got := odd.Quantiles(.5, 1); got[0] != 0 || math.IsInf(got[1], 0) || math.IsNaN(got[1]) {
		t.Errorf("of odd numbers: %v", got)
	}
}

func TestMemoryBounds(t *testing.T) {
	t.Parallel()
	last := int64(0)
	for bin := range audit.MemoryBins - 1 {
		bound, ok := audit.MemoryBound(bin)
		if !ok || bound <= last {
			t.Errorf("bin %d ends at %d", bin, bound)
		}
		last = bound
		var f audit.Summary
		f.Add(audit.Outline{Memory: bound})
		f.Add(audit.Outline{Memory: bound + 1})
		if f.Memory[bin] != 1 || f.Memory[bin+1] != 1 {
			t.Errorf("bin %d: %v", bin, f.Memory)
		}
	}
	for _, bin := range []int{-1, audit.MemoryBins - 1, audit.MemoryBins} {
		if _, ok := audit.MemoryBound(bin); ok {
			t.Errorf("bin %d has an end", bin)
		}
	}
}
