package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// entry is one file of a zip: from a path or from data.
type entry struct {
	name    string
	from    string
	data    []byte
	program bool
}

// archive returns a zip of entries and of every file below each tree, under the tree's last name. Order, times, modes
// and compression are fixed, so that the bytes depend on names and contents only.
func archive(entries []entry, trees ...string) ([]byte, error) {
	for _, tree := range trees {
		below, err := filesBelow(tree)
		if err != nil {
			return nil, err
		}
		entries = append(slices.Clone(entries), below...)
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser,
		error) {
		return flate.NewWriter(out, flate.BestCompression)
	})
	for _, e := range entries {
		data := e.data
		if e.from != "" {
			var err error
			if data, err = os.ReadFile(e.from); err != nil {
				return nil, err
			}
		}
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		header.SetMode(0o644)
		if e.program {
			header.SetMode(0o755)
		}
		file, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := file.Write(data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// filesBelow returns the regular files of a tree, named from the tree's last name on.
func filesBelow(tree string) ([]entry, error) {
	var out []entry
	err := filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !d.Type().IsRegular() {
			return fmt.Errorf("%s is not a regular file", path)
		}
		name, err := filepath.Rel(filepath.Dir(tree), path)
		out = append(out, entry{name: filepath.ToSlash(name), from: path})
		return err
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("%s holds no file", tree)
	}
	return out, err
}

// unpack writes a zip's files below dir, readable and not writable, as the Lambda service does.
func unpack(data []byte, dir string) error {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	for _, f := range r.File {
		if !filepath.IsLocal(f.Name) {
			return fmt.Errorf("entry %q leads out of the zip", f.Name)
		}
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		in, err := f.Open()
		if err != nil {
			return err
		}
		content, err := io.ReadAll(io.LimitReader(in, int64(f.UncompressedSize64)+1))
		if err != nil {
			return fmt.Errorf("entry %q: %w", f.Name, err)
		}
		if err := os.WriteFile(path, content, f.Mode().Perm()&^0o222); err != nil {
			return err
		}
	}
	return nil
}
