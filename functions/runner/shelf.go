package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"github.com/airlock-run/airlock/functions/execution"
)

// shelfBytes bounds the sources that a function keeps: a full shelf is emptied, and gateways send again what is asked for.
const shelfBytes = 32 << 20

// shelf keeps the sources of saved functions that were met, so that invocations can name them. It is safe for concurrent
// use.
type shelf struct {
	mu    sync.Mutex
	by    map[shelfKey]kept
	bytes int
}

// shelfKey: no tenant finds another's sources.
type shelfKey struct{ tenant, sum string }

type kept struct {
	sources    execution.Sources
	codeSHA256 string
}

// complete gives inv its sources back, or keeps those that it brings. It sets inv.Content for every saved function.
func (s *shelf) complete(inv *execution.Invocation) (codeSHA256 string, err error) {
	if inv.Function == nil {
		return hashOf(inv.Request.Main()), nil
	}
	key := shelfKey{inv.Caller.Tenant, inv.Content}
	brought := inv.Request.Sources()
	if brought.Code == "" && brought.Entry == "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		found, ok := s.by[key]
		if !ok {
			return "", &execution.Error{Code: execution.SourcesNeeded, Message: "the function has not met these sources yet"}
		}
		inv.Request = inv.Request.WithSources(found.sources)
		return found.codeSHA256, nil
	}
	sum := brought.Sum()
	if inv.Content != "" && inv.Content != sum {
		return "", &execution.Error{Code: execution.InvalidRequest, Field: "content", Message: "is not the sum of the sources that come with it"}
	}
	inv.Content, key.sum = sum, sum
	found := kept{brought, hashOf(inv.Request.Main())}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.by[key]; known {
		return found.codeSHA256, nil
	}
	n := brought.Bytes() + 1<<10
	if s.by == nil || s.bytes+n > shelfBytes {
		s.by, s.bytes = make(map[shelfKey]kept), 0
	}
	s.by[key] = found
	s.bytes += n
	return found.codeSHA256, nil
}

func hashOf(source string) string {
	sum := sha256.Sum256([]byte(source))
	return hex.EncodeToString(sum[:])
}
