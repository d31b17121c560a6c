package packages

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// WriteTypes writes the type declarations of all packages, and the manifests that name them, to the folder node_modules
// in dir, where TypeScript and editors look for them. The folder must not exist: nothing is replaced. It returns the
// names of the requested packages that declare nothing.
func (s *Store) WriteTypes(dir string) (without []string, err error) {
	target := filepath.Join(dir, path.Clean(modules))
	if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s exists already; remove it, or name another folder: %w", target,
			errors.Join(err, fs.ErrExist))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder of declarations: %w", err)
	}
	root, err := os.OpenRoot(dir) // links do not lead out of it
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	budget, total, declared := int64(maxReadAll), 0, map[string]bool{}
	err = s.each(func(place string, archive []byte) error {
		files, err := unpack(archive, &budget, declaration)
		if err != nil {
			return fmt.Errorf("package %s@%s: %w", nameAt(place), s.lock.Packages[place].Version, err)
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if total += len(files[name]); total > maxTree {
				return fmt.Errorf("the packages have more than %d bytes of declarations", maxTree)
			}
			declared[place] = declared[place] || declares(name)
			name, content := path.Join(place, name), files[name]
			if err := errors.Join(root.MkdirAll(path.Dir(name), 0o755), root.WriteFile(name, content, 0o644)); err != nil {
				return err
			}
		}
		return nil
	})
	for _, name := range slices.Sorted(maps.Keys(s.lock.Packages[""].Dependencies)) {
		if !declared[modules+name] {
			without = append(without, name)
		}
	}
	return without, err
}
