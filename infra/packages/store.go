package packages

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// The files of a folder of packages.
const (
	lockFile    = "package-lock.json"
	notesFile   = "airlock.json"
	archivesDir = "archives"
	maxText     = 32 << 20
)

// A Note is what was found out about a package when it was added.
type Note struct {
	// Range is what was asked for.
	Range string `json:"range"`
	// Impure says why each run has to evaluate the package; "" if runs start after that.
	Impure string `json:"impure,omitempty"`
	// Level is the danger level of the scan.
	Level string `json:"level"`
	// Scripts lists packages with install scripts, which never ran.
	Scripts []string `json:"installScripts,omitempty"`
}

// A Package is one that was asked for.
type Package struct {
	Name, Version string
	// Integrity is a hash of the package and of all that it depends on.
	Integrity string
	// Needs is the number of packages that it depends on.
	Needs int
	Note  Note
}

// A Store is a folder of packages. It is safe for concurrent use, except while it is changed.
type Store struct {
	dir   string
	lock  *lock
	notes map[string]Note

	mu       sync.Mutex
	archives map[string][]byte // by place, compressed
	trees    map[string]map[string][]byte
}

// Empty returns a store without packages and without a folder.
func Empty() *Store { return &Store{lock: newLock(), notes: map[string]Note{}} }

