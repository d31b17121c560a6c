package wiring

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
	recordstore "github.com/airlock-run/airlock/infra/records"
	"github.com/airlock-run/airlock/policy/audit"
)

const (
	// maxWriters is the number of openings of a folder, and so of the records that are stored at the same time.
	maxWriters = 8
	// maxInBucket is the number of records that the one opening of a bucket stores at the same time. A bucket has chains
	// of its own for that.
	maxInBucket = 256
)

// writers opens a folder of records several times, each with its own hash chain: an opening stores one record after the
// other, and function processes answer side by side. It opens a bucket once. It is safe for concurrent use.
type writers struct {
	mu    sync.Mutex
	ready sync.Cond // signalled when an opening is free
	all   []recordstore.Store
	free  []recordstore.Store // the most recently used is the last
}

var _ audit.Appender = (*writers)(nil)

// openWriters opens a store for a number of processes. It must be closed.
func openWriters(ctx context.Context, records process.Records, store string, processes int,
	log *slog.Logger) (*writers, error) {
	w := &writers{}
	w.ready.L = &w.mu
	openings := max(1, min(processes, maxWriters))
	if settings.IsBucket(store) {
		openings = 1
	}
	for range openings {
		s, err := records.Open(ctx, store, log)
		if err != nil {
			return nil, errors.Join(err, w.close())
		}
		w.all = append(w.all, s)
	}
	w.free = append(w.free, w.all...)
	if settings.IsBucket(store) {
		w.free = slices.Repeat(w.all, maxInBucket)
	}
	return w, nil
}

// Append implements audit.Appender.
func (w *writers) Append(ctx context.Context, r audit.Record) error {
	w.mu.Lock()
	for len(w.free) == 0 {
		w.ready.Wait()
	}
	last := len(w.free) - 1
	s := w.free[last]
	w.free = w.free[:last]
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.free = append(w.free, s)
		w.ready.Signal()
	}()
	return s.Append(ctx, r)
}

// close closes every opening. No Append may be running.
func (w *writers) close() error {
	if w == nil {
		return nil
	}
	var errs []error
	for _, s := range w.all {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
