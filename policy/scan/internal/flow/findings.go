package flow

import (
	"slices"
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
	seen   map[hitKey]int // the index in hits
	count  map[hitClass]int
	// generated has the places that call Function, and whether all calls there get text that the code puts together.
	generated map[int]bool
	// uses are the places that call a symbol; hostile holds the commands that attacks feed, mentioned the symbols found.
	uses               map[*catalogue.Symbol][]any
	hostile, mentioned map[*catalogue.Symbol]bool
	// feed is the input of the command that is recorded next.
	feed Feed
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
	// Compiles marks code that Function, a timer or a module of Node builds, as libraries do with templates and schemas.
	Compiles bool
	// Uses are the places that call what the finding names, like In. A call of a command counts only if its input comes
	// from the code or the caller.
	Uses []any
	// Attack marks what no well-meaning program does. It is critical in every category.
	Attack bool
	// Idle marks code built at run time that does nothing by itself, such as Function("return this").
	Idle bool
	// In is the function of the tree that holds the place, or the branch of it as a *syntax.Region; nil at the top level.
	In any
	// Vain marks a use of the network that no tier provides and that names no host, and the reading of a single
	// environment variable. Libraries contain both.
	Vain bool
	// Extends marks a change that only gives the prototype of a built-in class a new method, as libraries do.
	Extends bool
	// Generated marks code that Function makes of parameters and of text that the code puts together, as libraries do.
	Generated bool
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
	feed     Feed
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
		f.seen, f.count = map[hitKey]int{}, map[hitClass]int{}
	}
	f.seen[key] = len(f.hits)
	f.count[hitClass{category, p, module, f.in(), f.feed}]++
	f.count[hitClass{category, p, module, anywhere, f.feed}]++
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

// compiles records a timer that is handed a string to run as code. Mixed says that the callee may be something else.
func (f *findings) compiles(s *catalogue.Symbol, offset int, mixed bool) {
	before := len(f.hits)
	f.add(threat.CodeInjection, catalogue.EvalPower, "", offset, s.Name, " is handed a string to run as code")
	if len(f.hits) > before {
		f.hits[before].Compiles, f.hits[before].Vain = true, mixed
	}
}

// extends records whether a change of a prototype, found since there were so many hits, only gives it a new method.
func (f *findings) extends(offset, hits int, extends bool) {
	if i, ok := f.seen[hitKey{threat.PrototypePollution, offset}]; ok {
		f.hits[i].Extends = extends && (i >= hits || f.hits[i].Extends)
	}
}

// generates records the call of Function, and whether all such calls at the place only get text that the code
// puts together.
func (f *findings) generates(s *catalogue.Symbol, offset int, generated bool) {
	f.found(s, offset)
	if f.generated == nil {
		f.generated = map[int]bool{}
	}
	if earlier, ok := f.generated[offset]; ok {
		generated = generated && earlier
	}
	f.generated[offset] = generated
	if i, ok := f.seen[hitKey{threat.CodeInjection, offset}]; ok {
		f.hits[i].Generated = generated
	}
}

// idle records code that is built at run time and does nothing by itself.
func (f *findings) idle(s *catalogue.Symbol, offset int) {
	f.found(s, offset)
	if i, ok := f.seen[hitKey{s.Category, offset}]; ok {
		f.hits[i].Idle = true
	}
}

// full reports whether another finding of a class would only be counted. Two of each class and function are enough for
// every tier's score. Only modules have unlimited names, and all of them count alike.
func (f *findings) full(category string, p catalogue.Power, module string) bool {
	if len(f.hits) < cost.MaxFindings {
		return false
	}
	f.budget.Take(2 * cost.ValueWork)
	if f.count[hitClass{category, p, module, f.in(), f.feed}] >= 2 {
		f.dropped = true
		return true
	}
	full := p == catalogue.ModulePower && len(f.hits) >= maxHits ||
		len(f.hits) >= maxAllHits && f.count[hitClass{category, p, module, anywhere, f.feed}] >= 2
	f.uneven = f.uneven || full && !(category == threat.ModuleLoading && catalogue.IsPowerless(module))
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
	f.add(as.Category, as.Power, as.Module, offset, catalogue.Explain(s))
	i, ok := f.seen[hitKey{as.Category, offset}]
	if !ok {
		return
	}
	if f.hits[i].symbol == nil {
		f.hits[i].symbol = as // of a module that is used where it is loaded
	}
	if f.mentioned == nil {
		f.mentioned = map[*catalogue.Symbol]bool{}
	}
	f.mentioned[f.hits[i].symbol] = true
}

// addNested records at a place a finding of code in a string.
func (f *findings) addNested(h *Hit, offset int) {
	f.add(h.Category, h.Power, h.Module, offset, "in a string run as code: ", h.Message)
	if i, ok := f.seen[hitKey{h.Category, offset}]; ok {
		f.hits[i].Attack = f.hits[i].Attack || h.Attack
		if len(h.Uses) > 0 {
			f.hits[i].Uses = append(f.hits[i].Uses, f.in())
		}
	}
}

// vain returns what was found, with the findings of vain attempts marked, and with the places of calls.
func (f *findings) vain() []Hit {
	for i := range f.hits {
		if h := &f.hits[i]; h.symbol != nil && h.Category == threat.NetworkRequest && h.Power == catalogue.NeverGranted {
			h.Vain = !f.aimed[h.symbol]
		}
		if h := &f.hits[i]; h.symbol != nil {
			h.Vain = h.Vain || h.symbol.Foreign
			h.Compiles = h.Category == threat.CodeInjection && h.symbol.Role != catalogue.RoleEval
			h.Uses = append(h.Uses, f.uses[h.symbol]...)
			h.Attack = h.Attack || f.hostile[h.symbol]
		}
	}
	return f.hits
}

// used records a call of a symbol, at most maxUses times.
func (f *findings) used(s *catalogue.Symbol) {
	if len(f.uses[s]) >= maxUses {
		return
	}
	if f.uses == nil {
		f.uses = map[*catalogue.Symbol][]any{}
	}
	if place := f.in(); !slices.Contains(f.uses[s], place) {
		f.uses[s] = append(f.uses[s], place)
	}
}

const maxUses = 64

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
