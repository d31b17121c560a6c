package deployment

import (
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/depth"
	"github.com/airlock-run/airlock/policy/internal/quote"
	"github.com/airlock-run/airlock/policy/scan"
	"github.com/airlock-run/airlock/policy/threat"
)

// The ceilings of a tier that a deployment adds: the most that one function process can provide.
const (
	ceilingTimeout = 15 * time.Minute
	ceilingMemory  = 1 << 30
	ceilingOutput  = 16 << 20
	ceilingCode    = policy.MaxCodeBytes
	ceilingEntries = 10_000
	ceilingChars   = 100_000
	ceilingCalls   = 10_000
	ceilingPending = 1024
	ceilingAge     = 365 * 24 * time.Hour
	ceilingImage   = 64 << 20
)

func (d *document) tiers(n *yaml.Node, r *policy.Rules) {
	d.entries(n, "tiers", func(key, value *yaml.Node) {
		if built := r.Tier(key.Value); built != nil && built.IsBuiltin() {
			before := built.Tier
			built.Tier = d.tier(value, before, false)
			built.Source = d.at(key)
			d.tightened(value, before, built.Tier)
			return
		}
		if !isTierName(key.Value) {
			d.fail(key, "a tier's name is letters, digits, - and _; got %q", quote.Clip(key.Value, 60))
		}
		base := d.base(value)
		added := d.tier(value, base, true)
		added.Name, added.Base = key.Value, base.Name
		d.ceilings(value, added)
		r.Tiers = append(r.Tiers, policy.SourcedTier{Tier: added, Source: d.at(key)})
	})
}

// base returns the built-in tier that an added one starts from. The default is strict.
func (d *document) base(n *yaml.Node) policy.Tier {
	tiers := policy.Builtin()
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "base" {
			for _, t := range tiers {
				if t.Name == n.Content[i+1].Value {
					return t
				}
			}
			d.fail(n.Content[i+1], "base must be a built-in tier: strict, standard, extended or agent")
		}
	}
	return tiers[0]
}

// tier reads a tier over the one that it starts from.
func (d *document) tier(n *yaml.Node, t policy.Tier, added bool) policy.Tier {
	cpuSet := false
	known := map[string]func(*yaml.Node){
		"timeout":    func(n *yaml.Node) { t.Timeout = d.duration(n, "timeout") },
		"cpu":        func(n *yaml.Node) { t.CPU, cpuSet = d.duration(n, "cpu"), true },
		"memory":     func(n *yaml.Node) { t.MemoryBytes = d.size(n, "memory") },
		"network":    func(n *yaml.Node) { t.Network = d.choice(n, "network", policy.Networks()...) },
		"files":      func(n *yaml.Node) { t.Files = d.choice(n, "files", policy.FileAccesses()...) },
		"eval":       func(n *yaml.Node) { t.Eval = d.boolean(n, "eval") },
		"modules":    func(n *yaml.Node) { t.Modules = d.list(n, "modules") },
		"packages":   func(n *yaml.Node) { t.Packages = d.list(n, "packages") },
		"output":     func(n *yaml.Node) { t.OutputBytes = d.size(n, "output") },
		"logEntries": func(n *yaml.Node) { t.LogEntries = d.count(n, "logEntries") },
		"logChars":   func(n *yaml.Node) { t.LogChars = d.count(n, "logChars") },
		"apiCalls":   func(n *yaml.Node) { t.APICalls = d.count(n, "apiCalls") },
		"depth":      func(n *yaml.Node) { t.Depth = d.count(n, "depth") },
		"code":       func(n *yaml.Node) { t.CodeBytes = int(d.size(n, "code")) },
		"engines":    func(n *yaml.Node) { t.Engines = d.list(n, "engines") },
		"block":      func(n *yaml.Node) { t.BlockLevel = d.choice(n, "block", blockLevels()...) },
		"waits":      func(n *yaml.Node) { t.Waits = d.waits(n, t.Waits) },
	}
	if added {
		known["base"] = func(*yaml.Node) {} // read before
	}
	d.fields(n, "a tier", known)
	if !cpuSet {
		t.CPU = t.Timeout
	}
	if t.CPU > t.Timeout {
		d.fail(n, "cpu %s is more than timeout %s", t.CPU, t.Timeout)
	}
	if t.Engines != nil {
		for _, name := range t.Engines {
			if !slices.Contains(policy.KnownEngines(), name) {
				d.fail(n, "engine %q is unknown; known are %s", quote.Clip(name, 60), strings.Join(policy.KnownEngines(), ", "))
			}
		}
		if !slices.Contains(t.Engines, policy.QuickJS) {
			d.fail(n, "engines must contain %s, which runs code that names no engine", policy.QuickJS)
		}
	}
	for _, m := range t.Modules {
		if scan.NeverProvided(m) {
			d.fail(n, "module %q is never provided", quote.Clip(m, 60))
		}
	}
	return t
}

