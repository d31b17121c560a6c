package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/airlock-run/airlock/policy/internal/quote"
)

// QuickJS is the engine that every deployment has. The others run where the deployment turns them on.
const QuickJS = "quickjs"

// KnownEngines returns the names that a request may give as its engine, QuickJS first.
func KnownEngines() []string { return []string{QuickJS, "v8", "jsc"} }

// Engines are the engines of a deployment besides QuickJS.
type Engines struct {
	// On are the names of those that are turned on.
	On []string
	// Fallback runs requests for the others on QuickJS. Otherwise they are invalid.
	Fallback bool
}

// WithEngines returns a Set with other engines.
func (s *Set) WithEngines(engines Engines) *Set {
	out := *s
	out.rules.Engines = Engines{slices.Clone(engines.On), engines.Fallback}
	return &out
}

// Engines returns the engines of the deployment besides QuickJS. The caller owns the list.
func (s *Set) Engines() Engines {
	return Engines{slices.Clone(s.rules.Engines.On), s.rules.Engines.Fallback}
}

// chooseEngine grants the engine that the request names, or QuickJS in its place.
func chooseEngine(e *evaluation) error {
	name := e.request.Engine
	if name == "" || name == QuickJS || e.tier == nil {
		return nil
	}
	bad := func(field, source, format string, args ...any) {
		e.deny(Reason{Rule: "engine", Source: source, Field: field, Invalid: true, Message: fmt.Sprintf(format, args...)})
	}
	permitted := e.tier.Engines == nil || slices.Contains(e.tier.Engines, name)
	on := slices.Contains(e.rules.Engines.On, name)
	switch {
	case !slices.Contains(KnownEngines(), name):
		bad("engine", "request", "unknown engine %q; accepted are %s", quote.Clip(name, 40),
			strings.Join(KnownEngines(), ", "))
	case (!on || !permitted) && e.rules.Engines.Fallback:
	case !on:
		bad("engine", builtIn, "%q is not turned on here; use quickjs, or have the setting ENGINES=quickjs,%s turn it on",
			name, name)
	case !permitted:
		bad("engine", e.tier.Source, "policy %q permits only %s", e.tier.Name, strings.Join(e.tier.Engines, ", "))
	case len(e.request.QuickJSOnly) > 0:
		field := e.request.QuickJSOnly[0]
		bad(field, "request", "%s needs the engine quickjs: %s has no ticks, replay or reports", field, name)
	default:
		e.grants.Engine = name
	}
	return nil
}
