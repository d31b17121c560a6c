package events

import (
	"bufio"
	"context"
	"io"
	"sync"
)

// running knows the executions in progress, so that they can be cancelled by id.
type running struct {
	mu      sync.Mutex
	cancels map[string]context.CancelFunc
	// early is an id that was cancelled before its invocation arrived: the two come by different ways. One is enough,
	// because the sender has at most one execution on its way.
	early string
}

func newRunning() *running { return &running{cancels: map[string]context.CancelFunc{}} }

// start gives the context of one execution and the function that ends it.
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

// follow cancels the ids that in names, one a line, until it ends.
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
