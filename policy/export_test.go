package policy

// WithCheck returns a Set with one more check, for tests of a check that fails.
func (s *Set) WithCheck(name string, run func() error) *Set {
	out := *s
	out.checks = append(standardChecks(), check{name, func(*evaluation) error { return run() }})
	return &out
}
