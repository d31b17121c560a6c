package runner

import (
	"sync"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/functions/governance"
)

// sourceCacheBytes bounds the sources that a function keeps. A full cache is emptied; gateways send sources again on
// demand.
const sourceCacheBytes = 32 << 20

// A sourceCache keeps the sources of saved functions, so that later invocations can name them by their hash. It is
// safe for concurrent use.
type sourceCache struct {
	mu      sync.Mutex
	entries map[sourceKey]sourceEntry
	bytes   int
}

// sourceKey separates tenants: none finds the sources of another.
type sourceKey struct{ tenant, sum string }

type sourceEntry struct {
	sources    execution.Sources
	codeSHA256 string
}

// complete adds the cached sources to an invocation that names them, and caches the sources of one that carries them.
// It sets inv.Content for every saved function.
func (s *sourceCache) complete(inv *execution.Invocation) (codeSHA256 string, err error) {
	if inv.Function == nil {
		return governance.Hash([]byte(inv.Request.Main())), nil
	}
	key := sourceKey{inv.Caller.Tenant, inv.Content}
	brought := inv.Request.Sources()
	if brought.Code == "" && brought.Entry == "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		found, ok := s.entries[key]
		if !ok {
			return "", &execution.Error{Code: execution.SourcesNeeded, Message: "the function does not have these sources yet"}
		}
		inv.Request = inv.Request.WithSources(found.sources)
		return found.codeSHA256, nil
	}
	sum := brought.Sum()
	if inv.Content != "" && inv.Content != sum {
		return "", &execution.Error{Code: execution.InvalidRequest, Field: "content",
			Message: "does not match the hash of the sources in the request"}
	}
	inv.Content, key.sum = sum, sum
	found := sourceEntry{brought, governance.Hash([]byte(inv.Request.Main()))}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.entries[key]; known {
		return found.codeSHA256, nil
	}
	n := brought.Bytes() + 1<<10
	if s.entries == nil || s.bytes+n > sourceCacheBytes {
		s.entries, s.bytes = make(map[sourceKey]sourceEntry), 0
	}
	s.entries[key] = found
	s.bytes += n
	return found.codeSHA256, nil
}
