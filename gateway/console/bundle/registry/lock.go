package registry

import (
	"cmp"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Package is one package of a lock.
type Package struct {
	Name    string // such as @codemirror/state
	Version string
	Licence string // the SPDX identifier that the lock gives
	Sum     [sha512.Size]byte
}

// File returns the name that the package's archive has in registries.
func (p Package) File() string { return path.Base(p.Name) + "-" + p.Version + ".tgz" }

var (
	// packageName is the rule of the registry: lower case, at most one scope, nothing with a meaning in a path.
	packageName = regexp.MustCompile(`^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*$`)
	version     = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
)

// maxName is the registry's own limit for a name, in bytes.
const maxName = 214

// ReadLock returns the packages of a package-lock.json of version 3, by name. It refuses a lock that nests packages,
// links them, or leaves one without a SHA-512.
func ReadLock(text []byte) ([]Package, error) {
	var lock struct {
		Version  int `json:"lockfileVersion"`
		Packages map[string]struct {
			Version   string `json:"version"`
			Integrity string `json:"integrity"`
			Licence   string `json:"license"`
			Link      bool   `json:"link"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, fmt.Errorf("read the lock: %w", err)
	}
	if lock.Version != 3 {
		return nil, fmt.Errorf("the lock has version %d; write it with npm 7 or later, which makes version 3", lock.Version)
	}
	packages := make([]Package, 0, len(lock.Packages))
	for key, entry := range lock.Packages {
		if key == "" { // the lock's owner
			continue
		}
		name, ok := strings.CutPrefix(key, "node_modules/")
		if !ok || len(name) > maxName || !packageName.MatchString(name) || entry.Link {
			return nil, fmt.Errorf("the lock places a package at %q; it must be node_modules/NAME", key)
		}
		if !version.MatchString(entry.Version) {
			return nil, fmt.Errorf("the lock gives %s the version %q", name, entry.Version)
		}
		p := Package{Name: name, Version: entry.Version, Licence: entry.Licence}
		digest, ok := strings.CutPrefix(entry.Integrity, "sha512-")
		sum, err := base64.StdEncoding.DecodeString(digest)
		if !ok || err != nil || len(sum) != len(p.Sum) {
			return nil, fmt.Errorf("the lock gives %s no sha512 integrity", name)
		}
		copy(p.Sum[:], sum)
		packages = append(packages, p)
	}
	slices.SortFunc(packages, func(a, b Package) int { return cmp.Compare(a.Name, b.Name) })
	return packages, nil
}
