package packages

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// The bounds of one archive.
const (
	maxArchive  = 32 << 20  // compressed
	maxUnpacked = 256 << 20 // of everything that is read
	maxReadAll  = 1 << 30   // of everything that is read of all archives of a folder
	maxKept     = 64 << 20  // of the files that are kept
	maxFile     = 8 << 20   // of a file that is kept; no source of a package may be longer
	maxEntries  = 50_000
	maxPath     = 512

	maxArchives = 256 << 20 // of all archives of a folder, compressed
	maxTree     = 128 << 20 // of the files of a package and of all that it depends on
)

// errMuch means that the files of an archive that are wanted are too large together.
var errMuch = fmt.Errorf("the archive has more than %d bytes of sources or declarations", maxKept)

// unpack returns the files in an archive that wanted accepts, by their paths inside the package. It skips entries that
// are not regular files, and refuses paths that could leave the package. It subtracts what it reads from budget, which
// bounds several archives together.
func unpack(archive []byte, budget *int64, wanted func(name string) bool) (map[string][]byte, error) {
	return unpackWith(archive, budget, wanted, func(int) error { return nil })
}

// unpackWith unpacks as unpack does. It calls work with the number of bytes that it has read since the last call, and
// ends with the error of work.
func unpackWith(
	archive []byte, budget *int64, wanted func(name string) bool, work func(n int) error,
) (map[string][]byte, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("the archive is not compressed: %w", err)
	}
	most := min(maxUnpacked, *budget)
	limited := &io.LimitedReader{R: working{zipped, work}, N: most}
	defer func() { *budget -= most - limited.N }()
	reader := tar.NewReader(limited)
	files := map[string][]byte{}
	kept := 0
	for n := 0; ; n++ {
		head, err := reader.Next()
		switch {
		case limited.N <= 0:
			return nil, fmt.Errorf("the archive unpacks to more than %d bytes", most)
		case errors.Is(err, io.EOF):
			return files, nil
		case err != nil:
			return nil, fmt.Errorf("read the archive: %w", err)
		case n == maxEntries:
			return nil, fmt.Errorf("the archive has more than %d entries", maxEntries)
		}
		if head.Typeflag != tar.TypeReg {
			continue
		}
		name, err := inside(head.Name)
		if err != nil {
			return nil, err
		}
		if !wanted(name) || head.Size > maxFile {
			continue
		}
		if _, twice := files[name]; twice {
			return nil, fmt.Errorf("the archive has %q twice", name)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			return nil, fmt.Errorf("read the archive: %w", err)
		}
		if kept += len(content); kept > maxKept {
			return nil, errMuch
		}
		files[name] = content
	}
}

// working is a reader that announces what it has read.
type working struct {
	io.Reader
	work func(n int) error
}

// Read implements io.Reader.
func (w working) Read(b []byte) (int, error) {
	n, err := w.Reader.Read(b)
	if stop := w.work(n); stop != nil {
		return 0, stop
	}
	return n, err
}

// inside returns the path of an entry inside its package: what follows the first folder, which npm names "package".
// Like npm, it leaves out what changes nothing: "package/./a//b" is "a/b".
func inside(name string) (string, error) {
	_, rest, _ := strings.Cut(strings.TrimPrefix(name, "./"), "/")
	clean := path.Clean("/" + rest)[1:]
	if clean == "" || len(rest) > maxPath || !utf8.ValidString(rest) || strings.ContainsAny(rest, "\x00\\") ||
		slices.Contains(strings.Split(rest, "/"), "..") || strings.HasSuffix(rest, "/") ||
		strings.HasPrefix(name, "/") || strings.HasPrefix(name, "../") {
		return "", fmt.Errorf("the archive has an entry with the path %.100q", name)
	}
	return clean, nil
}

// source reports whether code could import a file. Type declarations, maps and packages inside packages are no sources.
func source(name string) bool {
	if nested(name) || declares(name) {
		return false
	}
	switch path.Ext(name) {
	case ".js", ".mjs", ".cjs", ".json", ".jsx", ".ts", ".mts", ".cts", ".tsx":
		return true
	}
	return false
}

// nested reports whether a file is of a package inside the package.
func nested(name string) bool {
	return strings.HasPrefix(name, "node_modules/") || strings.Contains(name, "/node_modules/")
}

// declares reports whether a file declares types.
func declares(name string) bool {
	return strings.HasSuffix(name, ".d.ts") || strings.HasSuffix(name, ".d.mts") || strings.HasSuffix(name, ".d.cts")
}

// declaration reports whether TypeScript reads a file of a package: its declarations, and the manifests that name them.
func declaration(name string) bool {
	return !nested(name) && (declares(name) || path.Base(name) == "package.json")
}
