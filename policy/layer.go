package policy

import (
	"slices"
	"strings"
	"time"
)

// layer is what one source (deployment, tenant, token, request) restricts. A nil list restricts nothing, an empty one
// leaves nothing; a zero limit is none.
type layer struct {
	rule, source string
	tiers        []string
	hosts        []string
	secrets      []string
	tools        []string
	modules      []string
	limits       limits
	quota        Quota
}

type limits struct {
	timeout, cpu time.Duration
	memoryBytes  int64
	outputBytes  int64
	logEntries   int
	logChars     int
	apiCalls     int
	codeBytes    int
}

// tokenLayer reads the scopes that concern policy.
func tokenLayer(scopes []string) layer {
	l := layer{rule: "token", source: "token"}
	for _, s := range scopes {
		kind, value, ok := strings.Cut(s, ":")
		if !ok || value == "" {
			continue
		}
		switch kind {
		case "tier":
			l.tiers = append(l.tiers, value)
		case "host":
			l.hosts = append(l.hosts, strings.ToLower(value))
		case "secret":
			l.secrets = append(l.secrets, value)
		case "tool":
			l.tools = append(l.tools, value)
		}
	}
	return l
}

// lower brings the grants' numbers down to the limits; it gives the names of those that changed.
func (l limits) lower(g *Grants) []string {
	var changed []string
	lowerTo(&g.Timeout, l.timeout, "timeout", &changed)
	lowerTo(&g.CPU, l.cpu, "cpu", &changed)
	lowerTo(&g.MemoryBytes, l.memoryBytes, "memory", &changed)
	lowerTo(&g.OutputBytes, l.outputBytes, "output", &changed)
	lowerTo(&g.LogEntries, l.logEntries, "logEntries", &changed)
	lowerTo(&g.LogChars, l.logChars, "logChars", &changed)
	lowerTo(&g.APICalls, l.apiCalls, "apiCalls", &changed)
	lowerTo(&g.CodeBytes, l.codeBytes, "code", &changed)
	g.CPU = min(g.CPU, g.Timeout)
	return changed
}

func lowerTo[T int | int64 | time.Duration](have *T, limit T, name string, changed *[]string) {
	if limit > 0 && limit < *have {
		*have = limit
		*changed = append(*changed, name)
	}
}

// toolName makes the two spellings of a tool's name one.
func toolName(s string) string { return strings.Replace(s, ":", ".", 1) }

// toolAllowed matches a tool against patterns: exact names, "namespace.*" or "*".
func toolAllowed(patterns []string, name string) bool {
	name = toolName(name)
	return slices.ContainsFunc(patterns, func(p string) bool {
		p = toolName(p)
		if ns, ok := strings.CutSuffix(p, "*"); ok {
			return strings.HasPrefix(name, ns)
		}
		return p == name
	})
}

// meetModules narrows have to want; either may hold AnyModule.
func meetModules(have, want []string) []string {
	switch {
	case slices.Contains(want, AnyModule):
		return have
	case slices.Contains(have, AnyModule):
		return want
	}
	out := []string{}
	for _, m := range have {
		if slices.Contains(want, m) {
			out = append(out, m)
		}
	}
	return out
}

func moduleGranted(modules []string, name string) bool {
	return slices.Contains(modules, AnyModule) || slices.Contains(modules, name)
}
