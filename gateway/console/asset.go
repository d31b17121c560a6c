package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
)

// An Asset is a file that pages load.
type Asset struct {
	Type string // media type
	ETag string
	// Content returns the file. Files that are embedded compressed are decompressed once.
	Content func() ([]byte, error)
	// Packed returns the file compressed (gzip, RFC 1952), or nil if that is no shorter. Files that are embedded as they
	// are written are compressed once.
	Packed func() []byte
}

// Has reports whether files has the file name, perhaps compressed.
func Has(files fs.FS, name string) (bool, error) {
	for _, name := range []string{name, name + ".gz"} {
		if _, err := fs.Stat(files, name); !errors.Is(err, fs.ErrNotExist) {
			return err == nil, err
		}
	}
	return false, nil
}

// Asset returns the file that is served as /assets/{name}.
func (c *Console) Asset(name string) (Asset, bool) {
	a, ok := c.assets[name]
	return a, ok
}

func (c *Console) collect(prefix string, files fs.FS) error {
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return fmt.Errorf("console: %w", err)
		}
		name, compressed := strings.CutSuffix(name, ".gz")
		kind, ok := mediaType(name)
		if !ok {
			return fmt.Errorf("console: the extension of the asset %s has no known media type", prefix+name)
		}
		sum := sha256.Sum256(content)
		a := Asset{
			Type: kind, ETag: `"` + hex.EncodeToString(sum[:16]) + `"`,
			Content: func() ([]byte, error) { return content, nil },
			Packed:  sync.OnceValue(func() []byte { return packed(content) }),
		}
		if compressed {
			a.Content = sync.OnceValues(func() ([]byte, error) { return unpacked(content) })
			a.Packed = func() []byte { return content }
		}
		c.assets[prefix+name] = a
		return nil
	})
}

func unpacked(content []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func packed(content []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil
	}
	_, err = w.Write(content)
	if errors.Join(err, w.Close()) != nil || b.Len() >= len(content) {
		return nil
	}
	return b.Bytes()
}

func mediaType(name string) (string, bool) {
	kind, ok := map[string]string{
		".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
		".json": "application/json", ".wasm": "application/wasm", ".map": "application/json",
		".ts":  "text/plain; charset=utf-8",
		".txt": "text/plain; charset=utf-8", ".woff2": "font/woff2",
	}[path.Ext(name)]
	return kind, ok
}
