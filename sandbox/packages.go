package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/nodemodule"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/internal/source"
)

// PackageID identifies the content of a package.
type PackageID struct {
	Name, Version string
	// Integrity is the hash of the package and of all that it depends on.
	Integrity string
}

// A Package is an npm package that code may import by name. The packages that a script imports are evaluated once, in
// a guest that has nothing but the library, and runs start from a copy-on-write view of what they left. A package whose
// top level needs more than itself is compiled ahead, and evaluated by each run.
type Package struct {
	PackageID
	// Impure says why each run has to evaluate the package; "" if the package can be evaluated ahead.
	Impure string
	// Damaged makes code that imports the package fail. Nothing calls Tree.
	Damaged bool
	// Tree returns the files of the package and of those that it depends on, by paths that begin with node_modules. The
	// trees of all packages of a run agree on their common paths. Nothing changes what Tree returned.
	Tree func() (map[string][]byte, error)
	// Files returns all files of the package at a place in the tree, such as "node_modules/a", by their paths in that
	// package, for code that reads them. It returns nil if nothing is at the place. It calls work with the number of bytes
	// that it has unpacked since the last call, and ends with the error of work. Nothing changes what Files returned. The
	// packages have no files to read if it is nil.
	Files func(place string, work func(n int) error) (map[string][]byte, error)
}

// BundlePackage returns the code of a package and its dependencies as one script, for a scan: what its main module
// loads or, if it has none, what the paths load that it exports. A package cannot have the name of a module of Node.
func BundlePackage(name string, tree map[string][]byte) (string, error) {
	if _, is := nodemodule.Name(name); is {
		return "", errors.New("its name is that of a module of Node")
	}
	entries := source.EntriesOf(name, tree)
	if len(entries) == 0 {
		return "", errors.New("it has no main module among its files of at most 8 MiB")
	}
	for i := range entries {
		entries[i] = "import " + entries[i]
	}
	s, ex := source.OfPackages(entries, tree)
	if ex != nil {
		return "", errors.New(source.OneLine(ex))
	}
	return s.Text, nil
}

// packagesFile is the file name of packages in stacks, whose frames no guest is shown.
const packagesFile = "airlock:packages"

// identityOf returns a text that differs between packages of different content.
func identityOf(packages []Package) string {
	var b strings.Builder
	for _, p := range packages {
		for _, text := range [...]string{p.Name, p.Integrity} { // with their lengths, so that none reads like two
			b.WriteString(strconv.Itoa(len(text)))
			b.WriteByte(' ')
			b.WriteString(text)
		}
		b.WriteString(strconv.FormatBool(p.Impure == ""))
		if p.Damaged {
			b.WriteString("damaged")
		}
	}
	return b.String()
}

// sourcePackages returns the packages of a run as its source meets them. If ahead is false, those whose name occurs in
// the script are part of the source.
func (r importer) sourcePackages(script Script, ahead bool) (source.Packages, error) {
	out := source.Packages{Identity: identityOf(r.grants.Packages), Withheld: r.grants.Withheld, Live: r.live}
	if len(out.Live) > 0 {
		out.Identity += fmt.Sprintf("live %q\n", out.Live)
	}
	if len(out.Withheld) > 0 {
		out.Identity += fmt.Sprintf("without %q\n", out.Withheld)
	}
	if len(r.grants.Packages) == 0 {
		return out, nil
	}
	if !ahead {
		out.Identity += "in the source"
	}
	out.Names, out.Ahead = map[string]bool{}, map[string]bool{}
	for _, p := range r.grants.Packages {
		if _, is := nodemodule.Name(p.Name); is {
			continue // the module has the name
		}
		out.Names[p.Name] = true
		if p.Damaged {
			out.Damaged = append(out.Damaged, p.Name)
			continue
		}
		if ahead {
			out.Ahead[p.Name] = true
			continue
		}
		if !mentions(script, p.Name) {
			continue
		}
		tree, err := p.Tree()
		if err != nil {
			return out, fmt.Errorf("read package %s: %w", p.Name, err)
		}
		if out.Files == nil {
			out.Files = make(map[string][]byte, len(tree))
		}
		maps.Copy(out.Files, tree)
	}
	return out, nil
}

