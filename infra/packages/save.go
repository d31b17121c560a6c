package packages

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Save writes the store to its folder. The archives are there before the lock that names them; those that nothing names
// are deleted at the end.
func (s *Store) Save() error {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return fmt.Errorf("make the folder of packages: %w", err)
	}
	root, err := os.OpenRoot(s.dir) // links do not lead out of it
	if err != nil {
		return err
	}
	return errors.Join(s.saveTo(root), root.Close())
}

func (s *Store) saveTo(root *os.Root) error {
	if err := root.MkdirAll(archivesDir, 0o755); err != nil {
		return fmt.Errorf("make the folder of archives: %w", err)
	}
	named := map[string]bool{}
	for place, archive := range s.archives {
		file := s.lock.Packages[place].archiveName(place)
		named[file] = true
		if err := replace(root, path.Join(archivesDir, file), archive); err != nil {
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
	if err := replace(root, notesFile, append(notes, '\n')); err != nil {
		return err
	}
	if err := replace(root, lockFile, text); err != nil {
		return err
	}
	return prune(root, named)
}

// prune deletes the archives that nothing names, and files that were not written completely.
func prune(root *os.Root, named map[string]bool) error {
	entries, err := fs.ReadDir(root.FS(), archivesDir)
	for _, file := range entries {
		name := file.Name()
		unused := path.Ext(name) == archiveEnding && !named[name] || strings.HasPrefix(name, newFile)
		if unused && file.Type().IsRegular() {
			err = errors.Join(err, root.Remove(path.Join(archivesDir, name)))
		}
	}
	return err
}

// replace writes a file, whole or not at all.
func replace(root *os.Root, name string, content []byte) error {
	temp := path.Join(path.Dir(name), newFile+rand.Text())
	err := root.WriteFile(temp, content, 0o644)
	if err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
}
