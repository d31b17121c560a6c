package policy

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/airlock-run/airlock/policy/scan"
)

// memo remembers the scans of code that runs again and again (Request.Sum). A scan depends only on its input, so a memo
// changes no decision. Tenants share no entries: the time of an answer must not tell one tenant what another runs. It
// is safe for concurrent use. Callers must not change a remembered result.
type memo struct {
	mu    sync.Mutex
	known map[string]scan.Result
}

// maxRemembered bounds a memo. A full memo is emptied.
const maxRemembered = 256

// scan returns the remembered result for a request, or runs the scan and remembers a finished result.
func (m *memo) scan(ctx context.Context, r *Request, in scan.Input, run scan.Func) (scan.Result, error) {
	if m == nil || r.Sum == "" {
		return run(ctx, in)
	}
	globals := slices.Sorted(slices.Values(in.Globals))
	key := fmt.Sprintf("%q %q %q %v %v", r.Tenant, r.Sum, globals, in.Powers, in.Syntax)
	m.mu.Lock()
	found, ok := m.known[key]
	m.mu.Unlock()
	if ok {
		return found, nil
	}
	found, err := run(ctx, in)
	if err != nil || found.Unfinished {
		return found, err // another scan may finish
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil || len(m.known) >= maxRemembered {
		m.known = make(map[string]scan.Result)
	}
	m.known[key] = found
	return found, nil
}
