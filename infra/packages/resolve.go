package packages

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha512"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/airlock-run/airlock/policy/outbound"
)

// DefaultRegistry is the registry if none is set.
const DefaultRegistry = "https://registry.npmjs.org/"

// Bounds on what a registry sends, in bytes.
const (
	maxPackument  = 128 << 20 // of its description of all versions of one package
	maxPackuments = 512 << 20 // of all descriptions together
)

// Bounds on the work that descriptions make. They are ten times what a thousand packages need.
const (
	maxNeeds    = 50_000    // dependencies of all packages, those that were replaced included
	maxCompared = 5_000_000 // versions that are compared with a range
)

// A Registry is an npm registry.
type Registry struct {
	// URL is its address, http or https.
	URL string
	// HTTP asks it; the default follows no redirect and takes at most two minutes for an answer.
	HTTP *http.Client

	known    map[string]*packument
	fetched  map[string][]byte // archives by their integrity
	read     int64             // bytes of all that is known
	compared int               // versions
	// fetchedBytes bounds fetched.
	fetchedBytes int
}

// packument is a registry's description of a package. Each version is a [release], decoded when it is chosen.
type packument struct {
	Tags     some[string]          `json:"dist-tags"`
	Versions some[json.RawMessage] `json:"versions"`
}

// maxMembers bounds the versions and the tags of one package. None has a tenth of them.
const maxMembers = 100_000

// some is an object of at most maxMembers members. They are counted before they take memory: 30 MiB can name four
// million.
type some[V any] map[string]V

// UnmarshalJSON decodes an object.
func (s *some[V]) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	switch start, err := decoder.Token(); {
	case err != nil:
		return err
	case start == nil:
		return nil
	case start != json.Delim('{'):
		return errors.New("an object is expected, and there is something else")
	}
	*s = some[V]{}
	for n := 0; decoder.More(); n++ {
		name, err := decoder.Token()
		if err == nil && n == maxMembers {
			err = fmt.Errorf("it has more than %d members", maxMembers)
		}
		if err != nil {
			return err
		}
		var v V
		if err := decoder.Decode(&v); err != nil {
			return err
		}
		(*s)[name.(string)] = v // the decoder accepts no other name
	}
	return nil
}

type release struct {
	Dependencies ranges `json:"dependencies"`
	Optional     ranges `json:"optionalDependencies"`
	Peers        ranges `json:"peerDependencies"`
	PeersMeta    some[struct {
		Optional bool `json:"optional"`
	}] `json:"peerDependenciesMeta"`
	Scripts bool `json:"hasInstallScript"`
	Dist    struct {
		Tarball   string `json:"tarball"`
		Integrity string `json:"integrity"`
	} `json:"dist"`
}

// ranges has the range of each name. Registries have packages, such as accounting, that say [] for none.
type ranges map[string]string

// UnmarshalJSON decodes an object, or an empty list.
func (r *ranges) UnmarshalJSON(text []byte) error {
	if inside, ok := bytes.CutPrefix(text, []byte("[")); ok && string(bytes.TrimSpace(inside)) == "]" {
		return nil
	}
	return json.Unmarshal(text, (*some[string])(r))
}

// need is a dependency that has no place yet.
type need struct{ place, name, wanted string }

