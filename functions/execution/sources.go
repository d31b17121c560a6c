package execution

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// Sources are the part of a [Request] that is the same in every call of one version of a saved function.
type Sources struct {
	Code, Language, Entry string
	Files                 map[string]File
}

// Sources returns the sources of r. They share its files.
func (r Request) Sources() Sources { return Sources{r.Code, r.Language, r.Entry, r.Files} }

// WithSources returns r with other sources.
func (r Request) WithSources(s Sources) Request {
	r.Code, r.Language, r.Entry, r.Files = s.Code, s.Language, s.Entry, s.Files
	return r
}

// Sum returns the SHA-256 of the sources in hexadecimal digits.
func (s Sources) Sum() string {
	h := sha256.New()
	put := func(b []byte) {
		fmt.Fprintf(h, "%d:", len(b))
		h.Write(b)
	}
	for _, text := range []string{s.Code, s.Language, s.Entry} {
		put([]byte(text))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		put([]byte(name))
		put(s.Files[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Bytes returns the size of the sources.
func (s Sources) Bytes() int {
	n := len(s.Code)
	for name, content := range s.Files {
		n += len(name) + len(content)
	}
	return n
}
