package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/airlock-run/airlock/infra/records/filerecords"
)

// pruner is a store of records that takes old ones away itself. Buckets do it by their lifecycle rules.
type pruner interface {
	Prune(ctx context.Context, keep filerecords.Retention) (filerecords.Pruned, error)
}

var _ pruner = (*filerecords.Store)(nil)

// pruneEvery is how often retention is looked after. What goes are whole days, so an hour is often enough.
const pruneEvery = time.Hour

// retention reads AUDIT_MAX_AGE and AUDIT_MAX_BYTES, which are for folders.
func (r *reader) retention(auditStore string) (keep filerecords.Retention) {
	age, size := strings.TrimSpace(r.getenv("AUDIT_MAX_AGE")), strings.TrimSpace(r.getenv("AUDIT_MAX_BYTES"))
	var err error
	if keep.MaxAge, err = length("AUDIT_MAX_AGE", age); err != nil {
		r.wrong = append(r.wrong, err)
	}
	if keep.MaxBytes, err = bytesOf("AUDIT_MAX_BYTES", size); err != nil {
		r.wrong = append(r.wrong, err)
	}
	if name := "AUDIT_MAX_AGE"; isBucket(auditStore) && age+size != "" {
		if age == "" {
			name = "AUDIT_MAX_BYTES"
		}
		r.fail(name, "is for folders; give the bucket of AUDIT_STORE a lifecycle rule that expires what is under its prefix, as template.yaml does")
	}
	return keep
}

// retain takes away what is too old or too much, at once and at each tick, until the function it gives is called.
func retain(ctx context.Context, store any, keep filerecords.Retention, tick <-chan time.Time, log *slog.Logger) (stop func()) {
	p, ok := store.(pruner)
	if !ok || keep == (filerecords.Retention{}) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			done, err := p.Prune(ctx, keep)
			if len(done.Days) > 0 {
				log.Info("records were taken away by retention", "days", done.Days, "records", done.Records, "bytes", done.Bytes)
			}
			if err != nil && ctx.Err() == nil {
				log.Error("retention", "error", fmt.Errorf("it is tried again: %w", err))
			}
			select {
			case <-tick:
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}
