package source

import (
	"crypto/sha256"
	"sync"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

const (
	// maxCachedCode is the longest code that a Cache takes, and maxCachedBytes bounds the whole cache.
	maxCachedCode  = 64 << 10
	maxCachedBytes = 4 << 20
)

// Cache holds the sources of single-file scripts and what the engine compiled them to. A script that runs again is
// parsed once and compiled twice. A Source depends on the code alone and holds nothing of a run. A full cache is
// emptied. A Cache is safe for concurrent use; its zero value is empty.
type Cache struct {
	mu    sync.Mutex
	by    map[Key]*Source
	bytes int
}

// Key identifies a script in a Cache. Owners share no entries: how long a run takes must not tell what others run.
type Key struct {
	owner      string
	sum        [sha256.Size]byte
	typescript bool
	packages   string
	session    bool
	saved      bool
}

// KeyOf returns the key of an owner's code. ok is false for code that is not cached.
func KeyOf(owner string, in Input) (key Key, ok bool) {
	if len(in.Files) > 0 || in.Entry != "" || len(in.Code) > maxCachedCode {
		return Key{}, false
	}
	return Key{owner, sha256.Sum256([]byte(in.Code)), in.TypeScript, in.Packages.Identity, in.Session,
		in.Saved}, true
}

// Get returns the source under key, or nil.
func (c *Cache) Get(key Key) *Source {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.by[key]
}

// Put adds the source of code of n bytes.
func (c *Cache) Put(key Key, s *Source, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reserve(4*(n+len(s.Text)) + 1<<10) // with its source map
	c.by[key] = s
}

// Compiled returns what KeepCompiled kept for s, or nil.
func (c *Cache) Compiled(s *Source) *quickjs.Compiled { return s.compiled.Load() }

// KeepCompiled keeps the compiled form of s; nil is ignored.
func (c *Cache) KeepCompiled(s *Source, compiled *quickjs.Compiled) {
	if compiled == nil || s.compiled.Swap(compiled) != nil {
		return // the replaced entry belongs to an image that is gone, and has about the same size
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reserve(compiled.Bytes())
}

// reserve makes room for n bytes.
func (c *Cache) reserve(n int) {
	if c.by == nil || c.bytes+n > maxCachedBytes {
		c.by, c.bytes = make(map[Key]*Source), 0
	}
	c.bytes += n
}
