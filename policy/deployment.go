package policy

import (
	_ "embed" // the JSON Schema
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

const maxDeploymentBytes = 1 << 20

//go:embed deployment.schema.json
var deploymentSchema []byte

// DeploymentSchema gives the JSON Schema (draft 2020-12) of the deployment's policy file, for editors and for checks before
// a roll-out. The caller owns it.
func DeploymentSchema() []byte { return slices.Clone(deploymentSchema) }

// ParseDeployment reads a deployment's policy file over the built-in tiers. The error joins a *DeploymentError for every
// fault, with file, line and reason; then there is no Set, and whoever reloads keeps the old one.
//
// The file can tighten the built-in tiers (loosening one is a fault), add tiers, open hosts, name secrets with the hosts
// they may go to, restrict everybody or single tenants, set tenants' quotas, and forbid categories and patterns.
func ParseDeployment(filename string, text []byte) (*Set, error) {
	d := &document{file: filename}
	s := Default()
	if len(text) > maxDeploymentBytes {
		d.fail(&yaml.Node{}, "has %d bytes; at most %d are accepted", len(text), maxDeploymentBytes)
		return nil, errors.Join(d.errs...)
	}
	if root := d.root(text); root != nil {
		s.deployment = layer{rule: "deployment", source: filename}
		d.fields(root, "the policy file", map[string]func(*yaml.Node){
			"version": d.version,
			"tiers":   func(n *yaml.Node) { d.tiers(n, s) },
			"hosts": func(n *yaml.Node) {
				s.hosts, s.hostsFrom = d.hosts(n), d.at(n)
			},
			"secrets": func(n *yaml.Node) { d.secrets(n, s) },
			"allow":   func(n *yaml.Node) { d.layer(n, "allow", &s.deployment, nil) },
			"tenants": func(n *yaml.Node) { d.tenants(n, s) },
			"forbid":  func(n *yaml.Node) { d.forbid(n, s) },
		})
		d.references(root, s)
	}
	if len(d.errs) > 0 {
		return nil, errors.Join(d.errs...)
	}
	return s, nil
}

func (d *document) hosts(n *yaml.Node) []string {
	out := []string{}
	for _, h := range d.list(n, "hosts") {
		p, err := parseHost(h)
		if err != nil {
			d.fail(n, "%v", err)
			continue
		}
		out = append(out, p)
	}
	return out
}

func (d *document) secrets(n *yaml.Node, s *Set) {
	s.secrets = map[string]secretRule{}
	d.entries(n, "secrets", func(key, value *yaml.Node) {
		if !isIdentifier(key.Value) {
			d.fail(key, "a secret's name is letters, digits and _; got %q", clip(key.Value, 60))
		}
		hosts := d.hosts(value)
		if len(hosts) == 0 {
			d.fail(value, "secret %q needs the hosts it may be sent to", clip(key.Value, 60))
		}
		s.secrets[key.Value] = secretRule{hosts: hosts, source: d.at(key)}
	})
}

// layer reads what one source restricts.
func (d *document) layer(n *yaml.Node, what string, l *layer, more map[string]func(*yaml.Node)) {
	l.source = d.at(n)
	known := map[string]func(*yaml.Node){
		"tiers":   func(n *yaml.Node) { l.tiers = d.list(n, "tiers") },
		"hosts":   func(n *yaml.Node) { l.hosts = d.hosts(n) },
		"secrets": func(n *yaml.Node) { l.secrets = d.list(n, "secrets") },
		"tools":   func(n *yaml.Node) { l.tools = d.list(n, "tools") },
		"modules": func(n *yaml.Node) { l.modules = d.list(n, "modules") },
		"limits":  func(n *yaml.Node) { d.limits(n, &l.limits) },
	}
	for name, read := range more {
		known[name] = read
	}
	d.fields(n, what, known)
}

func (d *document) limits(n *yaml.Node, l *limits) {
	d.fields(n, "limits", map[string]func(*yaml.Node){
		"timeout":    func(n *yaml.Node) { l.timeout = d.duration(n, "timeout") },
		"cpu":        func(n *yaml.Node) { l.cpu = d.duration(n, "cpu") },
		"memory":     func(n *yaml.Node) { l.memoryBytes = d.size(n, "memory") },
		"output":     func(n *yaml.Node) { l.outputBytes = d.size(n, "output") },
		"code":       func(n *yaml.Node) { l.codeBytes = int(d.size(n, "code")) },
		"logEntries": func(n *yaml.Node) { l.logEntries = d.count(n, "logEntries") },
		"logChars":   func(n *yaml.Node) { l.logChars = d.count(n, "logChars") },
		"apiCalls":   func(n *yaml.Node) { l.apiCalls = d.count(n, "apiCalls") },
	})
}

func (d *document) tenants(n *yaml.Node, s *Set) {
	s.tenants = map[string]layer{}
	d.entries(n, "tenants", func(key, value *yaml.Node) {
		l := layer{rule: "tenant"}
		d.layer(value, "tenant "+clip(key.Value, 60), &l, map[string]func(*yaml.Node){
			"quota": func(n *yaml.Node) {
				d.fields(n, "quota", map[string]func(*yaml.Node){
					"concurrent": func(n *yaml.Node) { l.quota.Concurrent = d.count(n, "concurrent") },
					"perMinute":  func(n *yaml.Node) { l.quota.PerMinute = d.count(n, "perMinute") },
					"perDay":     func(n *yaml.Node) { l.quota.PerDay = d.count(n, "perDay") },
					"storage":    func(n *yaml.Node) { d.storage(n, &l.quota.Storage) },
				})
			},
		})
		l.source = d.at(key)
		s.tenants[key.Value] = l
	})
}

// storage reads what a tenant may keep.
func (d *document) storage(n *yaml.Node, s *Storage) {
	known := map[string]func(*yaml.Node){
		"schedules": func(n *yaml.Node) { s.Schedules = int64(d.count(n, "schedules")) },
	}
	for name, bytes := range map[string]*int64{
		"functions": &s.Functions, "jobs": &s.Jobs, "results": &s.Results, "deliveries": &s.Deliveries, "keys": &s.Keys,
	} {
		known[name] = func(n *yaml.Node) { *bytes = d.size(n, name) }
	}
	for name, age := range map[string]*time.Duration{"keepResults": &s.KeepResults, "keepEvents": &s.KeepEvents, "keepKeys": &s.KeepKeys} {
		known[name] = func(n *yaml.Node) { *age = d.duration(n, name) }
	}
	d.fields(n, "storage", known)
}

func (d *document) forbid(n *yaml.Node, s *Set) {
	d.fields(n, "forbid", map[string]func(*yaml.Node){
		"categories": func(n *yaml.Node) {
			for _, item := range n.Content {
				c := d.choice(item, "a forbidden category", append(Categories(), Unanalysed)...)
				s.forbidden = append(s.forbidden, forbiddenCategory{c, d.at(item)})
			}
			d.list(n, "categories")
		},
		"lists": func(n *yaml.Node) {
			for _, item := range n.Content {
				if d.choice(item, "a list of patterns", "legacy") != "" {
					for _, p := range legacyPatterns() {
						s.patterns = append(s.patterns, pattern{p.name, d.at(item), regexp.MustCompile(p.expr)})
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
				d.pattern(item, s)
			}
		},
	})
}

func (d *document) pattern(n *yaml.Node, s *Set) {
	p := pattern{source: d.at(n)}
	faults := len(d.errs)
	d.fields(n, "a pattern", map[string]func(*yaml.Node){
		"name": func(n *yaml.Node) { p.name = d.text(n, "name") },
		"pattern": func(n *yaml.Node) {
			expr, err := regexp.Compile(d.text(n, "pattern"))
			if err != nil {
				d.fail(n, "pattern is no RE2 regular expression: %v", err)
			}
			p.expr = expr
		},
	})
	if p.name == "" || p.expr == nil {
		if len(d.errs) == faults {
			d.fail(n, "a pattern needs a name and a pattern")
		}
		return
	}
	s.patterns = append(s.patterns, p)
}

// references checks the names that point at other parts of the file, once all of it is read.
func (d *document) references(root *yaml.Node, s *Set) {
	check := func(n *yaml.Node, l layer, what string) {
		for _, t := range l.tiers {
			if s.find(t) == nil {
				d.fail(n, "%s names the unknown tier %q; there are %s", what, clip(t, 60), s.tierNames())
			}
		}
		for _, name := range l.secrets {
			if _, ok := s.secrets[name]; !ok {
				d.fail(n, "%s names the unknown secret %q; declare it under secrets", what, clip(name, 60))
			}
		}
		for _, h := range l.hosts {
			if len(s.hosts) > 0 && len(meetHosts(s.hosts, []string{h})) == 0 && !s.anyPublic() {
				d.fail(n, "%s names the host %q, which is not among hosts", what, clip(h, 60))
			}
		}
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		switch n := root.Content[i+1]; root.Content[i].Value {
		case "allow":
			check(n, s.deployment, "allow")
		case "tenants":
			for j := 0; n.Kind == yaml.MappingNode && j+1 < len(n.Content); j += 2 {
				check(n.Content[j], s.tenants[n.Content[j].Value], "tenant "+clip(n.Content[j].Value, 60))
			}
		}
	}
}

// anyPublic reports whether some tier reaches hosts that the deployment does not list.
func (s *Set) anyPublic() bool {
	return slices.ContainsFunc(s.tiers, func(t namedTier) bool { return t.Network == NetworkPublic })
}

func sortedList(names []string) string {
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// legacyPatterns is the blacklist of plain patterns that older sandboxes apply to the text of the code, comments and
// strings included: no modules, no process, no paths, no code from strings, no timers.
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
