package packages

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// The files of a folder of packages.
const (
	lockFile    = "package-lock.json"
	notesFile   = "airlock.json"
	archivesDir = "archives"
	// archiveEnding ends the names of archives, and newFile begins those of files that are being written.
	archiveEnding = ".tgz"
	newFile       = ".new-"

	maxLock  = 8 << 20
	maxNotes = 4 << 20
	// maxWhy bounds the text that says why a package is impure, and each finding. Code of a package may have written it.
	maxWhy = 1000
	// maxFindings bounds the findings of a package.
	maxFindings = 10
)

// A Note holds the findings about a package from when it was added.
type Note struct {
	// Range is the range or tag that was requested.
	Range string `json:"range"`
	// Impure says why each run has to evaluate the package; "" if runs start after that. If its main module cannot be
	// loaded, it begins with NotLoaded.
	Impure string `json:"impure,omitempty"`
	// Level is the danger level of the scan.
	Level string `json:"level"`
	// Findings are what the scan refused the package for, if an operator allowed it nevertheless.
	Findings []string `json:"allowedFindings,omitempty"`
	// Scripts lists packages with install scripts, which never ran.
	Scripts []string `json:"installScripts,omitempty"`
	// Exports are the names that the package exports, and Default those of the members of its default export. A function
	// has its parameters, as in "chunk(a, b)". Code of the package may have written them.
	Exports []string `json:"exports,omitempty"`
	Default []string `json:"default,omitempty"`
}

// NotLoaded begins Note.Impure of a package of which only other paths can be imported.
const NotLoaded = "it cannot be loaded: "

const (
	// maxExports bounds the bytes of the exports of one package, and maxAllExports those of all.
	maxExports    = 128 << 10
	maxAllExports = 2 << 20
)

func (n Note) exportBytes() (bytes int) {
	for _, list := range [...][]string{n.Exports, n.Default} {
		for _, text := range list {
			bytes += len(text) + 8 // with quotes and the indent
		}
	}
	return bytes
}

// A Package is a package that was requested by name, not only needed by another.
type Package struct {
	Name, Version string
	// Integrity is a hash of the package and of all that it depends on.
	Integrity string
	// Needs is the number of packages that it depends on.
	Needs int
	// Bytes is the size of the archives of all of them.
	Bytes int64
	Note  Note
	// Damage says why it cannot be imported, if Load or Check has found that.
	Damage error
}

// A Store is a folder of packages. It is safe for concurrent use, except while it is changed.
type Store struct {
	dir   string
	lock  *lock
	notes map[string]Note

	mu       sync.Mutex
	archives map[string][]byte // by place, compressed
	broken   map[string]error  // by place
	// files are those of packages that were read last, by place, together at most maxKept bytes.
	files      map[string]map[string][]byte
	filesBytes int
	needs      map[string][]string // by name, the places of its tree, sorted
	// trees are those that were used last, together at most maxTree bytes.
	trees     map[string]map[string][]byte
	treeBytes int
}

// Empty returns a store without packages and without a folder.
func Empty() *Store { return &Store{lock: newLock(), notes: map[string]Note{}} }

// Open opens a folder of packages. One that does not exist is empty.
func Open(dir string) (*Store, error) {
	s := newStore(dir)
	text, err := readFile(dir, lockFile, maxLock)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		s.lock, err = readLock(text)
	}
	if err != nil {
		return nil, fmt.Errorf("read the packages in %s: %w", dir, err)
	}
	if text, err = readFile(dir, notesFile, maxNotes); err == nil {
		s.notes, err = readNotes(text)
	}
	if err != nil {
		return nil, fmt.Errorf("read the packages in %s: %s: %w", dir, notesFile, err)
	}
	return s, nil
}

func newStore(dir string) *Store {
	return &Store{dir: dir, lock: newLock(), notes: map[string]Note{}, trees: map[string]map[string][]byte{}}
}

// readNotes reads the findings about packages.
func readNotes(text []byte) (map[string]Note, error) {
	notes := map[string]Note{}
	if err := json.Unmarshal(text, &notes); err != nil {
		return nil, err
	}
	return checkedNotes(notes), nil
}

// checkedNotes returns notes whose texts are not too long.
func checkedNotes(notes map[string]Note) map[string]Note {
	out := map[string]Note{}
	for name, note := range notes {
		note.Impure, note.Findings = shortened(note.Impure), firstFindings(note.Findings)
		out[name] = note
	}
	return out
}

// firstFindings returns the first findings of a package, shortened.
func firstFindings(all []string) (some []string) {
	for _, text := range all[:min(len(all), maxFindings)] {
		some = append(some, shortened(text))
	}
	return some
}

// shortened returns the beginning of a text.
func shortened(text string) string {
	if len(text) <= maxWhy {
		return text
	}
	return strings.ToValidUTF8(text[:maxWhy], "") + "…"
}

