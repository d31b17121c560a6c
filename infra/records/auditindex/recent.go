package auditindex

import (
	"bytes"
	"sync"
)

// recentBytes bounds the lines that are kept in memory: tens of thousands of ordinary records.
const recentBytes = 32 << 20

// A recent holds the lines of objects that were read last, up to a size. Objects never change, so a page of new records
// costs no request. It is safe for concurrent use.
type recent struct {
	most int

	mu    sync.Mutex
	lines map[object][]byte
	order []object // oldest first
	size  int
}

func newRecent(most int) *recent { return &recent{most: most, lines: map[object][]byte{}} }

// get returns the line of an object, which must not be changed, or nil.
func (r *recent) get(o object) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lines[o]
}

// add keeps a copy of a line, and drops the oldest ones. A line that would take a large part of the room is not kept.
func (r *recent) add(o object, line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lines[o] != nil || len(line) == 0 || len(line) > r.most/64 {
		return
	}
	r.lines[o] = bytes.Clone(line)
	r.order = append(r.order, o)
	for r.size += len(line); r.size > r.most; {
		r.size -= len(r.lines[r.order[0]])
		delete(r.lines, r.order[0])
		r.order = r.order[1:]
	}
}
