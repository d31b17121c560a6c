package filerecords_test

import (
	"syscall"
	"testing"

	"github.com/airlock-run/airlock/infra/records/filerecords"
	"github.com/airlock-run/airlock/infra/records/recordstest"
)

func suite(cfg filerecords.Config) recordstest.Suite {
	return recordstest.Suite{
		New: func(t *testing.T) string { return t.TempDir() },
		Open: func(place string, fault recordstest.Fault) (recordstest.Store, error) {
			cfg.Intercept = filerecords.Interceptor(fault)
			return filerecords.Open(place, cfg)
		},
		Short: func(n int, err error) error { return &filerecords.ShortWrite{N: n, Err: err} },
		Full:  syscall.ENOSPC,
	}
}

func TestMain(m *testing.M) { recordstest.Main(m, suite(filerecords.Config{})) }

func TestConformance(t *testing.T) { recordstest.Run(t, suite(filerecords.Config{})) }
