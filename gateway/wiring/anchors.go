package wiring

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/airlock-run/airlock/gateway/wiring/settings"
	"github.com/airlock-run/airlock/infra/records"
	"github.com/airlock-run/airlock/infra/records/anchors"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/infra/state/dynamostate"
	"github.com/airlock-run/airlock/infra/state/pgstate"
	"github.com/airlock-run/airlock/policy/audit"
)

// anchorEvery is how often a gateway anchors its records in its state. Newer records are not anchored yet.
const anchorEvery = time.Minute

// pruningSlack is the recent time in which retention has removed nothing: it never touches today and yesterday, and the
// clocks of machines differ.
const pruningSlack = 12 * time.Hour

// OpenAnchor opens the anchor of the records in the state. It returns nil if there is no state.
func OpenAnchor(ctx context.Context, state, store string, key []byte, s3Endpoint string) (*anchors.Store, error) {
	if state == "" {
		return nil, nil
	}
	cfg := anchors.Config{Key: key, Access: s3objects.Access{Endpoint: s3Endpoint}}
	if settings.IsDatabase(state) {
		documents, err := pgstate.OpenDocuments(state)
		if err != nil {
			return nil, err
		}
		cfg.Documents = documents
	}
	if settings.IsTable(state) {
		documents, err := dynamostate.OpenDocuments(ctx, state, tableAccess(s3Endpoint))
		if err != nil {
			return nil, err
		}
		cfg.Documents = documents
	}
	return anchors.Open(ctx, state, store, cfg)
}

// keepAnchored raises the anchor at once, at each tick, and once more when stop is called. An anchor that cannot be
// raised lags behind.
func keepAnchored(ctx context.Context, store records.Store, anchor *anchors.Store, tick <-chan time.Time,
	log *slog.Logger) (stop func()) {
	if anchor == nil {
		return func() {}
	}
	failed := false
	raise := func(ctx context.Context) {
		heads, err := store.Heads(ctx)
		if err == nil {
			err = anchor.Raise(ctx, heads)
		}
		if err != nil && ctx.Err() == nil && !failed {
			log.Warn("records not anchored in the state; will retry", "error", err)
		}
		failed = err != nil
	}
	ended := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			raise(ctx)
			select {
			case <-tick:
			case <-ctx.Done():
				return
			case <-ended:
				return
			}
		}
	})
	return func() {
		close(ended)
		running.Wait()
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		raise(last)
	}
}

// verifyAnchored returns a func that verifies the records against the anchor in the state, if there is one.
func verifyAnchored(store records.Store, anchor *anchors.Store) func(context.Context) (audit.Report, error) {
	return func(ctx context.Context) (audit.Report, error) {
		if anchor == nil {
			return store.Verify(ctx)
		}
		known, there, err := anchor.Read(ctx)
		if err != nil {
			return audit.Report{}, err
		}
		if !there {
			return store.Verify(ctx)
		}
		return store.VerifyAgainst(ctx, []audit.Anchor{Unpruned(known, time.Now())})
	}
}

// Unpruned returns a with the day since which retention has removed none of its records.
func Unpruned(a audit.Anchor, now time.Time) audit.Anchor {
	a.Since = now.Add(-pruningSlack).UTC().Format(time.DateOnly)
	return a
}
