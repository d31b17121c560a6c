package s3state

import (
	"context"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// A noWaits is the part of a store for paused jobs of one that keeps none. A gateway with keys for snapshots refuses to
// start on it.
type noWaits struct{}

// DueWaits returns nothing.
func (noWaits) DueWaits(context.Context, time.Time, int) ([]execution.Job, error) { return nil, nil }

// Paused returns nothing.
func (noWaits) Paused(context.Context, string, string, string, int) ([]execution.Job, error) {
	return nil, nil
}