// mentions reports whether a name occurs anywhere in the sources of a script.
func mentions(script Script, name string) bool {
	if strings.Contains(script.Code, name) {
		return true
	}
	for _, text := range script.Files {
		if strings.Contains(string(text), name) {
			return true
		}
	}
	return false
}

// An importer provides a run with the packages that its code imports.
type importer struct{ *run }

// takePackages makes the run start from the image of the packages that its code imports, in which they are evaluated
// or at least compiled. Where there is no such image, the packages become part of the source. release ends the use of
// the version that it returns.
func (r importer) takePackages(script Script, v *version) (*version, error) {
	r.result.Packages = r.imported()
	keys := r.source.Ahead()
	if len(keys) == 0 || v != nil && v.image != nil {
		return nil, nil // no image
	}
	if byName := r.source.AheadByName(); r.impure() != "" && !slices.Equal(byName, keys) {
		p, err := r.takeImage(script, byName)
		if err != nil || p.image != nil {
			return p, r.rebind(script, err)
		}
		r.engine.versions.release(p)
	}
	p, err := r.takeImage(script, keys)
	if err != nil || p.image != nil {
		return p, r.rebind(script, err)
	}
	r.cached, r.result.PackagesCold = false, p.cold
	return p, r.prepareSource(script, false)
}

// rebind prepares the source again if it has bound exports to variables that may change in the packages of the image.
// err is the error that the run has met before.
func (r importer) rebind(script Script, err error) error {
	if err != nil || !r.source.Rebinds(r.held.Notes.Live) {
		return err
	}
	r.live, r.cached = r.held.Notes.Live, false
	return r.prepareSource(script, true)
}

// takeImage takes the version of packages, which it makes if it is not there, and lets the run start from its image. A
// version without an image says that there can be none.
func (r importer) takeImage(script Script, keys []string) (*version, error) {
	p := r.engine.versions.takeKey(r.packagesKey(script.Owner, keys), script.Owner)
	if !p.loaded {
		if err := r.makePackages(p, keys); err != nil {
			return p, err
		}
	}
	if p.image == nil {
		return p, nil
	}
	if int64(p.image.Size()) > r.limits.MemoryBytes {
		return p, r.limits.exceeded(LimitMemory)
	}
	r.image, r.stamps, r.late, r.result.PackagesCold = p.image, p.stamps, p.cold != "", p.cold
	r.held = heldPackages{keys, r.result.Packages, p.notes}
	return p, nil
}

// packagesKey returns what loading packages can observe. Owners share no images: the time of a run tells nobody what
// others import.
func (r importer) packagesKey(owner string, keys []string) versionKey {
	g := r.grants
	used := make([]Package, 0, len(r.result.Packages))
	for _, p := range g.Packages {
		if slices.Contains(r.result.Packages, p.PackageID) {
			used = append(used, p)
		}
	}
	var b strings.Builder
	b.WriteString("packages of ")
	b.WriteString(strconv.Quote(owner))
	for _, key := range keys {
		b.WriteString(strconv.Quote(key))
	}
	return versionKey{b.String(), g.Eval, g.Files, modulesKey(g.Modules), identityOf(used), noGlobals}
}

// impure returns why a package that the source imports has to be evaluated by each run; "" if there is none.
func (r importer) impure() string {
	for _, p := range r.grants.Packages {
		if p.Impure != "" && slices.Contains(r.result.Packages, p.PackageID) {
			return p.Impure
		}
	}
	return ""
}

// divisible reports whether the manifest of a package that each run evaluates allows to leave out files.
func (r importer) divisible(files map[string][]byte) bool {
	return slices.ContainsFunc(r.grants.Packages, func(p Package) bool {
		return p.Impure != "" && slices.Contains(r.result.Packages, p.PackageID) && source.Divisible(p.Name, files)
	})
}

// imported returns the packages of the deployment that the source imports.
func (r importer) imported() []PackageID {
	names := map[string]bool{}
	for _, key := range r.source.Ahead() {
		_, specifier, _ := strings.Cut(key, " ")
		names[source.PackageName(specifier)] = true
	}
	for _, name := range r.source.Installed() {
		names[name] = true
	}
	var out []PackageID
	for _, p := range r.grants.Packages {
		if names[p.Name] {
			out = append(out, p.PackageID)
		}
	}
	return out
}

