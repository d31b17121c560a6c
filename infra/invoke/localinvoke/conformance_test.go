//go:build unix

package localinvoke_test

import (
	"runtime"
	"testing"

	"github.com/airlock-run/airlock/infra/invoke/invoketest"
)

func TestConformance(t *testing.T) {
	for _, kind := range []string{"1", "sealed"} {
		t.Run("function "+kind, func(t *testing.T) {
			invoketest.Test(t, invoketest.Suite{
				New: func(t testing.TB, o invoketest.Options) invoketest.Invoker {
					cfg := config(t)
					cfg.Processes, cfg.MaxExecution, cfg.Grace, cfg.MaxMemory = o.Processes, o.MaxExecution, o.Grace, o.MaxMemory
					if kind == "sealed" {
						cfg.Env, cfg.Sealed = []string{"FUNCTION=sealed"}, sealedPool(&shelf{})
					}
					return newPool(t, cfg)
				},
				CancelReaches: true,
				Memory:        runtime.GOOS == "linux",
			})
		})
	}
}
