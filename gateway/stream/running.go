package stream

import (
	"context"
	"sync"

	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/results"
)

// Running holds the executions that clients follow: those that run, and the last that have ended. It is safe for
// concurrent use.
type Running struct {
	ended *results.Store[*followed]

	mu      sync.Mutex
	running map[string]*followed
}

// followed is a streamed execution, its owner, and what stops it.
type followed struct {
	owner string
	log   *Log
	stop  context.CancelFunc
	calls *calls
}

// NewRunning returns an empty Running.
func NewRunning() (*Running, error) {
	bound := bounds.Of(bounds.Replays)
	ended, err := results.New[*followed](bound.Most, bound.Bytes)
	return &Running{ended: ended, running: map[string]*followed{}}, err
}

// Cancel stops a streamed execution of owner. It reports whether one runs; its stream ends with the result.
func (r *Running) Cancel(id, owner string) bool {
	r.mu.Lock()
	f, ok := r.running[id]
	r.mu.Unlock()
	if !ok || f.owner != owner {
		return false
	}
	f.stop()
	return true
}

func (r *Running) find(id string) (*followed, bool) {
	r.mu.Lock()
	f, ok := r.running[id]
	r.mu.Unlock()
	if ok {
		return f, true
	}
	return r.ended.Get(id)
}

func (r *Running) begin(id string, f *followed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running[id] = f
}

func (r *Running) end(id string) {
	r.mu.Lock()
	f := r.running[id]
	delete(r.running, id)
	r.mu.Unlock()
	f.log.Close()
	r.ended.Put(f.owner, id, f, f.log.Bytes())
}
