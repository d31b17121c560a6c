package deployment

import (
	_ "embed" // the JSON Schema
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/address"
	"github.com/airlock-run/airlock/policy/internal/quote"
	"github.com/airlock-run/airlock/policy/threat"
)

const maxBytes = 1 << 20

//go:embed deployment.schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of the policy file, for editors and for checks before a roll-out. The
// caller owns it.
func Schema() []byte { return slices.Clone(schema) }

// Parse reads a policy file over the built-in tiers and returns the set of its rules. The error joins an [*Error] for
// every fault, with file, line and reason; the Set is then nil, and a server that reloads its file keeps the old one.
//
// The file can tighten the built-in tiers (loosening one is a fault), add tiers, open hosts, name secrets with the
// hosts they may go to, restrict everybody or single tenants, set tenants' quotas, and forbid categories and patterns.
func Parse(filename string, content []byte) (*policy.Set, error) {
	d := &document{file: filename}
	r := policy.BuiltinRules()
	if len(content) > maxBytes {
		d.fail(&yaml.Node{}, "has %d bytes; at most %d are accepted", len(content), maxBytes)
		return nil, errors.Join(d.errs...)
	}
	if root := d.root(content); root != nil {
		r.Everybody = policy.Layer{Rule: "deployment", Source: filename}
		d.fields(root, "the policy file", map[string]func(*yaml.Node){
			"version": d.version,
			"tiers":   func(n *yaml.Node) { d.tiers(n, &r) },
			"hosts":   func(n *yaml.Node) { r.Hosts, r.HostsFrom = d.hosts(n), d.at(n) },
			"secrets": func(n *yaml.Node) { d.secrets(n, &r) },
			"allow":   func(n *yaml.Node) { d.layer(n, "allow", &r.Everybody, nil) },
			"tenants": func(n *yaml.Node) { d.tenants(n, &r) },
			"forbid":  func(n *yaml.Node) { d.forbid(n, &r) },
		})
		d.references(root, &r)
	}
	if len(d.errs) > 0 {
		return nil, errors.Join(d.errs...)
	}
	return policy.New(r), nil
}

func (d *document) hosts(n *yaml.Node) []string {
	out := []string{}
	for _, h := range d.list(n, "hosts") {
		p, err := address.ParsePattern(h)
		if err != nil {
			d.fail(n, "%v", err)
			continue
		}
		out = append(out, p)
	}
	return out
}

func (d *document) secrets(n *yaml.Node, r *policy.Rules) {
	r.Secrets = map[string]policy.Secret{}
	d.entries(n, "secrets", func(key, value *yaml.Node) {
		if !isSecretName(key.Value) {
			d.fail(key, "a secret's name is letters, digits and _; got %q", quote.Clip(key.Value, 60))
		}
		hosts := d.hosts(value)
		if len(hosts) == 0 {
			d.fail(value, "secret %q needs the hosts it may be sent to", quote.Clip(key.Value, 60))
		}
		r.Secrets[key.Value] = policy.Secret{Hosts: hosts, Source: d.at(key)}
	})
}

// layer reads the restrictions of one source.
func (d *document) layer(n *yaml.Node, what string, l *policy.Layer, more map[string]func(*yaml.Node)) {
	l.Source = d.at(n)
	known := map[string]func(*yaml.Node){
		"tiers":   func(n *yaml.Node) { l.Tiers = d.list(n, "tiers") },
		"hosts":   func(n *yaml.Node) { l.Hosts = d.hosts(n) },
		"secrets": func(n *yaml.Node) { l.Secrets = d.list(n, "secrets") },
		"tools":   func(n *yaml.Node) { l.Tools = d.list(n, "tools") },
		"modules": func(n *yaml.Node) { l.Modules = d.list(n, "modules") },
		"limits":  func(n *yaml.Node) { d.limits(n, &l.Limits) },
	}
	for name, read := range more {
		known[name] = read
	}
	d.fields(n, what, known)
}

func (d *document) limits(n *yaml.Node, l *policy.Limits) {
	d.fields(n, "limits", map[string]func(*yaml.Node){
		"timeout":    func(n *yaml.Node) { l.Timeout = d.duration(n, "timeout") },
		"cpu":        func(n *yaml.Node) { l.CPU = d.duration(n, "cpu") },
		"memory":     func(n *yaml.Node) { l.MemoryBytes = d.size(n, "memory") },
		"output":     func(n *yaml.Node) { l.OutputBytes = d.size(n, "output") },
		"code":       func(n *yaml.Node) { l.CodeBytes = int(d.size(n, "code")) },
		"logEntries": func(n *yaml.Node) { l.LogEntries = d.count(n, "logEntries") },
		"logChars":   func(n *yaml.Node) { l.LogChars = d.count(n, "logChars") },
		"apiCalls":   func(n *yaml.Node) { l.APICalls = d.count(n, "apiCalls") },
	})
}

func (d *document) tenants(n *yaml.Node, r *policy.Rules) {
	r.Tenants = map[string]policy.Layer{}
	d.entries(n, "tenants", func(key, value *yaml.Node) {
		l := policy.Layer{Rule: "tenant"}
		d.layer(value, "tenant "+quote.Clip(key.Value, 60), &l, map[string]func(*yaml.Node){
			"quota": func(n *yaml.Node) {
				d.fields(n, "quota", map[string]func(*yaml.Node){
					"concurrent": func(n *yaml.Node) { l.Quota.Concurrent = d.count(n, "concurrent") },
					"perMinute":  func(n *yaml.Node) { l.Quota.PerMinute = d.count(n, "perMinute") },
					"perDay":     func(n *yaml.Node) { l.Quota.PerDay = d.count(n, "perDay") },
					"storage":    func(n *yaml.Node) { d.storage(n, &l.Quota.Storage) },
				})
			},
		})
		l.Source = d.at(key)
		r.Tenants[key.Value] = l
	})
}

