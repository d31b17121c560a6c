package flow

import (
	"strings"

	"github.com/airlock-run/airlock/policy/scan/internal/catalogue"
	"github.com/airlock-run/airlock/policy/scan/internal/cost"
	"github.com/airlock-run/airlock/policy/threat"
)

// findings gathers what one walk finds, once per category and place.
type findings struct {
	budget *cost.Budget
	scope  *scope
	hits   []Hit
	seen   map[hitKey]struct{}
	count  map[hitClass]int
	// aimed are the ways to the network that the code uses with a host it names.
	aimed   map[*catalogue.Symbol]bool
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
	// In is the function of the tree that holds the place, or the branch of it as a *syntax.Region; nil at the top level.
	In any
	// Vain marks a way to the network that no tier has and that the code aims at no host it names, and the reading of a
	// single variable of the environment. Libraries have both.
	Vain bool
	// InFile reports that the source is a file beside the code.
	InFile bool
	symbol *catalogue.Symbol
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
	was, region := f.scope.frame, f.scope.region
	f.scope.frame, f.scope.region = in, nil
	f.add(category, catalogue.NeverGranted, "", offset, message...)
	f.scope.frame, f.scope.region = was, region
}

// attack records an attack.
func (f *findings) attack(category string, offset int, message string) {
	before := len(f.hits)
	f.add(category, catalogue.NeverGranted, "", offset, message)
	if len(f.hits) > before {
		f.hits[before].Attack = true
	}
}

// in returns the function or the branch that the walk is in.
func (f *findings) in() any {
	if f.scope == nil {
		return nil
	}
	return f.scope.place()
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
		f.addSymbol(s, s, offset)
	}
}

// addSymbol records the finding of a symbol under the category and power of as.
func (f *findings) addSymbol(s, as *catalogue.Symbol, offset int) {
	before := len(f.hits)
	f.add(as.Category, as.Power, as.Module, offset, catalogue.Explain(s))
	if len(f.hits) > before {
		f.hits[before].symbol = as
	}
}

// vain returns what was found, with the findings of vain attempts marked.
func (f *findings) vain() []Hit {
	for i := range f.hits {
		if h := &f.hits[i]; h.symbol != nil && h.Category == threat.NetworkRequest && h.Power == catalogue.NeverGranted {
			h.Vain = !f.aimed[h.symbol]
		}
	}
	return f.hits
}

// aims records that a way to the network is used with a host that the code names.
func (f *findings) aims(s *catalogue.Symbol, c call) {
	if s.Category != threat.NetworkRequest || s.Power != catalogue.NeverGranted || !isAimed(c.args) {
		return
	}
	if f.aimed == nil {
		f.aimed = map[*catalogue.Symbol]bool{}
	}
	f.aimed[s] = true
}

// isText reports whether a value may be a constant text.
func (v *value) isText() bool {
	for ; v != nil; v = v.alt {
		if v.kind == kindText {
			return true
		}
	}
	return false
}

// isAimed reports whether arguments name a host or an address.
func isAimed(args []*value) bool {
	for _, a := range args {
		for v := a; v != nil; v = v.alt {
			switch v.kind {
			case kindText:
				return true
			case kindObject:
				for _, name := range []string{"host", "hostname", "path", "address", "url"} {
					if v.obj.props[name].isText() {
						return true
					}
				}
			}
		}
	}
	return false
}
