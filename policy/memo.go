package policy

import (
	"fmt"
	"slices"
	"sync"
)

// memo remembers what scans came to, for code that runs again and again (Ask.Sum). A scan depends on the code, the names
// that the host defines and the powers that were granted, and on nothing else: remembering changes no decision. What one tenant's
// code came to is not used for another's, who could tell by the time it takes. It is safe for concurrent use.
type memo struct {
	mu sync.Mutex
	by map[string]scanResult
}

// maxRemembered bounds a memo: when it is full it is emptied.
const maxRemembered = 256

// scanResult is what a decision takes from the scan. It is shared: nobody may change it.
type scanResult struct {
	analysis  DangerAnalysis
	telemetry Telemetry
	syntax    *SyntaxError
}

// scanned gives what the scan for a question comes to.
func (m *memo) scanned(q *inquiry, scan func() scanResult) scanResult {
	if m == nil || q.ask.Sum == "" {
		return scan()
	}
	g := q.grants
	key := fmt.Sprintf("%q %q %q %v %q %q %q", q.ask.Tenant, q.ask.Sum, slices.Sorted(slices.Values(q.ask.Globals)), g.Eval, g.Network, g.Files, g.Modules)
	m.mu.Lock()
	known, ok := m.by[key]
	m.mu.Unlock()
	if ok {
		return known
	}
	known = scan()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.by == nil || len(m.by) >= maxRemembered {
		m.by = make(map[string]scanResult)
	}
	m.by[key] = known
	return known
}