// storage reads the bounds on what a tenant may keep.
func (d *document) storage(n *yaml.Node, s *policy.Storage) {
	known := map[string]func(*yaml.Node){
		"schedules": func(n *yaml.Node) { s.Schedules = int64(d.count(n, "schedules")) },
	}
	for name, bytes := range map[string]*int64{
		"functions": &s.Functions, "jobs": &s.Jobs, "results": &s.Results, "deliveries": &s.Deliveries, "keys": &s.Keys,
	} {
		known[name] = func(n *yaml.Node) { *bytes = d.size(n, name) }
	}
	for name, age := range map[string]*time.Duration{
		"keepResults": &s.KeepResults, "keepEvents": &s.KeepEvents, "keepKeys": &s.KeepKeys,
	} {
		known[name] = func(n *yaml.Node) { *age = d.duration(n, name) }
	}
	d.fields(n, "storage", known)
}

func (d *document) forbid(n *yaml.Node, r *policy.Rules) {
	d.fields(n, "forbid", map[string]func(*yaml.Node){
		"categories": func(n *yaml.Node) {
			for _, item := range n.Content {
				c := d.choice(item, "a forbidden category", append(threat.Categories(), threat.Unanalysed)...)
				r.Forbidden = append(r.Forbidden, policy.ForbiddenCategory{Name: c, Source: d.at(item)})
			}
			d.list(n, "categories")
		},
		"lists": func(n *yaml.Node) {
			for _, item := range n.Content {
				if d.choice(item, "a list of patterns", "legacy") != "" {
					for _, p := range legacyPatterns() {
						legacy := policy.Pattern{Name: p.name, Source: d.at(item), Expr: regexp.MustCompile(p.expr)}
						r.Patterns = append(r.Patterns, legacy)
					}
				}
			}
			d.list(n, "lists")
		},
		"patterns": func(n *yaml.Node) {
			if n.Kind != yaml.SequenceNode {
				d.fail(n, "patterns must be a list")
				return
			}
			for _, item := range n.Content {
				d.pattern(item, r)
			}
		},
	})
}

func (d *document) pattern(n *yaml.Node, r *policy.Rules) {
	p := policy.Pattern{Source: d.at(n)}
	faults := len(d.errs)
	d.fields(n, "a pattern", map[string]func(*yaml.Node){
		"name": func(n *yaml.Node) { p.Name = d.text(n, "name") },
		"pattern": func(n *yaml.Node) {
			expr, err := regexp.Compile(d.text(n, "pattern"))
			if err != nil {
				d.fail(n, "pattern is not an RE2 regular expression: %v", err)
			}
			p.Expr = expr
		},
	})
	if p.Name == "" || p.Expr == nil {
		if len(d.errs) == faults {
			d.fail(n, "a pattern needs a name and a pattern")
		}
		return
	}
	r.Patterns = append(r.Patterns, p)
}

// references checks the names that refer to other parts of the file, after all of it has been read.
func (d *document) references(root *yaml.Node, r *policy.Rules) {
	check := func(n *yaml.Node, l policy.Layer, what string) {
		for _, t := range l.Tiers {
			if r.Tier(t) == nil {
				d.fail(n, "%s names the unknown tier %q; known are %s", what, quote.Clip(t, 60), r.TierNames())
			}
		}
		for _, name := range l.Secrets {
			if _, ok := r.Secrets[name]; !ok {
				d.fail(n, "%s names the unknown secret %q; declare it under secrets", what, quote.Clip(name, 60))
			}
		}
		for _, h := range l.Hosts {
			if len(r.Hosts) > 0 && len(address.Intersect(r.Hosts, []string{h})) == 0 && !anyPublic(r) {
				d.fail(n, "%s names the host %q, which is not among hosts", what, quote.Clip(h, 60))
			}
		}
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		switch n := root.Content[i+1]; root.Content[i].Value {
		case "allow":
			check(n, r.Everybody, "allow")
		case "tenants":
			for j := 0; n.Kind == yaml.MappingNode && j+1 < len(n.Content); j += 2 {
				check(n.Content[j], r.Tenants[n.Content[j].Value], "tenant "+quote.Clip(n.Content[j].Value, 60))
			}
		}
	}
}

// anyPublic reports whether some tier reaches hosts that the deployment does not list.
func anyPublic(r *policy.Rules) bool {
	return slices.ContainsFunc(r.Tiers, func(t policy.SourcedTier) bool { return t.Network == policy.NetworkPublic })
}

// isSecretName reports whether s can name a secret: it does not begin with a digit and has only bytes of JavaScript
// names.
func isSecretName(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' || c >= 0x80
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

func sortedList(names []string) string {
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// legacyPatterns returns the patterns that older sandboxes forbid in the text of the code, comments and strings
// included: no modules, no process, no paths, no code from strings, no timers.
func legacyPatterns() []struct{ name, expr string } {
	return []struct{ name, expr string }{
		{"require", `require\s*\(`},
		{"import", `import\s+`},
		{"process", `process\.`},
		{"child_process", `child_process`},
		{"__dirname", `__dirname`},
		{"eval", `eval\s*\(`},
		{"Function", `Function\s*\(`},
		{"timers", `setTimeout|setInterval`},
	}
}
