package registry

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Limits of one package: the largest pinned one has 9 files of 1.2 MB.
const (
	maxFiles    = 2000
	maxUnpacked = 64 << 20
)

// Unpack writes the files of a package's archive to dir under root, without the folder that archives put around them.
// It accepts only plain files and folders: a link, a device, or a name that leaves the folder is an error.
func Unpack(archive []byte, root *os.Root, dir string) error {
	zipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	// One reader bounds everything, including what the archive has between its files.
	bounded := &io.LimitedReader{R: zipped, N: maxUnpacked}
	files := tar.NewReader(bounded)
	for n := 0; ; n++ {
		head, err := files.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case bounded.N <= 0 || n == maxFiles:
			return fmt.Errorf("unpack: more than %d files or %d bytes", maxFiles, maxUnpacked)
		case err != nil:
			return fmt.Errorf("unpack: %w", err)
		case head.Typeflag == tar.TypeDir || head.Typeflag == tar.TypeXGlobalHeader:
			continue
		case head.Typeflag != tar.TypeReg:
			return fmt.Errorf("unpack: %q is neither a file nor a folder", head.Name)
		}
		_, name, ok := strings.Cut(head.Name, "/")
		if !ok || name == "" || !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsAny(name, "\\\x00") {
			return fmt.Errorf("unpack: the name %q leaves the package", head.Name)
		}
		if err := write(root, path.Join(dir, name), files); err != nil {
			return err
		}
	}
}

func write(root *os.Root, name string, content io.Reader) error {
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	// O_EXCL: a registry makes no archive that contains a file twice.
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	_, err = io.Copy(f, content)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("unpack %s: %w", name, err)
	}
	return nil
}