// The times that packages see while they load: 2033-02-14T05:08:09.101Z and 1987-07-23T17:46:58.321Z. Most computations
// and comparisons of a time have different results for the two.
const (
	loadClock      = 1_991_884_089_101 * time.Millisecond
	otherLoadClock = 554_060_818_321 * time.Millisecond
)

// The limits of the evaluation of packages. The largest libraries take two seconds of processor time, and more on a
// busy machine.
const (
	loadCPU  = 5 * time.Second
	loadWall = 30 * time.Second
)

// makePackages takes the image of packages from the cache folder or makes it, or finds why there can be none. It has
// limits of its own and costs the run nothing: the result of a run does not depend on whether the image was there.
func (r importer) makePackages(v *version, keys []string) error {
	if r.takeKept(v, keys) {
		v.source = source.Named(packagesFile)
	} else if err := r.freeze(v, keys); err != nil {
		return err
	}
	v.loaded = true
	r.engine.versions.keep(v)
	return nil
}

// freeze makes the image of v: the packages evaluated or, if v.cold says why that cannot be, compiled. There is none if
// they cannot be compiled either.
func (r importer) freeze(v *version, keys []string) error {
	s, err := r.bundlePackages(v, keys)
	if s == nil || err != nil {
		return err
	}
	if v.cold = r.impure(); v.cold == "" {
		why, err := r.whyCold(r.freezeEvaluated(v, s))
		if why == "" || err != nil {
			return err
		}
		v.cold = why
	}
	if v.cold == throwsWhileLoading {
		return nil // the error has the files of the packages if they are part of the source
	}
	v.image, _, err = r.freezeAt(loadClock, s, true)
	_, err = r.whyCold(err)
	return err
}

// whyCold returns why packages have no image, if err says that. Otherwise it returns err.
func (r importer) whyCold(err error) (string, error) {
	var why *coldError
	switch {
	case err == nil:
		return "", nil
	case r.ctx.Err() != nil:
		return "", err
	case hostops.AsLimit(err) != nil: // err has the engine's stack, too
		return "its evaluation " + hostops.AsLimit(err).Error(), nil
	case errors.As(err, &why), errors.Is(err, errThrown):
		return err.Error(), nil
	}
	return "", err
}

// bundlePackages returns the code of packages; nil if v.cold says why there is none.
func (r importer) bundlePackages(v *version, keys []string) (*source.Source, error) {
	v.source = source.Named(packagesFile)
	files := map[string][]byte{}
	for _, p := range r.grants.Packages {
		if !slices.Contains(r.result.Packages, p.PackageID) {
			continue
		}
		tree, err := p.Tree()
		if err != nil {
			return nil, fmt.Errorf("read package %s: %w", p.Name, err)
		}
		maps.Copy(files, tree)
	}
	if source.IsByName(keys) && !r.divisible(files) {
		return nil, nil // no image: that of the whole packages has all that this one would have
	}
	var why string
	s, err := prepare(r.builder(), func() *source.Source {
		s, ex := source.OfPackages(keys, files)
		if ex != nil {
			why = source.OneLine(ex)
		}
		return s
	})
	if err != nil {
		v.cold, err = r.whyCold(err)
		return nil, err
	}
	v.cold = why
	if s != nil {
		v.notes = quickjs.Notes{Live: s.Live(), Requires: nodemodule.AllRequired(s.Text)}
	}
	return s, nil
}

// freezeEvaluated sets the image of v, and where it has the time if the packages keep that.
func (r importer) freezeEvaluated(v *version, s *source.Source) error {
	im, asked, err := r.freezeAt(loadClock, s, false)
	if err != nil {
		return err
	}
	if asked {
		other, _, err := r.freezeAt(otherLoadClock, s, false)
		if err != nil {
			return errors.Join(err, im.Close())
		}
		var ok bool
		v.stamps, ok = quickjs.StampsOf(im, other, loadClock, otherLoadClock)
		if err := other.Close(); err != nil || !ok {
			return errors.Join(cold("it computes with the clock while it loads"), err, im.Close())
		}
	}
	v.image = im
	return nil
}

