package policy

// WithRule gives a Set with one more rule, for tests of what a failing rule does.
func (s *Set) WithRule(name string, check func() error) *Set {
	out := *s
	out.rules = append(standardRules(), rule{name, func(*inquiry) error { return check() }})
	return &out
}

// Work gives what scanning the code takes, in units, and what it may take.
func (s *Set) Work(code, language string) (taken, most int) {
	by := scan{catalogue: s.reader.catalogue}
	return by.source(code, language, workFor(len(code))).work, workFor(len(code))
}
