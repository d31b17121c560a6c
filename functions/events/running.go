package events

import (
	"bufio"
	"context"
	"io"
	"sync"
)

// running holds the executions in progress, so that they can be cancelled by ID.
type running struct {
	mu      sync.Mutex
	cancels map[string]context.CancelFunc
	// early is an ID that was cancelled before its invocation arrived over the other channel. One is enough, because
	// the sender has at most one execution on its way.
	early string
}

func newRunning() *running { return &running{cancels: map[string]context.CancelFunc{}} }

// start returns the context of one execution and the func that ends it.
func (r *running) start(ctx context.Context, id string) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.early == id {
		r.early = ""
		cancel()
	}
	r.cancels[id] = cancel
	return ctx, func() {
		cancel()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.cancels, id)
	}
}

// follow cancels the IDs that it reads from in, one per line, until in ends.
func (r *running) follow(in io.Reader) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		if id := lines.Text(); id != "" {
			r.cancel(id)
		}
	}
}

func (r *running) cancel(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if cancel, ok := r.cancels[id]; ok {
		cancel()
		return
	}
	r.early = id
}
