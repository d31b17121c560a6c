package wiring

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/airlock-run/airlock/infra/records/filerecords"
)

// A pruner is a record store that removes old records itself. Buckets have lifecycle rules for that.
type pruner interface {
	Prune(ctx context.Context, keep filerecords.Retention) (filerecords.Pruned, error)
}

var _ pruner = (*filerecords.Store)(nil)

// pruneEvery is how often retention runs. It removes whole days, so once an hour is enough.
const pruneEvery = time.Hour

// retain removes records that are too old or too many, at once and at each tick, until stop is called.
func retain(ctx context.Context, store any, keep filerecords.Retention, tick <-chan time.Time,
	log *slog.Logger) (stop func()) {
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
				log.Info("retention removed records", "days", done.Days, "records", done.Records, "bytes", done.Bytes)
			}
			if err != nil && ctx.Err() == nil {
				log.Error("retention failed; will retry", "error", err)
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