// resolve adds the dependencies of the requested packages, in the order of their names. A package goes to the top of
// the tree, or below the one that needs it if another version is there.
func (r *Registry) resolve(ctx context.Context, l *lock) error {
	var queue []need
	add := func(place string, wanted map[string]string) {
		for _, name := range slices.Sorted(maps.Keys(wanted)) {
			queue = append(queue, need{place, name, wanted[name]})
		}
	}
	add("", l.Packages[""].Dependencies)
	kept := map[string]bool{} // places whose packages stay: what they need may have been replaced
	for seen := 1; len(queue) > 0; queue, seen = queue[1:], seen+1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if seen+len(queue) > maxNeeds {
			return fmt.Errorf("these packages have more than %d dependencies", maxNeeds)
		}
		n := queue[0]
		name, wanted := n.name, n.wanted
		if alias, ok := strings.CutPrefix(wanted, "npm:"); ok {
			name, wanted = cutRange(alias)
		}
		if !validName(n.name) || !validName(name) {
			return fmt.Errorf("%.100q is not the name of a package", n.name)
		}
		if at := l.find(n.place, n.name); at != "" {
			e := l.Packages[at]
			if cmp.Or(e.Name, n.name) == name && r.suits(ctx, name, e.Version, wanted) {
				if !kept[at] {
					kept[at] = true
					add(at, e.Dependencies)
					add(at, e.Peers)
				}
				continue
			}
		}
		version, of, err := r.choose(ctx, name, wanted)
		if err != nil {
			return err
		}
		at := modules + n.name
		if l.Packages[at] != nil && n.place != "" {
			at = n.place + "/" + at
		}
		if !validPlace(at) {
			return fmt.Errorf("%s@%s is nested in more than %d packages", name, version, maxDepth)
		}
		e := &entry{Version: version, Integrity: of.Dist.Integrity, Resolved: r.archiveURL(name, version, of.Dist.Tarball),
			Dependencies: without(of.Dependencies, of.Optional), Scripts: of.Scripts, Peers: required(of)}
		if name != n.name {
			e.Name = name
		}
		if _, err := digest(e.Integrity); err != nil {
			return fmt.Errorf("%s@%s: %w", name, version, err)
		}
		l.Packages[at], kept[at] = e, true
		if len(l.Packages) > maxPackages || len(e.Dependencies) > maxPackages || len(e.Peers) > maxPackages {
			return fmt.Errorf("these packages need more than %d packages", maxPackages)
		}
		add(at, e.Dependencies)
		add(at, e.Peers)
	}
	return nil
}

// without returns the dependencies that are required, without the optional ones.
func without(dependencies, optional map[string]string) map[string]string {
	out := maps.Clone(dependencies)
	maps.DeleteFunc(out, func(name, _ string) bool { _, ok := optional[name]; return ok })
	return out
}

func required(of *release) map[string]string {
	out := maps.Clone(of.Peers)
	maps.DeleteFunc(out, func(name, _ string) bool { return of.PeersMeta[name].Optional })
	return out
}

// suits reports whether a version is what a range or a tag means.
func (r *Registry) suits(ctx context.Context, name, version, wanted string) bool {
	in := rangeOf(wanted)
	if in != nil || version == wanted {
		return version == wanted || fits(version, in)
	}
	p, err := r.packument(ctx, name)
	return err == nil && p.Tags[wanted] == version
}

// choose returns the version of a range or a tag: the latest if it is in the range, else the highest.
func (r *Registry) choose(ctx context.Context, name, wanted string) (string, *release, error) {
	p, err := r.packument(ctx, name)
	if err != nil {
		return "", nil, err
	}
	in, version := rangeOf(wanted), ""
	if latest := p.Tags["latest"]; fits(latest, in) && p.Versions[latest] != nil {
		version = latest
	} else if version = p.Tags[cmp.Or(wanted, "latest")]; version == "" {
		if r.compared += len(p.Versions); r.compared > maxCompared {
			return "", nil, fmt.Errorf("these packages have more than %d versions to choose from", maxCompared)
		}
		version = p.highest(in)
	}
	if version == "" {
		return "", nil, fmt.Errorf("the registry has no version of %s in the range %.60q", name, wanted)
	}
	var of *release
	if text := p.Versions[version]; text != nil && validVersion(version) {
		if err := json.Unmarshal(text, &of); err != nil {
			return "", nil, fmt.Errorf("read the registry's description of %s@%s: %w", name, version, err)
		}
	}
	if of == nil {
		return "", nil, fmt.Errorf("the registry does not describe version %.60q of %s", version, name)
	}
	return version, of, nil
}