// waits reads how executions of a tier may wait: a mapping, or none.
func (d *document) waits(n *yaml.Node, w policy.Waits) policy.Waits {
	if n.Kind == yaml.ScalarNode && n.Value == "none" {
		return policy.Waits{}
	}
	d.fields(n, "waits", map[string]func(*yaml.Node){
		"maxPending":             func(n *yaml.Node) { w.MaxPending = d.count(n, "maxPending") },
		"maxAge":                 func(n *yaml.Node) { w.MaxAge = d.duration(n, "maxAge") },
		"maxImageBytes":          func(n *yaml.Node) { w.MaxImageBytes = d.size(n, "maxImageBytes") },
		"approverIsNotRequester": func(n *yaml.Node) { w.ApproverIsNotRequester = d.boolean(n, "approverIsNotRequester") },
	})
	if w.MaxPending > 0 && (w.MaxAge <= 0 || w.MaxImageBytes <= 0) {
		d.fail(n, "waits with maxPending needs maxAge and maxImageBytes")
	}
	return w
}

// tightened refuses a built-in tier that was loosened anywhere.
func (d *document) tightened(n *yaml.Node, before, after policy.Tier) {
	refuse := func(field string, loosened bool) {
		if loosened {
			d.fail(fieldNode(n, field),
				"%s of the built-in tier %s may only be tightened; add a tier of your own instead", field, before.Name)
		}
	}
	refuse("timeout", after.Timeout > before.Timeout)
	refuse("cpu", after.CPU > before.CPU && after.Timeout <= before.Timeout)
	refuse("memory", after.MemoryBytes > before.MemoryBytes)
	networks, accesses := policy.Networks(), policy.FileAccesses()
	refuse("network", slices.Index(networks, after.Network) > slices.Index(networks, before.Network))
	refuse("files", slices.Index(accesses, after.Files) > slices.Index(accesses, before.Files))
	refuse("eval", after.Eval && !before.Eval)
	refuse("modules", slices.ContainsFunc(after.Modules, func(m string) bool {
		return !scan.HasModule(before.Modules, m)
	}))
	refuse("packages", slices.ContainsFunc(after.Packages, func(p string) bool {
		return !slices.Contains(before.Packages, policy.AnyPackage) && !slices.Contains(before.Packages, p)
	}))
	refuse("output", after.OutputBytes > before.OutputBytes)
	refuse("logEntries", after.LogEntries > before.LogEntries)
	refuse("logChars", after.LogChars > before.LogChars)
	refuse("apiCalls", after.APICalls > before.APICalls)
	refuse("depth", after.Depth > before.Depth)
	refuse("code", after.CodeBytes > before.CodeBytes)
	refuse("block", threat.Rank(after.BlockLevel) > threat.Rank(before.BlockLevel))
	w, b := after.Waits, before.Waits
	refuse("waits.maxPending", w.MaxPending > b.MaxPending)
	refuse("waits.maxAge", w.MaxAge > b.MaxAge)
	refuse("waits.maxImageBytes", w.MaxImageBytes > b.MaxImageBytes)
	refuse("waits.approverIsNotRequester", b.ApproverIsNotRequester && !w.ApproverIsNotRequester)
}

func (d *document) ceilings(n *yaml.Node, t policy.Tier) {
	refuse := func(field string, over bool, most any) {
		if over {
			d.fail(fieldNode(n, field), "%s is too large: at most %v is accepted", field, most)
		}
	}
	refuse("timeout", t.Timeout > ceilingTimeout, ceilingTimeout)
	refuse("memory", t.MemoryBytes > ceilingMemory, "1gb")
	refuse("output", t.OutputBytes > ceilingOutput, "16mb")
	refuse("code", t.CodeBytes > ceilingCode, "4mb")
	refuse("logEntries", t.LogEntries > ceilingEntries, ceilingEntries)
	refuse("logChars", t.LogChars > ceilingChars, ceilingChars)
	refuse("apiCalls", t.APICalls > ceilingCalls, ceilingCalls)
	refuse("depth", t.Depth > depth.Ceiling, depth.Ceiling)
	refuse("waits.maxPending", t.Waits.MaxPending > ceilingPending, ceilingPending)
	refuse("waits.maxAge", t.Waits.MaxAge > ceilingAge, ceilingAge)
	refuse("waits.maxImageBytes", t.Waits.MaxImageBytes > ceilingImage, "64mb")
}

// fieldNode returns the key of a field, such as "cpu" or "waits.maxAge", or the innermost mapping that should have it.
func fieldNode(n *yaml.Node, field string) *yaml.Node {
	name, inner, nested := strings.Cut(field, ".")
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		switch {
		case n.Content[i].Value != name:
		case nested:
			return fieldNode(n.Content[i+1], inner)
		default:
			return n.Content[i]
		}
	}
	return n
}

func blockLevels() []string { return []string{threat.Low, threat.Medium, threat.High, threat.Critical} }

func isTierName(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	return s != "" && len(s) <= 64 && strings.Trim(s, letters) == ""
}
