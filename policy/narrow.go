package policy

import (
	"slices"

	"github.com/airlock-run/airlock/policy/address"
)

// Narrow returns the powers that both a and b grant, and of two limits the lower one. The tools of either may be
// patterns. The engine is that of a. So is Waits.MaxAge, which counts from the first pause of an execution and is
// decided then.
func Narrow(a, b Grants) Grants {
	out := a
	limits := Limits{
		Timeout: b.Timeout, CPU: b.CPU, MemoryBytes: b.MemoryBytes, OutputBytes: b.OutputBytes, LogEntries: b.LogEntries,
		LogChars: b.LogChars, APICalls: b.APICalls, CodeBytes: b.CodeBytes,
	}
	limits.lower(&out)
	out.Depth = min(a.Depth, b.Depth)
	out.Eval = a.Eval && b.Eval
	narrowNetwork(&out, b)
	out.Secrets, out.SecretHosts = nil, nil
	for _, name := range common(a.Secrets, b.Secrets) {
		if out.SecretHosts == nil {
			out.SecretHosts = map[string][]string{}
		}
		out.Secrets = append(out.Secrets, name)
		out.SecretHosts[name] = address.Intersect(a.SecretHosts[name], b.SecretHosts[name])
	}
	out.Tools, out.Packages = commonTools(a.Tools, b.Tools), common(a.Packages, b.Packages)
	out.Modules = slices.Clone(intersectModules(a.Modules, b.Modules))
	out.Files = weaker(FileAccesses(), a.Files, b.Files)
	out.Waits.MaxPending = min(a.Waits.MaxPending, b.Waits.MaxPending)
	out.Waits.MaxImageBytes = min(a.Waits.MaxImageBytes, b.Waits.MaxImageBytes)
	out.Waits.ApproverIsNotRequester = a.Waits.ApproverIsNotRequester || b.Waits.ApproverIsNotRequester
	return out
}

// narrowNetwork narrows the network of a to that of b.
func narrowNetwork(a *Grants, b Grants) {
	anywhere := func(g Grants) bool { return g.Network == NetworkPublic && len(g.Hosts) == 0 }
	switch {
	case anywhere(b):
		a.Hosts = slices.Clone(a.Hosts)
	case anywhere(*a):
		a.Hosts = slices.Clone(b.Hosts)
	default:
		a.Hosts = address.Intersect(a.Hosts, b.Hosts)
		if len(a.Hosts) == 0 && a.Network == NetworkPublic && b.Network == NetworkPublic {
			a.Network = NetworkNone // no host would mean any
		}
	}
	a.Network = weaker(Networks(), a.Network, b.Network)
	a.OpenedHosts = address.Intersect(a.OpenedHosts, b.OpenedHosts)
}

// weaker returns the weaker one of two degrees. A name that is no degree is the weakest one.
func weaker(degrees []string, a, b string) string {
	return degrees[max(min(slices.Index(degrees, a), slices.Index(degrees, b)), 0)]
}

// common returns the elements of a that b has, too.
func common(a, b []string) []string {
	var out []string
	for _, s := range a {
		if slices.Contains(b, s) {
			out = append(out, s)
		}
	}
	return out
}

// commonTools returns the tools that two lists of names and patterns have in common.
func commonTools(a, b []string) []string {
	var out []string
	for _, x := range a {
		if toolAllowed(b, x) {
			out = append(out, x)
			continue
		}
		for _, y := range b {
			if toolAllowed([]string{x}, y) {
				out = append(out, y)
			}
		}
	}
	return out
}