// readFile returns the content of a regular file in a folder. A link may not lead out of the folder.
func readFile(dir, name string, most int64) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()                                 // it was opened for reading only
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not make it wait
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was opened for reading only
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	content, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(content)) > most {
		err = fmt.Errorf("%s has more than %d bytes", name, most)
	}
	return content, err
}

// List returns the requested packages, by name.
func (s *Store) List() []Package {
	var out []Package
	for _, name := range slices.Sorted(maps.Keys(s.lock.Packages[""].Dependencies)) {
		note := s.notes[name]
		note.Range = cmp.Or(note.Range, s.lock.Packages[""].Dependencies[name])
		closure := s.lock.closure(name)
		out = append(out, Package{Name: name, Version: s.lock.Packages[modules+name].Version,
			Integrity: s.lock.integrity(name), Needs: len(closure) - 1, Bytes: s.size(closure), Note: note,
			Damage: s.damage(closure)})
	}
	return out
}

// damage returns why one of some places is broken.
func (s *Store) damage(places []string) error {
	for _, place := range places {
		if err := s.broken[place]; err != nil {
			return err
		}
	}
	return nil
}

// size returns the size of the archives of some places. It ignores missing archives.
func (s *Store) size(places []string) (bytes int64) {
	for _, place := range places {
		if archive, ok := s.archives[place]; ok {
			bytes += int64(len(archive))
		} else if e := s.lock.Packages[place]; e != nil && s.dir != "" {
			if info, err := os.Lstat(filepath.Join(s.dir, archivesDir, e.archiveName(place))); err == nil {
				bytes += info.Size()
			}
		}
	}
	return bytes
}

