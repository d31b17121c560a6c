package imagefolder

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

const (
	prefix = "package-"
	// The files of a folder: their number and their bytes. Those that were written first are deleted.
	maxFiles = 1024
	maxBytes = 512 << 20
	// maxOpen bounds the files that a process holds open.
	maxOpen = 256
)

// A Folder is the part of a cache folder that holds images. It is safe for concurrent use.
type Folder struct {
	// Dir is the cache folder; "" keeps no images.
	Dir string

	mu   sync.Mutex
	open map[string]*os.File // by path
}

// Path returns the file of the image with an identity.
func (p *Folder) Path(identity string) string { return filepath.Join(p.Dir, prefix+identity) }

// Open returns a file, from those that are held if it is among them. done ends its use.
func (p *Folder) Open(path string) (file *os.File, done func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if file := p.open[path]; file != nil {
		return file, func() {}, nil
	}
	if p.Dir == "" {
		return nil, nil, fs.ErrNotExist
	}
	if file, err = os.Open(path); err != nil {
		return nil, nil, err
	}
	return file, func() { _ = file.Close() }, nil // it was only read
}

// Hold opens a file and keeps it open until Close, if it is there.
func (p *Folder) Hold(path string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Dir == "" || p.open[path] != nil || len(p.open) >= maxOpen {
		return nil
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open the image of a package: %w", err)
	}
	if p.open == nil {
		p.open = map[string]*os.File{}
	}
	p.open[path] = file
	return nil
}

// Close closes the files that are held.
func (p *Folder) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, file := range p.open {
		errs = append(errs, file.Close())
	}
	p.open = nil
	return errors.Join(errs...)
}

// Prune deletes the oldest files beyond the bounds of the folder.
func (p *Folder) Prune() error {
	entries, err := os.ReadDir(p.Dir)
	if err != nil {
		return err
	}
	var infos []fs.FileInfo
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && strings.HasPrefix(info.Name(), prefix) &&
			info.Mode().IsRegular() {
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { // the newest first
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	var errs []error
	bytes := int64(0)
	for i, info := range infos {
		if bytes += info.Size(); i >= maxFiles || bytes > maxBytes {
			errs = append(errs, os.Remove(filepath.Join(p.Dir, info.Name())))
		}
	}
	return errors.Join(errs...)
}
