package policy

import (
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/airlock-run/airlock/policy/depth"
)

// The ceilings of a tier that a deployment adds: what one function process can be asked for at all.
const (
	ceilingTimeout = 15 * time.Minute
	ceilingMemory  = 1 << 30
	ceilingOutput  = 16 << 20
	ceilingCode    = 4 << 20
	ceilingEntries = 10_000
	ceilingChars   = 100_000
	ceilingCalls   = 10_000
)

func (d *document) tiers(n *yaml.Node, s *Set) {
	d.entries(n, "tiers", func(key, value *yaml.Node) {
		if built := s.find(key.Value); built != nil && built.source == builtIn {
			before := built.Tier.clone()
			built.Tier = d.tier(value, before, false)
			built.source = d.at(key)
			d.tightened(value, before, built.Tier)
			return
		}
		if strings.Trim(key.Value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" || key.Value == "" || len(key.Value) > 64 {
			d.fail(key, "a tier's name is letters, digits, - and _; got %q", clip(key.Value, 60))
		}
		base := d.base(value)
		added := d.tier(value, base, true)
		added.Name, added.Base = key.Value, base.Name
		d.ceilings(value, added)
		s.tiers = append(s.tiers, namedTier{added, d.at(key)})
	})
}

// base finds the built-in tier that an added one starts from: strict unless it says otherwise.
func (d *document) base(n *yaml.Node) Tier {
	tiers := Builtin()
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

// tier reads a tier over the one it starts from.
func (d *document) tier(n *yaml.Node, t Tier, added bool) Tier {
	cpuSet := false
	known := map[string]func(*yaml.Node){
		"timeout":    func(n *yaml.Node) { t.Timeout = d.duration(n, "timeout") },
		"cpu":        func(n *yaml.Node) { t.CPU, cpuSet = d.duration(n, "cpu"), true },
		"memory":     func(n *yaml.Node) { t.MemoryBytes = d.size(n, "memory") },
		"network":    func(n *yaml.Node) { t.Network = d.choice(n, "network", NetworkNone, NetworkAllowlist, NetworkPublic) },
		"files":      func(n *yaml.Node) { t.Files = d.choice(n, "files", FilesNone, FilesRead, FilesWrite) },
		"eval":       func(n *yaml.Node) { t.Eval = d.boolean(n, "eval") },
		"modules":    func(n *yaml.Node) { t.Modules = d.list(n, "modules") },
		"output":     func(n *yaml.Node) { t.OutputBytes = d.size(n, "output") },
		"logEntries": func(n *yaml.Node) { t.LogEntries = d.count(n, "logEntries") },
		"logChars":   func(n *yaml.Node) { t.LogChars = d.count(n, "logChars") },
		"apiCalls":   func(n *yaml.Node) { t.APICalls = d.count(n, "apiCalls") },
		"depth":      func(n *yaml.Node) { t.Depth = d.count(n, "depth") },
		"code":       func(n *yaml.Node) { t.CodeBytes = int(d.size(n, "code")) },
		"block":      func(n *yaml.Node) { t.BlockLevel = d.choice(n, "block", Low, Medium, High, Critical) },
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
	for _, m := range t.Modules {
		if neverProvided(m) {
			d.fail(n, "module %q is never provided", clip(m, 60))
		}
	}
	return t
}

// tightened refuses a built-in tier that was loosened anywhere.
func (d *document) tightened(n *yaml.Node, before, after Tier) {
	refuse := func(field string, loosened bool) {
		if loosened {
			d.fail(fieldNode(n, field), "%s of the built-in tier %s may only be tightened; add a tier of your own instead", field, before.Name)
		}
	}
	refuse("timeout", after.Timeout > before.Timeout)
	refuse("cpu", after.CPU > before.CPU && after.Timeout <= before.Timeout)
	refuse("memory", after.MemoryBytes > before.MemoryBytes)
	refuse("network", rankOf(after.Network) > rankOf(before.Network))
	refuse("files", rankOf(after.Files) > rankOf(before.Files))
	refuse("eval", after.Eval && !before.Eval)
	refuse("modules", slices.ContainsFunc(after.Modules, func(m string) bool { return !moduleGranted(before.Modules, m) }))
	refuse("output", after.OutputBytes > before.OutputBytes)
	refuse("logEntries", after.LogEntries > before.LogEntries)
	refuse("logChars", after.LogChars > before.LogChars)
	refuse("apiCalls", after.APICalls > before.APICalls)
	refuse("depth", after.Depth > before.Depth)
	refuse("code", after.CodeBytes > before.CodeBytes)
	refuse("block", levelRank(after.BlockLevel) > levelRank(before.BlockLevel))
}

func (d *document) ceilings(n *yaml.Node, t Tier) {
	refuse := func(field string, over bool, most any) {
		if over {
			d.fail(fieldNode(n, field), "%s is more than an execution can have: at most %v", field, most)
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
}

// fieldNode gives the place of a field, or of the mapping when the field is not there.
func fieldNode(n *yaml.Node, field string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == field {
			return n.Content[i]
		}
	}
	return n
}

func rankOf(grant string) int {
	switch grant {
	case NetworkAllowlist, FilesRead:
		return 1
	case NetworkPublic, FilesWrite:
		return 2
	}
	return 0
}