// Load reads all archives into memory, so that Tree no longer needs the folder. The error names each damaged archive.
// Packages that do not need one of those can be used.
func (s *Store) Load() error {
	archives, total := map[string][]byte{}, 0
	err := s.each(func(place string, archive []byte) error {
		if total += len(archive); total > maxArchives {
			return errTooLarge
		}
		archives[place] = archive
		return nil
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.archives = archives
	return err
}

// each reads every archive and checks it against the lock. It calls f with those that are whole, and sets which are
// broken.
func (s *Store) each(f func(place string, archive []byte) error) error {
	var errs []error
	s.broken = map[string]error{}
	for _, place := range slices.Sorted(maps.Keys(s.lock.Packages)) {
		if place == "" {
			continue
		}
		archive, err := s.archive(place, s.lock.Packages[place])
		if err == nil {
			err = f(place, archive)
		}
		if err != nil {
			s.broken[place] = err
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

var errTooLarge = fmt.Errorf("the archives have more than %d bytes together", maxArchives)

// Check reads every archive and checks it against the lock. The error names each that is damaged.
func (s *Store) Check() error {
	return s.each(func(string, []byte) error { return nil })
}

// archive returns the archive of an entry, checked.
func (s *Store) archive(place string, e *entry) ([]byte, error) {
	archive, ok := s.archives[place]
	if !ok {
		var err error
		archive, err = readFile(s.dir, path.Join(archivesDir, e.archiveName(place)), maxArchive)
		if err != nil {
			return nil, fmt.Errorf("read package %s: %w", place, err)
		}
	}
	if err := check(archive, e.Integrity); err != nil {
		return nil, fmt.Errorf("package %s@%s: %w", nameAt(place), e.Version, err)
	}
	return archive, nil
}

// Tree returns the sources of a package and of all that it depends on, by paths that begin with node_modules. Callers
// must not change the result.
func (s *Store) Tree(name string) (map[string][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if tree := s.trees[name]; tree != nil {
		return tree, nil
	}
	tree := map[string][]byte{}
	budget, size := int64(maxReadAll), 0
	for _, place := range s.lock.closure(name) {
		e := s.lock.Packages[place]
		if e == nil {
			return nil, fmt.Errorf("there is no package %s", name)
		}
		archive, err := s.archive(place, e)
		if err != nil {
			return nil, err
		}
		files, err := unpack(archive, &budget, source)
		if err != nil {
			return nil, fmt.Errorf("package %s@%s: %w", nameAt(place), e.Version, err)
		}
		for file, content := range files {
			tree[place+"/"+file] = content
			size += len(content)
		}
		if size > maxTree {
			return nil, fmt.Errorf("package %s and its dependencies have more than %d bytes of sources", name, maxTree)
		}
	}
	if s.treeBytes += size; s.treeBytes > maxTree {
		s.treeBytes = size
		clear(s.trees)
	}
	s.trees[name] = tree
	return tree, nil
}

// Files returns all files of the package at a place in the tree of a package, such as "node_modules/a", by their paths
// in it. It returns nil if the package at the place does not belong to the tree. It leaves out files of more than
// 8 MiB, and all of a package that has more than 64 MiB. work is called with the number of bytes that were unpacked
// since the last call, and ends the unpacking with an error. Callers must not change the result.
func (s *Store) Files(name, place string, work func(n int) error) (map[string][]byte, error) {
	e := s.lock.Packages[place]
	if e == nil || place == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.needs[name] == nil {
		if s.needs == nil {
			s.needs = map[string][]string{}
		}
		s.needs[name] = s.lock.closure(name)
	}
	if _, needed := slices.BinarySearch(s.needs[name], place); !needed {
		return nil, nil //nolint:nilnil // there is none
	}
	if files := s.files[place]; files != nil {
		return files, nil
	}
	archive, err := s.archive(place, e)
	if err != nil {
		return nil, err
	}
	budget, size := int64(maxReadAll), 0
	files, err := unpackWith(archive, &budget, func(file string) bool { return !nested(file) }, work)
	if errors.Is(err, errMuch) {
		files, err = map[string][]byte{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("package %s@%s: %w", nameAt(place), e.Version, err)
	}
	for _, content := range files {
		size += len(content)
	}
	if s.filesBytes += size; s.filesBytes > maxKept || s.files == nil {
		s.files, s.filesBytes = map[string]map[string][]byte{}, size
	}
	s.files[place] = files
	return files, nil
}

// Verify checks every archive against the lock, and unpacks it.
func (s *Store) Verify() error {
	budget := int64(maxReadAll)
	return s.each(func(place string, archive []byte) error {
		if _, err := unpack(archive, &budget, source); err != nil {
			return fmt.Errorf("package %s@%s: %w", nameAt(place), s.lock.Packages[place].Version, err)
		}
		return nil
	})
}

// Add resolves packages, each given as name or name@range, together with the existing ones, and fetches what is
// missing. It returns the new store, with the archives in memory. Save writes it to the folder.
func (s *Store) Add(ctx context.Context, r *Registry, specs []string) (*Store, error) {
	next := newStore(s.dir)
	next.notes, next.archives = maps.Clone(s.notes), map[string][]byte{}
	for place, e := range s.lock.Packages {
		copied := *e
		next.lock.Packages[place] = &copied
	}
	root := next.lock.Packages[""]
	if root.Dependencies = maps.Clone(root.Dependencies); root.Dependencies == nil {
		root.Dependencies = map[string]string{}
	}
	for _, spec := range specs {
		name, wanted := cutRange(spec)
		if !validName(name) {
			return nil, fmt.Errorf("%.100q is not the name of a package; want name or name@range", spec)
		}
		if len(wanted) > maxRange {
			return nil, fmt.Errorf("the range of %s has more than %d characters", name, maxRange)
		}
		root.Dependencies[name] = wanted
		next.notes[name] = Note{Range: wanted}
		delete(next.lock.Packages, modules+name)
	}
	if err := r.resolve(ctx, next.lock); err != nil {
		return nil, err
	}
	next.lock.prune()
	total := 0
	for _, place := range slices.Sorted(maps.Keys(next.lock.Packages)) {
		if place == "" {
			continue
		}
		e := next.lock.Packages[place]
		archive, err := s.archive(place, e)
		if err != nil { // it is not there yet, or is broken
			if archive, err = r.fetch(ctx, place, e); err != nil {
				return nil, fmt.Errorf("package %s@%s: %w", nameAt(place), e.Version, err)
			}
		}
		next.archives[place] = archive
		if total += len(archive); total > maxArchives {
			return nil, errTooLarge
		}
	}
	return next, next.Verify()
}

// Remove returns the store without packages.
func (s *Store) Remove(names []string) (*Store, error) {
	for _, name := range names {
		if _, ok := s.lock.Packages[""].Dependencies[name]; !ok {
			return nil, fmt.Errorf("there is no package %.100q", name)
		}
	}
	next := newStore(s.dir)
	next.notes = maps.Clone(s.notes)
	maps.Copy(next.lock.Packages, s.lock.Packages)
	root := *s.lock.Packages[""]
	root.Dependencies = maps.Clone(root.Dependencies)
	next.lock.Packages[""] = &root
	for _, name := range names {
		delete(root.Dependencies, name)
		delete(next.notes, name)
	}
	next.lock.prune()
	return next, next.Load()
}

// Note sets the findings about a package.
func (s *Store) Note(name string, note Note) {
	note.Range, note.Impure = s.lock.Packages[""].Dependencies[name], shortened(note.Impure)
	note.Findings = firstFindings(note.Findings)
	for _, place := range s.lock.closure(name) {
		if s.lock.Packages[place].Scripts {
			note.Scripts = append(note.Scripts, nameAt(place))
		}
	}
	size := note.exportBytes()
	most := maxAllExports - size
	for other, n := range s.notes {
		if other != name {
			most -= n.exportBytes()
		}
	}
	if size > maxExports || most < 0 {
		note.Exports, note.Default = nil, nil
	}
	s.notes[name] = note
}
