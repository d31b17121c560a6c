package sandbox

import (
	"crypto/sha256"
	"sync"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

const (
	// rememberedCode is the longest code whose source is remembered, and rememberedBytes what is kept of all of them.
	rememberedCode  = 64 << 10
	rememberedBytes = 4 << 20
)

// sources remembers what scripts of a single file are compiled from, and what that gives: code that runs again and again
// is parsed, or transpiled, once, and compiled twice. A source depends on the code alone, holds nothing of a run, and is never
// changed but for what compiling it gave. When there are too many all are forgotten. It is safe for concurrent use.
type sources struct {
	mu    sync.Mutex
	by    map[sourceKey]*source
	bytes int
}

type sourceKey struct {
	owner      string
	sum        [sha256.Size]byte
	typescript bool
}

// sourceKeyOf returns the key of a script; ok is false for one whose source is not remembered.
func sourceKeyOf(script Script) (key sourceKey, ok bool) {
	if len(script.Files) > 0 || script.Entry != "" || len(script.Code) > rememberedCode {
		return sourceKey{}, false
	}
	return sourceKey{script.Owner, sha256.Sum256([]byte(script.Code)), script.TypeScript}, true
}

// known returns the source of a script that was seen before, nil for any other.
func (s *sources) known(key sourceKey) *source {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.by[key]
}

// keep remembers the source of code of n bytes.
func (s *sources) keep(key sourceKey, made *source, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take(4*(n+len(made.text)) + 1<<10) // with its source map
	s.by[key] = made
}

// compiled keeps what compiling x gave, if anything.
func (s *sources) compiled(x *source, c *quickjs.Compiled) {
	if c == nil || !x.compiled.CompareAndSwap(nil, c) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take(c.Bytes())
}

// take makes room for n bytes.
func (s *sources) take(n int) {
	if s.by == nil || s.bytes+n > rememberedBytes {
		s.by, s.bytes = make(map[sourceKey]*source), 0
	}
	s.bytes += n
}
