package policy

// Ceiling returns the most that the policy grants the caller of a request under its tier, whatever code asks for. Tools
// holds patterns. A tier that the caller may not use grants nothing.
func (s *Set) Ceiling(r Request) Grants {
	e := s.evaluateUnscanned(&r)
	if len(e.decision.Violations) > 0 || e.tier == nil {
		return Grants{}
	}
	g := e.grants
	g.Tools = []string{"*"}
	secrets := s.Secrets()
	for _, l := range e.layers {
		if l.Tools != nil {
			g.Tools = commonTools(g.Tools, l.Tools)
		}
		if l.Secrets != nil {
			secrets = common(secrets, l.Secrets)
		}
	}
	g.Secrets, g.SecretHosts = secrets, map[string][]string{}
	for _, name := range secrets {
		g.SecretHosts[name] = s.rules.Secrets[name].Hosts
	}
	return g
}
