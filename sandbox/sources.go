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

// of is sourceOf. again says that the code was seen before.
func (s *sources) of(script Script) (_ *source, again bool, _ *Exception) {
	if len(script.Files) > 0 || script.Entry != "" || len(script.Code) > rememberedCode {
		made, ex := sourceOf(script)
		return made, false, ex
	}
	key := sourceKey{script.Owner, sha256.Sum256([]byte(script.Code)), script.TypeScript}
	s.mu.Lock()
	known := s.by[key]
	s.mu.Unlock()
	if known != nil {
		return known, true, nil
	}
	made, ex := sourceOf(script)
	if ex != nil {
		return nil, false, ex
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take(4*(len(script.Code)+len(made.text)) + 1<<10) // with its source map
	s.by[key] = made
	return made, false, nil
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
