package sqlitestate_test

import (
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/state/sqlitestate"
	"github.com/airlock-run/airlock/infra/state/statetest"
)

func BenchmarkPaused(b *testing.B) {
	s, err := sqlitestate.Open(b.TempDir(), sqlitestate.Config{MaxJobs: 200_000, MaxJobsPerTenant: 200_000,
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