// Open opens a folder of packages. One that does not exist is empty.
func Open(dir string) (*Store, error) {
	s := &Store{dir: dir, lock: newLock(), notes: map[string]Note{}, trees: map[string]map[string][]byte{}}
	text, err := readFile(filepath.Join(dir, lockFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		s.lock, err = readLock(text)
	}
	if err != nil {
		return nil, fmt.Errorf("read the packages in %s: %w", dir, err)
	}
	if text, err = readFile(filepath.Join(dir, notesFile)); err == nil {
		err = json.Unmarshal(text, &s.notes)
	}
	if err != nil {
		return nil, fmt.Errorf("read the packages in %s: %s: %w", dir, notesFile, err)
	}
	return s, nil
}

func readFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err == nil && info.Size() > maxText {
		err = fmt.Errorf("%s has more than %d bytes", name, maxText)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}

// List returns the packages that were asked for, by name.
func (s *Store) List() []Package {
	var out []Package
	for _, name := range slices.Sorted(maps.Keys(s.lock.Packages[""].Dependencies)) {
		note := s.notes[name]
		note.Range = cmp.Or(note.Range, s.lock.Packages[""].Dependencies[name])
		out = append(out, Package{Name: name, Version: s.lock.Packages[modules+name].Version,
			Integrity: s.lock.integrity(name), Needs: len(s.lock.closure(name)) - 1, Note: note})
	}
	return out
}

// Load reads all archives into memory, so that Tree needs the folder no more.
func (s *Store) Load() error {
	archives := map[string][]byte{}
	for place, e := range s.lock.Packages {
		if place == "" {
			continue
		}
		archive, err := s.archive(place, e)
		if err != nil {
			return err
		}
		archives[place] = archive
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.archives = archives
	return nil
}

// archive returns the archive of an entry, checked.
func (s *Store) archive(place string, e *entry) ([]byte, error) {
	archive, ok := s.archives[place]
	if !ok {
		var err error
		if archive, err = readFile(filepath.Join(s.dir, archivesDir, e.archiveName(place))); err != nil {
			return nil, fmt.Errorf("read package %s: %w", place, err)
		}
	}
	if err := check(archive, e.Integrity); err != nil {
		return nil, fmt.Errorf("package %s@%s: %w", nameAt(place), e.Version, err)
	}
	return archive, nil
}

// Tree returns the sources of a package and of all that it depends on, by paths that begin with node_modules. Nobody
// may change what it returns.
func (s *Store) Tree(name string) (map[string][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if tree := s.trees[name]; tree != nil {
		return tree, nil
	}
	tree := map[string][]byte{}
	for _, place := range s.lock.closure(name) {
		e := s.lock.Packages[place]
		if e == nil {
			return nil, fmt.Errorf("there is no package %s", name)
		}
		archive, err := s.archive(place, e)
		if err != nil {
			return nil, err
		}
		files, err := unpack(archive)
		if err != nil {
			return nil, fmt.Errorf("package %s@%s: %w", nameAt(place), e.Version, err)
		}
		for file, content := range files {
			tree[place+"/"+file] = content
		}
	}
	s.trees[name] = tree
	return tree, nil
}

// Verify checks every archive against the lock, and unpacks it.
func (s *Store) Verify() error {
	var errs []error
	for _, place := range slices.Sorted(maps.Keys(s.lock.Packages)) {
		if place == "" {
			continue
		}
		e := s.lock.Packages[place]
		archive, err := s.archive(place, e)
		if err == nil {
			if _, err = unpack(archive); err != nil {
				err = fmt.Errorf("package %s@%s: %w", nameAt(place), e.Version, err)
			}
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Add resolves packages, each given as name or name@range, together with those that are there, and fetches what is
// missing. It returns the store as it would be, with the archives in memory. Save writes it to the folder.
func (s *Store) Add(ctx context.Context, r *Registry, specs []string) (*Store, error) {
	next := &Store{dir: s.dir, lock: newLock(), notes: maps.Clone(s.notes), archives: map[string][]byte{},
		trees: map[string]map[string][]byte{}}
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
			return nil, fmt.Errorf("%.100q is no name of a package; want name or name@range", spec)
		}
		root.Dependencies[name] = wanted
		next.notes[name] = Note{Range: wanted}
		delete(next.lock.Packages, modules+name)
	}
	if err := r.resolve(ctx, next.lock); err != nil {
		return nil, err
	}
	next.lock.prune()
	for _, place := range slices.Sorted(maps.Keys(next.lock.Packages)) {
		if place == "" {
			continue
		}
		e := next.lock.Packages[place]
		archive, err := s.archive(place, e)
		if err != nil { // it is not there yet, or is broken
			if archive, err = r.fetch(ctx, e); err != nil {
				return nil, fmt.Errorf("package %s@%s: %w", nameAt(place), e.Version, err)
			}
		}
		next.archives[place] = archive
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
	next := &Store{dir: s.dir, lock: newLock(), notes: maps.Clone(s.notes), trees: map[string]map[string][]byte{}}
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

// Note sets what was found out about a package.
func (s *Store) Note(name string, note Note) {
	note.Range = s.lock.Packages[""].Dependencies[name]
	for _, place := range s.lock.closure(name) {
		if s.lock.Packages[place].Scripts {
			note.Scripts = append(note.Scripts, nameAt(place))
		}
	}
	s.notes[name] = note
}

// Save writes the store to its folder. The archives are there before the lock that names them; those that nothing names
// are deleted at the end.
func (s *Store) Save() error {
	archives := filepath.Join(s.dir, archivesDir)
	if err := os.MkdirAll(archives, 0o755); err != nil {
		return fmt.Errorf("make the folder of packages: %w", err)
	}
	named := map[string]bool{}
	for place, archive := range s.archives {
		file := s.lock.Packages[place].archiveName(place)
		named[file] = true
		if err := replace(filepath.Join(archives, file), archive); err != nil {
			return err
		}
	}
	text, err := s.lock.encode()
	if err != nil {
		return err
	}
	notes, err := json.MarshalIndent(s.notes, "", "  ")
	if err != nil {
		return err
	}
	if err := replace(filepath.Join(s.dir, notesFile), append(notes, '\n')); err != nil {
		return err
	}
	if err := replace(filepath.Join(s.dir, lockFile), text); err != nil {
		return err
	}
	entries, err := os.ReadDir(archives)
	if err != nil {
		return err
	}
	for _, file := range entries {
		if !named[file.Name()] {
			err = errors.Join(err, os.Remove(filepath.Join(archives, file.Name())))
		}
	}
	return err
}

// replace writes a file, whole or not at all.
func replace(name string, content []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(name), ".new-")
	if err != nil {
		return err
	}
	_, err = temp.Write(content)
	if err = errors.Join(err, temp.Chmod(0o644), temp.Close()); err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}
