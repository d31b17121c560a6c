package flow

import (
	"strings"

	"github.com/airlock-run/airlock/policy/scan/internal/catalogue"
	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/threat"
)

// findings gathers what one walk finds, once per category and place.
type findings struct {
	budget  *cost.Budget
	hits    []Hit
	seen    map[hitKey]struct{}
	count   map[hitClass]int
	dropped bool // there were more findings than are kept
}

// facts gathers the telemetry, and the names that the code does not declare.
type facts struct {
	threat.Telemetry
	free map[string]struct{}
}

// A Hit is a finding before it is scored.
type Hit struct {
	Category string
	Power    catalogue.Power
	Module   string
	Offset   int
	Message  string
	// Attack marks what no program does that means well. It is critical, whatever its category is.
	Attack bool
	// InFile reports that the source is a file beside the code.
	InFile bool
}

// hitClass holds what grants distinguish findings by.
type hitClass struct {
	category string
	power    catalogue.Power
	module   string
}

type hitKey struct {
	category string
	offset   int
}

// add records a finding once per category and place.
func (f *findings) add(category string, p catalogue.Power, module string, offset int, message ...string) {
	if f.full(category, p, module) {
		return
	}
	key := hitKey{category, offset}
	if _, ok := f.seen[key]; ok {
		return
	}
	if f.seen == nil {
		f.seen, f.count = map[hitKey]struct{}{}, map[hitClass]int{}
	}
	f.seen[key] = struct{}{}
	f.count[hitClass{category, p, module}]++
	f.hits = append(f.hits, Hit{Category: category, Power: p, Module: module, Offset: offset,
		Message: strings.Join(message, "")})
}

// attack records an attack.
func (f *findings) attack(category string, offset int, message string) {
	before := len(f.hits)
	f.add(category, catalogue.NeverGranted, "", offset, message)
	if len(f.hits) > before {
		f.hits[before].Attack = true
	}
}

// full reports whether another finding of a class would only be counted. Two of each class are enough for every tier's
// score. Only modules have unlimited names, and all of them count alike.
func (f *findings) full(category string, p catalogue.Power, module string) bool {
	if len(f.hits) < cost.MaxFindings {
		return false
	}
	full := p == catalogue.ModulePower && len(f.hits) >= maxHits
	if !full {
		f.budget.Take(2 * cost.ValueWork)
		full = f.count[hitClass{category, p, module}] >= 2
	}
	f.dropped = f.dropped || full
	return full
}

// found records the finding of a symbol.
func (f *findings) found(s *catalogue.Symbol, offset int) {
	if s.Category != "" && !f.full(s.Category, s.Power, s.Module) {
		f.add(s.Category, s.Power, s.Module, offset, catalogue.Explain(s))
	}
}
