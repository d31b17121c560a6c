package packages

import (
	"bytes"
	"cmp"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// lock is a package-lock.json of version 3.
type lock struct {
	Name     string            `json:"name"`
	Version  int               `json:"lockfileVersion"`
	Requires bool              `json:"requires"`
	Packages map[string]*entry `json:"packages"`
}

// An entry is a package in its place. The entry "" lists the requested packages.
type entry struct {
	// Name is the package's own name where its place has another (an alias).
	Name         string            `json:"name,omitempty"`
	Version      string            `json:"version,omitempty"`
	Resolved     string            `json:"resolved,omitempty"`
	Integrity    string            `json:"integrity,omitempty"`
	Dependencies map[string]string `json:"dependencies,omitempty"`
	Peers        map[string]string `json:"peerDependencies,omitempty"`
	Scripts      bool              `json:"hasInstallScript,omitempty"`
}

const (
	modules = "node_modules/"
	// maxPackages bounds the packages of a folder, and the dependencies of one package.
	maxPackages = 1000
	// maxDepth bounds how many packages are nested in each other's folders.
	maxDepth   = 32
	maxName    = 214
	maxVersion = 256
	// maxRange bounds a range of versions or a tag.
	maxRange = 1024
)

var (
	// packageName is the registry's rule, which leaves nothing with a meaning in a path.
	packageName    = regexp.MustCompile(`^(@[a-z0-9~-][a-z0-9._~-]*/)?[a-zA-Z0-9~-][a-zA-Z0-9._~-]*$`)
	packageVersion = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)
)

// validName reports whether the registry accepts a name. It has no package with the two last names.
func validName(name string) bool {
	return len(name) <= maxName && packageName.MatchString(name) && name != "node_modules" && name != "favicon.ico"
}

func validVersion(version string) bool {
	return len(version) <= maxVersion && packageVersion.MatchString(version)
}

func newLock() *lock {
	return &lock{Name: "airlock-packages", Version: 3, Requires: true,
		Packages: map[string]*entry{"": {Dependencies: map[string]string{}}}}
}

// readLock reads a lock and refuses one that this package cannot have written.
func readLock(text []byte) (*lock, error) {
	l := &lock{}
	if err := json.Unmarshal(text, l); err != nil {
		return nil, fmt.Errorf("package-lock.json: %w", err)
	}
	root := l.Packages[""]
	if l.Version != 3 || root == nil || len(l.Packages) > maxPackages+1 {
		return nil, fmt.Errorf("package-lock.json is not of version 3, or lists more than %d packages", maxPackages)
	}
	for place, e := range l.Packages {
		if place == "" {
			continue
		}
		if e == nil || !validPlace(place) || !validVersion(e.Version) || e.Name != "" && !validName(e.Name) ||
			len(e.Dependencies) > maxPackages || len(e.Peers) > maxPackages {
			return nil, fmt.Errorf("package-lock.json has an entry %.100q without a valid name and version", place)
		}
		if _, err := digest(e.Integrity); err != nil {
			return nil, fmt.Errorf("package-lock.json: %s: %w", place, err)
		}
	}
	for name, wanted := range root.Dependencies {
		if l.Packages[modules+name] == nil || len(wanted) > maxRange {
			return nil, fmt.Errorf("package-lock.json lists %.100q but has no entry for it", name)
		}
	}
	return l, nil
}

// validPlace reports whether a place is a chain of packages, each in the folder of the one before it.
func validPlace(place string) bool {
	rest, ok := strings.CutPrefix(place, modules)
	if !ok || strings.Count(place, modules) > maxDepth {
		return false
	}
	for name := range strings.SplitSeq(rest, "/"+modules) {
		if !validName(name) {
			return false
		}
	}
	return true
}

func (l *lock) encode() ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(l)
	return b.Bytes(), err
}

// find returns the place of the package that code in the package at place means by a name, "" if there is none.
func (l *lock) find(place, name string) string {
	for {
		at := modules + name
		if place != "" {
			at = place + "/" + at
		}
		if l.Packages[at] != nil {
			return at
		}
		if place == "" {
			return ""
		}
		place = parent(place)
	}
}

// parent returns the place of the package in whose folder a package is, "" for one at the top.
func parent(place string) string {
	i := strings.LastIndex(place, "/"+modules)
	if i < 0 {
		return ""
	}
	return place[:i]
}

// nameAt returns the name by which the package at a place is imported.
func nameAt(place string) string {
	return place[strings.LastIndex("/"+place, "/"+modules)+len(modules):]
}

// closure returns the places of a package at the top and of everything that it needs, sorted.
func (l *lock) closure(name string) []string {
	seen := map[string]bool{modules + name: true}
	for queue := []string{modules + name}; len(queue) > 0; queue = queue[1:] {
		e := l.Packages[queue[0]]
		if e == nil {
			continue
		}
		for _, needs := range []map[string]string{e.Dependencies, e.Peers} {
			for dependency := range needs {
				if at := l.find(queue[0], dependency); at != "" && !seen[at] {
					seen[at] = true
					queue = append(queue, at)
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// integrity returns a hash of a package at the top and of everything that it needs.
func (l *lock) integrity(name string) string {
	sum := sha512.New()
	for _, place := range l.closure(name) {
		e := l.Packages[place]
		fmt.Fprintf(sum, "%s %s %s\n", place, e.Version, e.Integrity)
	}
	return "sha512-" + base64.StdEncoding.EncodeToString(sum.Sum(nil))
}

// prune removes the packages that no requested package needs.
func (l *lock) prune() {
	used := map[string]bool{"": true}
	for name := range l.Packages[""].Dependencies {
		for _, place := range l.closure(name) {
			used[place] = true
		}
	}
	maps.DeleteFunc(l.Packages, func(place string, _ *entry) bool { return !used[place] })
}

// ownName returns the name that the package at a place has in the registry.
func (e *entry) ownName(place string) string { return cmp.Or(e.Name, nameAt(place)) }

// archiveName returns the name of an entry's file in the folder of archives. No two versions share one: neither a name
// without its scope nor a version has an @, and no name has a +.
func (e *entry) archiveName(place string) string {
	name := strings.ReplaceAll(strings.TrimPrefix(e.ownName(place), "@"), "/", "+")
	return name + "@" + e.Version + archiveEnding
}

// digest returns the SHA-512 of an integrity, which may list several hashes.
func digest(integrity string) (sum [sha512.Size]byte, err error) {
	for hash := range strings.FieldsSeq(integrity) {
		text, ok := strings.CutPrefix(hash, "sha512-")
		text, _, _ = strings.Cut(text, "?")
		if b, err := base64.StdEncoding.DecodeString(text); ok && err == nil && len(b) == len(sum) {
			copy(sum[:], b)
			return sum, nil
		}
	}
	return sum, fmt.Errorf("the integrity %.120q has no sha512", integrity)
}

// rangeOf returns a range as npm writes it, nil for any other text.
func rangeOf(wanted string) *semver.Constraints {
	if len(wanted) > maxRange {
		return nil
	}
	c, err := semver.NewConstraint(cmp.Or(strings.TrimSpace(wanted), "*"))
	if err != nil {
		return nil
	}
	return c
}

// fits reports whether a version is in a range, which may be nil.
func fits(version string, in *semver.Constraints) bool {
	if in == nil || len(version) > maxVersion {
		return false
	}
	v, err := semver.NewVersion(version)
	return err == nil && in.Check(v)
}
