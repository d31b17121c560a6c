package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/airlock-run/airlock/infra/records"
	"github.com/airlock-run/airlock/policy/audit"
)

// mostWriters is how many records are stored at a time at most.
const mostWriters = 8

// writers are several openings of one record store, each with a chain of its own: an opening stores one record after the
// other, and function processes answer side by side. It is safe for concurrent use.
type writers struct {
	mu   sync.Mutex
	some sync.Cond // signalled when one is free
	all  []records.Store
	free []records.Store // the one used last is the last
}

var _ audit.Appender = (*writers)(nil)

// openWriters opens a store for as many processes. It must be closed.
func openWriters(ctx context.Context, set settings, store string, processes int, log *slog.Logger) (*writers, error) {
	w := &writers{}
	w.some.L = &w.mu
	for range max(1, min(processes, mostWriters)) {
		s, err := set.keeping.Open(ctx, store, log)
		if err != nil {
			return nil, errors.Join(err, w.close())
		}
		w.all = append(w.all, s)
	}
	w.free = append(w.free, w.all...)
	return w, nil
}

// Append implements audit.Appender.
func (w *writers) Append(ctx context.Context, r audit.Record) error {
	w.mu.Lock()
	for len(w.free) == 0 {
		w.some.Wait()
	}
	last := len(w.free) - 1
	s := w.free[last]
	w.free = w.free[:last]
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.free = append(w.free, s)
		w.some.Signal()
	}()
	return s.Append(ctx, r)
}

// close ends every opening. No record may be on its way.
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
