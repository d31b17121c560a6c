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
	e.grants.Packages = e.rules.packagesOf(&e.tier.Tier)
	return nil
}

// packagesOf returns the packages of the deployment that code of a tier may import.
func (r *Rules) packagesOf(t *Tier) []string {
	var out []string
	for _, name := range r.Packages {
		if slices.Contains(t.Packages, AnyPackage) || slices.Contains(t.Packages, name) {
			out = append(out, name)
		}
	}
	return out
}
