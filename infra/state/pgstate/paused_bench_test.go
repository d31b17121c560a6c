package pgstate_test

import (
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/pgstate"
	"github.com/airlock-run/airlock/infra/state/statetest"
)

func BenchmarkPaused(b *testing.B) {
	if server == nil {
		b.Skip("Postgres is not installed")
	}
	s, err := pgstate.Open(b.Context(), server.Database(b), pgstate.Config{MaxJobs: 200_000, MaxJobsPerTenant: 200_000,
		Storage: func(string) execution.Storage { return execution.Storage{Jobs: 1 << 30} }})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	statetest.BenchmarkPaused(b, s)
}