// highest returns the highest version in a range, "" if there is none.
func (p *packument) highest(in *semver.Constraints) string {
	var best *semver.Version
	for version := range p.Versions {
		if !validVersion(version) || !fits(version, in) {
			continue
		}
		if v, err := semver.StrictNewVersion(version); err == nil && (best == nil || v.GreaterThan(best)) {
			best = v
		}
	}
	if best == nil {
		return ""
	}
	return best.Original()
}

func (r *Registry) packument(ctx context.Context, name string) (*packument, error) {
	if p := r.known[name]; p != nil {
		return p, nil
	}
	text, err := r.get(ctx, strings.TrimSuffix(r.URL, "/")+"/"+url.PathEscape(name), maxPackument)
	if err != nil {
		return nil, err
	}
	if r.read += int64(len(text)); r.read > maxPackuments {
		return nil, fmt.Errorf("the registry's descriptions of these packages have more than %d bytes", maxPackuments)
	}
	p := &packument{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("read the registry's description of %s: %w", name, err)
	}
	if r.known == nil {
		r.known = map[string]*packument{}
	}
	r.known[name] = p
	return p, nil
}

// archiveURL returns where the registry has an archive, without credentials. It is never on another host than the
// registry, whatever the registry or the lock says.
func (r *Registry) archiveURL(name, version, said string) string {
	base, err := url.Parse(r.URL)
	given, err2 := url.Parse(said)
	if err != nil {
		return ""
	}
	if err2 == nil && given.Scheme == base.Scheme && given.Host == base.Host && given.User == nil {
		return said
	}
	base.User = nil
	return base.JoinPath(name, "-", path.Base(name)+"-"+version+".tgz").String()
}

// fetch returns the archive of the entry at a place, if it is the one that the registry described.
func (r *Registry) fetch(ctx context.Context, place string, e *entry) ([]byte, error) {
	if archive, ok := r.fetched[e.Integrity]; ok {
		return archive, nil
	}
	from := r.archiveURL(e.ownName(place), e.Version, e.Resolved)
	if base, err := url.Parse(r.URL); err == nil && base.User != nil {
		if at, err := url.Parse(from); err == nil {
			at.User = base.User
			from = at.String()
		}
	}
	archive, err := r.get(ctx, from, maxArchive)
	if err != nil {
		return nil, err
	}
	if err := check(archive, e.Integrity); err != nil {
		return nil, err
	}
	if r.fetchedBytes += len(archive); r.fetchedBytes <= maxArchives {
		if r.fetched == nil {
			r.fetched = map[string][]byte{}
		}
		r.fetched[e.Integrity] = archive
	}
	return archive, nil
}

func check(archive []byte, integrity string) error {
	sum, err := digest(integrity)
	if err == nil && sha512.Sum512(archive) != sum {
		err = errors.New("the archive is not the one that was pinned: its SHA-512 differs")
	}
	return err
}

func (r *Registry) get(ctx context.Context, address string, most int64) ([]byte, error) {
	client := r.HTTP
	if client == nil {
		limits := outbound.Limits{Body: maxPackument + 1, Total: 2 * time.Minute, Connections: 4}
		client = limits.Client(outbound.Options{Proxy: http.ProxyFromEnvironment, Decode: true})
	}
	body, err := outbound.Get(ctx, client, address,
		"application/vnd.npm.install-v1+json, application/json;q=0.8, */*;q=0.5", most)
	if err != nil {
		return nil, fmt.Errorf("request from the registry: %w", err)
	}
	return body, nil
}

// cutRange cuts name@range. The range may name another package, npm:name@range.
func cutRange(spec string) (name, wanted string) {
	if i := strings.LastIndex(spec, "@npm:"); i > 0 {
		return spec[:i], spec[i+1:]
	}
	if i := strings.LastIndex(spec, "@"); i > 0 {
		return spec[:i], spec[i+1:]
	}
	return spec, ""
}

// NameOf returns the name of a package that is given as name or name@range.
func NameOf(spec string) string {
	name, _ := cutRange(spec)
	return name
}
