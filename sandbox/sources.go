package sandbox

import (
	"crypto/sha256"
	"sync"
)

const (
	// rememberedCode is the longest code whose source is remembered, and rememberedBytes what is kept of all of them.
	rememberedCode  = 64 << 10
	rememberedBytes = 2 << 20
)

// sources remembers what scripts of a single file are compiled from: code that runs again and again is parsed, or
// transpiled, once. A source depends on the code alone, holds nothing of a run, and is never changed. When there are too
// many all are forgotten. It is safe for concurrent use.
type sources struct {
	mu    sync.Mutex
	by    map[sourceKey]*source
	bytes int
}

type sourceKey struct {
	sum        [sha256.Size]byte
	typescript bool
}

// of is sourceOf.
func (s *sources) of(script Script) (*source, *Exception) {
	if len(script.Files) > 0 || script.Entry != "" || len(script.Code) > rememberedCode {
		return sourceOf(script)
	}
	key := sourceKey{sha256.Sum256([]byte(script.Code)), script.TypeScript}
	s.mu.Lock()
	known := s.by[key]
	s.mu.Unlock()
	if known != nil {
		return known, nil
	}
	made, ex := sourceOf(script)
	if ex != nil {
		return nil, ex
	}
	n := 4*(len(script.Code)+len(made.text)) + 1<<10 // with its source map
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil || s.bytes+n > rememberedBytes {
		s.by, s.bytes = make(map[sourceKey]*source), 0
	}
	if s.by[key] == nil {
		s.by[key] = made
		s.bytes += n
	}
	return made, nil
}
