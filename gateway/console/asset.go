package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sync"
)

// An Asset is a file that pages load.
type Asset struct {
	Content []byte
	Type    string // media type
	ETag    string
	// Packed returns Content compressed (gzip, RFC 1952), or nil if that is no shorter. It compresses once.
	Packed func() []byte
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
		kind, ok := mediaType(name)
		if !ok {
			return fmt.Errorf("console: the extension of the asset %s has no known media type", prefix+name)
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return fmt.Errorf("console: %w", err)
		}
		sum := sha256.Sum256(content)
		c.assets[prefix+name] = Asset{
			Content: content, Type: kind, ETag: `"` + hex.EncodeToString(sum[:16]) + `"`,
			Packed: sync.OnceValue(func() []byte { return packed(content) }),
		}
		return nil
	})
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
