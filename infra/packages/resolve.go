package packages

import (
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

// DefaultRegistry is the registry that is asked where none is set.
const DefaultRegistry = "https://registry.npmjs.org/"

// maxPackument bounds the registry's description of all versions of one package.
const maxPackument = 64 << 20

// A Registry is an npm registry.
type Registry struct {
	// URL is its address, http or https.
	URL string
	// HTTP asks it; the default follows no redirect and takes at most two minutes for an answer.
	HTTP *http.Client

	known map[string]*packument
}

// packument is what a registry says of a package.
type packument struct {
	Tags     map[string]string   `json:"dist-tags"`
	Versions map[string]*release `json:"versions"`
}

type release struct {
	Dependencies map[string]string `json:"dependencies"`
	Optional     map[string]string `json:"optionalDependencies"`
	Peers        map[string]string `json:"peerDependencies"`
	PeersMeta    map[string]struct {
		Optional bool `json:"optional"`
	} `json:"peerDependenciesMeta"`
	Scripts bool `json:"hasInstallScript"`
	Dist    struct {
		Tarball   string `json:"tarball"`
		Integrity string `json:"integrity"`
	} `json:"dist"`
}

// need is a dependency that waits for its place.
type need struct{ place, name, wanted string }

// resolve adds what the packages that were asked for need, in the order of their names. A package goes to the top of
// the tree, or below the one that needs it if another version is there.
func (r *Registry) resolve(ctx context.Context, l *lock) error {
	var queue []need
	add := func(place string, wanted map[string]string) {
		for _, name := range slices.Sorted(maps.Keys(wanted)) {
			queue = append(queue, need{place, name, wanted[name]})
		}
	}
	add("", l.Packages[""].Dependencies)
	for ; len(queue) > 0; queue = queue[1:] {
		n := queue[0]
		name, wanted := n.name, n.wanted
		if alias, ok := strings.CutPrefix(wanted, "npm:"); ok {
			name, wanted = cutRange(alias)
		}
		if !validName(n.name) || !validName(name) {
			return fmt.Errorf("%.100q is no name of a package", n.name)
		}
		if at := l.find(n.place, n.name); at != "" {
			e := l.Packages[at]
			if cmp.Or(e.Name, n.name) == name && r.suits(ctx, name, e.Version, wanted) {
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
		e := &entry{Version: version, Integrity: of.Dist.Integrity, Resolved: r.archiveURL(name, version, of),
			Dependencies: without(of.Dependencies, of.Optional), Scripts: of.Scripts, Peers: required(of)}
		if name != n.name {
			e.Name = name
		}
		if _, err := digest(e.Integrity); err != nil {
			return fmt.Errorf("%s@%s: %w", name, version, err)
		}
		l.Packages[at] = e
		if len(l.Packages) > maxPackages {
			return fmt.Errorf("these packages need more than %d packages", maxPackages)
		}
		add(at, e.Dependencies)
		add(at, e.Peers)
	}
	return nil
}

// without returns what is needed and not merely welcome.
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
	if fits(version, wanted) || version == wanted {
		return true
	}
	if _, err := semver.NewConstraint(wanted); err == nil {
		return false
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
	take := func(version string) (string, *release, error) {
		if of := p.Versions[version]; of != nil && packageVersion.MatchString(version) {
			return version, of, nil
		}
		return "", nil, fmt.Errorf("the registry does not describe %s@%.60s", name, version)
	}
	latest := p.Tags["latest"]
	if fits(latest, wanted) && p.Versions[latest] != nil {
		return take(latest)
	}
	if tagged := p.Tags[wanted]; tagged != "" {
		return take(tagged)
	}
	var best *semver.Version
	for version := range p.Versions {
		if v, err := semver.NewVersion(version); err == nil && fits(version, wanted) && (best == nil ||
			v.GreaterThan(best)) {
			best = v
		}
	}
	if best == nil {
		return "", nil, fmt.Errorf("the registry has no version of %s in the range %.60q", name, wanted)
	}
	return take(best.Original())
}

func (r *Registry) packument(ctx context.Context, name string) (*packument, error) {
	if p := r.known[name]; p != nil {
		return p, nil
	}
	text, err := r.get(ctx, strings.TrimSuffix(r.URL, "/")+"/"+url.PathEscape(name), maxPackument)
	if err != nil {
		return nil, err
	}
	p := &packument{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("what the registry says of %s: %w", name, err)
	}
	if r.known == nil {
		r.known = map[string]*packument{}
	}
	r.known[name] = p
	return p, nil
}

// archiveURL returns where the registry has an archive. It is never on another host than the registry.
func (r *Registry) archiveURL(name, version string, of *release) string {
	base, err := url.Parse(r.URL)
	given, err2 := url.Parse(of.Dist.Tarball)
	if err == nil && err2 == nil && given.Scheme == base.Scheme && given.Host == base.Host && given.User == nil {
		return of.Dist.Tarball
	}
	return strings.TrimSuffix(r.URL, "/") + "/" + name + "/-/" + path.Base(name) + "-" + version + ".tgz"
}

// fetch returns the archive of an entry, if it is the one that the registry described.
func (r *Registry) fetch(ctx context.Context, e *entry) ([]byte, error) {
	archive, err := r.get(ctx, e.Resolved, maxArchive)
	if err != nil {
		return nil, err
	}
	return archive, check(archive, e.Integrity)
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
		return nil, fmt.Errorf("ask the registry: %w", err)
	}
	return body, nil
}

// cutRange cuts name@range.
func cutRange(spec string) (name, wanted string) {
	if i := strings.LastIndex(spec, "@"); i > 0 {
		return spec[:i], spec[i+1:]
	}
	return spec, ""
}
