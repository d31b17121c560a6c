package policy

import "slices"

// AnyPackage in a list of packages stands for every package that the deployment has.
const AnyPackage = "*"

// WithPackages returns a Set of a deployment that has packages, by their names.
func (s *Set) WithPackages(names ...string) *Set {
	out := *s
	out.rules.Packages = slices.Clone(names)
	return &out
}

// choosePackages grants the packages of the deployment that the tier lists.
func choosePackages(e *evaluation) error {
	if e.tier == nil {
		return nil
	}
	for _, name := range e.rules.Packages {
		if slices.Contains(e.tier.Packages, AnyPackage) || slices.Contains(e.tier.Packages, name) {
			e.grants.Packages = append(e.grants.Packages, name)
		}
	}
	return nil
}