// freezeAt returns the image of packages that were evaluated at a time, or only compiled, and reports whether they have
// asked for the time.
func (r importer) freezeAt(clock time.Duration, s *source.Source, onlyCompiled bool) (*quickjs.Image, bool, error) {
	b := r.builder()
	b.source = s
	defer b.abandon()
	defer b.requests.begin(r.ctx)()
	end, err := b.grant(Script{})
	if err != nil {
		return nil, false, err
	}
	defer end()
	l := &loader{run: b, clock: clock}
	im, err := l.freeze(noGlobals, onlyCompiled)
	return im, l.asked, err
}

// builder returns a run that evaluates packages for r. It has the grants that packages can observe, and limits of its
// own.
func (r importer) builder() *run {
	b := r.engine.newRun(r.ctx, Grants{Eval: r.grants.Eval, Files: r.grants.Files, Modules: r.grants.Modules,
		Packages: r.grants.Packages,
		Limits:   Limits{MemoryBytes: r.engine.maxMemory, CPU: loadCPU, Wall: loadWall}})
	b.result.Packages = r.result.Packages // whose files they may read
	return b
}

// The images of packages are kept in the cache folder, so that no start evaluates them again. [Engine.PreparePackages]
// writes them, for each package alone. A run never does: what a tenant imports leaves no trace on the disk. A process
// that loses its access to files opens them before, with [Engine.OpenPackages].

// packagesMagic changes with how packages are bundled and evaluated.
const packagesMagic = "airlock packages 8\n"

// packageImage returns the file of the image under a key. Its name is the hash of what the image depends on: the engine
// and its library, how packages are evaluated, their integrity, and what the grants let them observe.
func (e *Engine) packageImage(key versionKey) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s%x%q", packagesMagic, e.image.Identity(), fmt.Sprintf("%+v", key))
	return e.packages.Path(hex.EncodeToString(h.Sum(nil)[:16]))
}

// takeKept sets the image of v from the cache folder, and reports whether it is there.
func (r importer) takeKept(v *version, keys []string) bool {
	file, done, err := r.engine.packages.Open(r.engine.packageImage(r.packagesKey("", keys)))
	if err != nil {
		return false
	}
	defer done()
	v.image, v.stamps, v.notes, err = r.engine.image.Derived(file)
	v.cold = r.impure()
	return err == nil
}

// wanted returns runs that import and that require each package of the grants that can have an image.
func (e *Engine) wanted(ctx context.Context, grants Grants) (all []importer, keys []string) {
	for _, p := range grants.Packages {
		if p.Impure == throwsWhileLoading || p.Damaged {
			continue
		}
		for _, how := range []string{"import ", "require "} {
			r := importer{e.newRun(ctx, grants)}
			r.result.Packages = []PackageID{p.PackageID}
			all, keys = append(all, r), append(keys, how+p.Name)
		}
	}
	return all, keys
}

// PreparePackages evaluates or compiles the packages of the grants, each alone, and writes their images to
// Config.CacheDir, unless they are there. A package that cannot have an image is passed over.
func (e *Engine) PreparePackages(ctx context.Context, grants Grants) error {
	if e.packages.Dir == "" {
		return nil
	}
	all, keys := e.wanted(ctx, grants)
	for i, r := range all {
		if err := r.prepareImage(keys[i]); err != nil {
			return err
		}
	}
	return e.packages.Prune()
}

func (r importer) prepareImage(importKey string) error {
	defer r.abandon()
	keys := []string{importKey}
	v := &version{key: r.packagesKey("", keys)}
	if r.takeKept(v, keys) {
		return v.close()
	}
	if err := r.freeze(v, keys); err != nil || v.image == nil {
		return err
	}
	if v.cold != r.impure() { // takeKept would take the packages for evaluated ones
		return v.close()
	}
	return errors.Join(v.image.Keep(r.engine.packageImage(v.key), v.stamps, v.notes), v.close())
}

// OpenPackages opens the kept images of the packages of the grants, so that runs find them when the process has no
// access to files any more.
func (e *Engine) OpenPackages(ctx context.Context, grants Grants) error {
	all, keys := e.wanted(ctx, grants)
	for i, r := range all {
		path := e.packageImage(r.packagesKey("", keys[i:i+1]))
		r.abandon()
		if err := e.packages.Hold(path); err != nil {
			return err
		}
	}
	return nil
}
