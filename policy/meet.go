package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// SavedCodeFactor is how much longer the code of a saved function may be than its tier says.
const SavedCodeFactor = 4

func meetLimits(q *inquiry) error {
	if q.tier == nil {
		return nil
	}
	t := q.tier.Tier
	q.grants = Grants{
		Timeout: t.Timeout, CPU: min(t.CPU, t.Timeout), MemoryBytes: t.MemoryBytes, OutputBytes: t.OutputBytes,
		LogEntries: t.LogEntries, LogChars: t.LogChars, APICalls: t.APICalls, Depth: t.Depth, CodeBytes: t.CodeBytes,
		Eval: t.Eval, Network: t.Network, Files: t.Files,
	}
	if q.ask.Saved {
		q.grants.CodeBytes *= SavedCodeFactor
	}
	for _, l := range q.layers {
		if changed := l.limits.lower(&q.grants); changed != nil {
			q.note(l.rule, l.source, "lowers %s", strings.Join(changed, ", "))
		}
	}
	a := q.ask
	limits{
		timeout: a.Timeout, cpu: a.CPU, memoryBytes: a.MemoryBytes, outputBytes: a.OutputBytes, logEntries: a.LogEntries,
		apiCalls: a.APICalls,
	}.lower(&q.grants)
	// What rounds down to nothing would read as "no limit" further on.
	q.grants.Timeout = max(q.grants.Timeout, time.Millisecond)
	q.grants.CPU = max(q.grants.CPU, time.Millisecond)
	return nil
}

func meetNetwork(q *inquiry) error {
	if q.tier == nil {
		return nil
	}
	opened := q.set.hosts
	public := []string(nil) // nil: any
	for _, l := range q.layers {
		if l.hosts == nil {
			continue
		}
		if q.grants.Network != NetworkNone {
			q.note(l.rule, l.source, "restricts hosts to %s", or(strings.Join(l.hosts, ", "), "none"))
		}
		opened = meetHosts(opened, l.hosts)
		if public == nil {
			public = l.hosts
		} else {
			public = meetHosts(public, l.hosts)
		}
	}
	q.grants.OpenedHosts = slices.Clone(opened)
	var available []string
	switch q.grants.Network {
	case NetworkAllowlist:
		available = opened
	case NetworkPublic:
		available = public
	}
	anywhere := q.grants.Network == NetworkPublic && public == nil
	if len(q.ask.Hosts) == 0 {
		q.grants.Hosts = slices.Clone(available)
		if q.grants.Network == NetworkPublic && public != nil && len(public) == 0 {
			q.grants.Network = NetworkNone
		}
		return nil
	}
	for i, h := range q.ask.Hosts {
		if !anywhere && !covered(available, h) {
			q.deny(Reason{Rule: "hosts", Source: q.hostsFrom(h), Field: fmt.Sprintf("hosts[%d]", i),
				Message: fmt.Sprintf("host %q is not available under policy %q: %s", clip(h, 80), q.tier.Name, q.whyNoHost())})
		}
		q.grants.Hosts = append(q.grants.Hosts, strings.ToLower(h))
	}
	return nil
}

// hostsFrom names where it says that a host is not available: a tier without a network, else the first that restricts hosts
// to others, else what opens hosts.
func (q *inquiry) hostsFrom(host string) string {
	if q.grants.Network == NetworkNone {
		return q.tier.source
	}
	for _, l := range q.layers {
		if l.hosts != nil && !covered(l.hosts, host) {
			return l.source
		}
	}
	return or(q.set.hostsFrom, q.tier.source)
}

func (q *inquiry) whyNoHost() string {
	switch {
	case q.grants.Network == NetworkNone:
		return "it has no network"
	case q.grants.Network == NetworkAllowlist && len(q.set.hosts) == 0:
		return "the deployment opens no host"
	default:
		return "it is not among the hosts opened to this caller"
	}
}

func meetSecrets(q *inquiry) error {
	for i, name := range q.ask.Secrets {
		s, known := q.set.secrets[name]
		source, permitted := or(s.source, builtIn), known
		for _, l := range q.layers {
			if l.secrets != nil && !slices.Contains(l.secrets, name) {
				source, permitted = l.source, false
			}
		}
		if !permitted {
			q.deny(Reason{Rule: "secrets", Source: source, Field: fmt.Sprintf("secrets[%d]", i),
				Message: fmt.Sprintf("secret %q is not available to this caller", clip(name, 80))})
			continue
		}
		if slices.Contains(q.grants.Secrets, name) {
			continue
		}
		if q.grants.SecretHosts == nil {
			q.grants.SecretHosts = map[string][]string{}
		}
		q.grants.Secrets = append(q.grants.Secrets, name)
		q.grants.SecretHosts[name] = slices.Clone(s.hosts)
	}
	return nil
}

func meetTools(q *inquiry) error {
	for i, name := range q.ask.Tools {
		for _, l := range q.layers {
			if l.tools != nil && !toolAllowed(l.tools, name) {
				q.deny(Reason{Rule: "tools", Source: l.source, Field: fmt.Sprintf("tools[%d]", i),
					Message: fmt.Sprintf("tool %q is not available to this caller", clip(name, 80))})
			}
		}
		q.grants.Tools = append(q.grants.Tools, name)
	}
	return nil
}

func chooseModules(q *inquiry) error {
	if q.tier == nil {
		return nil
	}
	q.grants.Modules = q.tier.Modules
	for _, l := range q.layers {
		if l.modules == nil {
			continue
		}
		before := q.grants.Modules
		q.grants.Modules = meetModules(before, l.modules)
		if !slices.Equal(q.grants.Modules, before) {
			q.note(l.rule, l.source, "restricts modules to %s", or(strings.Join(q.grants.Modules, ", "), "none"))
		}
	}
	if q.ask.Modules != nil {
		q.grants.Modules = meetModules(q.grants.Modules, q.ask.Modules)
	}
	q.grants.Modules = slices.Clone(q.grants.Modules)
	return nil
}
