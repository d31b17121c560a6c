package pgstate_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/jobs"
	"github.com/airlock-run/airlock/infra/state/pgstate"
)

// The jobs of a killed gateway run on another one, once the first counts as dead. With the default heartbeats and a
// processor to run on, that takes 8 to 13 seconds.
func TestRecoveryOfAKilledGateway(t *testing.T) {
	t.Parallel()
	state := newFleet(t)
	dying, heir := openWith(t, state.url, pgstate.Config{}), openWith(t, state.url, pgstate.Config{})
	const n = 20
	for i := range n {
		job := execution.Job{ID: fmt.Sprintf("exec_%010d", i), Tenant: "t", Status: execution.Queued}
		if err := dying.Submit(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		if _, err := dying.Claim(t.Context(), time.Now(), "", nil); err != nil {
			t.Fatal(err)
		}
	}
	ran := make(chan struct{}, n)
	runner := &counted{&world{runs: map[string]int{}, told: map[string]int{}}, ran}
	queue, err := jobs.New(jobs.Config{Store: heir, Runner: runner, Now: time.Now,
		Random: func() float64 { return 0 }, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	queue.Start(t.Context())
	dying.Die()
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range n {
		select {
		case <-ran:
		case <-ctx.Done():
			t.Fatal("the jobs do not run again")
		}
	}
	took := time.Since(began)
	t.Logf("%d jobs ran again after %v", n, took)
	if took < 4*time.Second {
		t.Errorf("after %v the gateway could still have lived", took)
	}
	if err := queue.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

// counted signals each run on a channel.
type counted struct {
	*world
	ran chan<- struct{}
}

func (c *counted) Run(ctx context.Context, job execution.Job) (execution.Result, time.Duration) {
	defer func() { c.ran <- struct{}{} }()
	return c.world.Run(ctx, job)
}
