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
	scope   *scope
	hits    []Hit
	seen    map[hitKey]struct{}
	count   map[hitClass]int
	dropped bool // there were more findings than are kept
	// uneven reports that findings of a function were dropped because of others in other functions.
	uneven bool
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
	// Idle marks code built at run time that does nothing by itself, such as Function("return this").
	Idle bool
	// In is the function of the tree that holds the place; nil at the top level.
	In any
	// InFile reports that the source is a file beside the code.
	InFile bool
}

// hitClass holds what grants distinguish findings by.
type hitClass struct {
	category string
	power    catalogue.Power
	module   string
	in       any
}

// anywhere stands for all functions together.
const anywhere = "anywhere"

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
	f.count[hitClass{category, p, module, f.in()}]++
	f.count[hitClass{category, p, module, anywhere}]++
	f.hits = append(f.hits, Hit{Category: category, Power: p, Module: module, Offset: offset, In: f.in(),
		Message: strings.Join(message, "")})
}

// addIn records a finding in a function that the walk has left.
func (f *findings) addIn(in *function, category string, offset int, message ...string) {
	was := f.scope.frame
	f.scope.frame = in
	f.add(category, catalogue.NeverGranted, "", offset, message...)
	f.scope.frame = was
}

// attack records an attack.
func (f *findings) attack(category string, offset int, message string) {
	before := len(f.hits)
	f.add(category, catalogue.NeverGranted, "", offset, message)
	if len(f.hits) > before {
		f.hits[before].Attack = true
	}
}

// in returns the function that the walk is in.
func (f *findings) in() any {
	if f.scope == nil || f.scope.frame == nil {
		return nil
	}
	return f.scope.frame.node
}

// idle records code that is built at run time and does nothing by itself.
func (f *findings) idle(s *catalogue.Symbol, offset int) {
	before := len(f.hits)
	f.found(s, offset)
	if len(f.hits) > before {
		f.hits[before].Idle = true
	}
}

// full reports whether another finding of a class would only be counted. Two of each class and function are enough for
// every tier's score. Only modules have unlimited names, and all of them count alike.
func (f *findings) full(category string, p catalogue.Power, module string) bool {
	if len(f.hits) < cost.MaxFindings {
		return false
	}
	f.budget.Take(2 * cost.ValueWork)
	if f.count[hitClass{category, p, module, f.in()}] >= 2 {
		f.dropped = true
		return true
	}
	full := p == catalogue.ModulePower && len(f.hits) >= maxHits ||
		len(f.hits) >= maxAllHits && f.count[hitClass{category, p, module, anywhere}] >= 2
	f.uneven = f.uneven || full
	f.dropped = f.dropped || full
	return full
}

// found records the finding of a symbol.
func (f *findings) found(s *catalogue.Symbol, offset int) {
	if s.Category != "" && !f.full(s.Category, s.Power, s.Module) {
		f.add(s.Category, s.Power, s.Module, offset, catalogue.Explain(s))
	}
}
