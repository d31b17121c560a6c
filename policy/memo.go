package policy

import (
	"fmt"
	"slices"
	"sync"
)

// memo remembers what was read, for code that runs again and again (Ask.Sum). A Reading depends on its Text and on nothing
// else: remembering changes no decision. What one tenant's code came to is not used for another's, who could tell by the time
// it takes. It is safe for concurrent use. Readings in it are shared: nobody may change them.
type memo struct {
	mu sync.Mutex
	by map[string]Reading
}

// maxRemembered bounds a memo: when it is full it is emptied.
const maxRemembered = 256

// read returns what reading a question's text comes to.
func (m *memo) read(q *inquiry, t Text, read func(Text) (Reading, error)) (Reading, error) {
	if m == nil || q.ask.Sum == "" {
		return read(t)
	}
	key := fmt.Sprintf("%q %q %q %v %v", q.ask.Tenant, q.ask.Sum, slices.Sorted(slices.Values(t.Globals)), t.Powers, t.Syntax)
	m.mu.Lock()
	known, ok := m.by[key]
	m.mu.Unlock()
	if ok {
		return known, nil
	}
	known, err := read(t)
	if err != nil || known.Unfinished {
		return known, err // another time it may be finished
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.by == nil || len(m.by) >= maxRemembered {
		m.by = make(map[string]Reading)
	}
	m.by[key] = known
	return known, nil
}
