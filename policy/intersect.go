package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/airlock-run/airlock/policy/address"
	"github.com/airlock-run/airlock/policy/internal/quote"
)

// SavedCodeFactor multiplies the tier's limit on the size of code for saved functions, up to MaxCodeBytes.
const SavedCodeFactor = 4

// intersectLimits starts the grants with the tier's powers and limits, and lowers the limits.
func intersectLimits(e *evaluation) error {
	if e.tier == nil {
		return nil
	}
	t := e.tier.Tier
	e.grants = Grants{
		Timeout: t.Timeout, CPU: min(t.CPU, t.Timeout), MemoryBytes: t.MemoryBytes, OutputBytes: t.OutputBytes,
		LogEntries: t.LogEntries, LogChars: t.LogChars, APICalls: t.APICalls, Depth: t.Depth, CodeBytes: t.CodeBytes,
		Eval: t.Eval, Network: t.Network, Files: t.Files,
	}
	if e.request.Saved {
		e.grants.CodeBytes = min(SavedCodeFactor*e.grants.CodeBytes, max(MaxCodeBytes, e.grants.CodeBytes))
	}
	for _, l := range e.layers {
		if changed := l.Limits.lower(&e.grants); changed != nil {
			e.note(l, "lowers %s", strings.Join(changed, ", "))
		}
	}
	e.request.Limits.lower(&e.grants)
	// Zero would mean "no limit" to the code that enforces the grants.
	e.grants.Timeout = max(e.grants.Timeout, time.Millisecond)
	e.grants.CPU = max(e.grants.CPU, time.Millisecond)
	return nil
}

// intersectNetwork narrows the hosts that the tier and the deployment open to those that every layer permits.
func intersectNetwork(e *evaluation) error {
	if e.tier == nil {
		return nil
	}
	opened := e.rules.Hosts
	public := []string(nil) // nil: any
	for _, l := range e.layers {
		if l.Hosts == nil {
			continue
		}
		if e.grants.Network != NetworkNone {
			e.note(l, "restricts hosts to %s", orNone(l.Hosts))
		}
		opened = address.Intersect(opened, l.Hosts)
		if public == nil {
			public = l.Hosts
		} else {
			public = address.Intersect(public, l.Hosts)
		}
	}
	e.grants.OpenedHosts = slices.Clone(opened)
	var available []string
	switch e.grants.Network {
	case NetworkAllowlist:
		available = opened
	case NetworkPublic:
		available = public
	}
	anywhere := e.grants.Network == NetworkPublic && public == nil
	if len(e.request.Hosts) == 0 {
		e.grants.Hosts = slices.Clone(available)
		if e.grants.Network == NetworkPublic && public != nil && len(public) == 0 {
			e.grants.Network = NetworkNone
		}
		return nil
	}
	for i, h := range e.request.Hosts {
		if !anywhere && !address.Cover(available, h) {
			e.deny(Reason{Rule: "hosts", Source: e.hostsFrom(h), Field: fmt.Sprintf("hosts[%d]", i),
				Message: fmt.Sprintf("host %q is not available under policy %q: %s",
					quote.Clip(h, 80), e.tier.Name, e.whyNoHost())})
		}
		e.grants.Hosts = append(e.grants.Hosts, strings.ToLower(h))
	}
	return nil
}

// hostsFrom returns the place of the rule that makes a host unavailable: the tier if it has no network, otherwise the
// first layer that does not list the host, otherwise the setting that opens hosts.
func (e *evaluation) hostsFrom(host string) string {
	if e.grants.Network == NetworkNone {
		return e.tier.Source
	}
	for _, l := range e.layers {
		if l.Hosts != nil && !address.Cover(l.Hosts, host) {
			return l.Source
		}
	}
	return cmp.Or(e.rules.HostsFrom, e.tier.Source)
}

// whyNoHost returns the end of the message about a host that is not available.
func (e *evaluation) whyNoHost() string {
	switch {
	case e.grants.Network == NetworkNone:
		return "it has no network"
	case e.grants.Network == NetworkAllowlist && len(e.rules.Hosts) == 0:
		return "the deployment opens no host"
	default:
		return "it is not among the hosts opened to this caller"
	}
}

// intersectSecrets grants the requested secrets that the deployment knows and every layer permits.
func intersectSecrets(e *evaluation) error {
	for i, name := range e.request.Secrets {
		s, known := e.rules.Secrets[name]
		source, permitted := cmp.Or(s.Source, builtIn), known
		for _, l := range e.layers {
			if l.Secrets != nil && !slices.Contains(l.Secrets, name) {
				source, permitted = l.Source, false
			}
		}
		if !permitted {
			e.deny(Reason{Rule: "secrets", Source: source, Field: fmt.Sprintf("secrets[%d]", i),
				Message: fmt.Sprintf("secret %q is not available to this caller", quote.Clip(name, 80))})
			continue
		}
		if slices.Contains(e.grants.Secrets, name) {
			continue
		}
		if e.grants.SecretHosts == nil {
			e.grants.SecretHosts = map[string][]string{}
		}
		e.grants.Secrets = append(e.grants.Secrets, name)
		e.grants.SecretHosts[name] = slices.Clone(s.Hosts)
	}
	return nil
}

// intersectTools denies tools that a layer does not list.
func intersectTools(e *evaluation) error {
	for i, name := range e.request.Tools {
		for _, l := range e.layers {
			if l.Tools != nil && !toolAllowed(l.Tools, name) {
				e.deny(Reason{Rule: "tools", Source: l.Source, Field: fmt.Sprintf("tools[%d]", i),
					Message: fmt.Sprintf("tool %q is not available to this caller", quote.Clip(name, 80))})
			}
		}
		e.grants.Tools = append(e.grants.Tools, name)
	}
	return nil
}

// chooseModules narrows the tier's modules to those that every layer and the request list.
func chooseModules(e *evaluation) error {
	if e.tier == nil {
		return nil
	}
	e.grants.Modules = e.tier.Modules
	for _, l := range e.layers {
		if l.Modules == nil {
			continue
		}
		before := e.grants.Modules
		e.grants.Modules = intersectModules(before, l.Modules)
		if !slices.Equal(e.grants.Modules, before) {
			e.note(l, "restricts modules to %s", orNone(e.grants.Modules))
		}
	}
	if e.request.Modules != nil {
		e.grants.Modules = intersectModules(e.grants.Modules, e.request.Modules)
	}
	e.grants.Modules = slices.Clone(e.grants.Modules)
	return nil
}
