package wiring

import (
	"log/slog"
	"math"
	"runtime/debug"
	"testing"

	"github.com/airlock-run/airlock/gateway/wiring/settings"
)

// TestLimitMemory: the limit is set from the container or the machine, and an operator's own stays.
func TestLimitMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	log := slog.New(slog.DiscardHandler)
	limits := map[string]int64{}
	for _, invoker := range []string{"local", "lambda"} {
		debug.SetMemoryLimit(math.MaxInt64)
		limitMemory(settings.Settings{Invoker: invoker}, log)
		if limits[invoker] = debug.SetMemoryLimit(-1); limits[invoker] == math.MaxInt64 || limits[invoker] < 64<<20 {
			t.Errorf("%s: %d", invoker, limits[invoker])
		}
	}
	if limits["local"] >= limits["lambda"] {
		t.Errorf("function processes are left nothing: %v", limits)
	}
	t.Setenv("GOMEMLIMIT", "123MiB") // the runtime has read it at the start
	debug.SetMemoryLimit(123 << 20)
	limitMemory(settings.Settings{Invoker: "local"}, log)
	if got := debug.SetMemoryLimit(-1); got != 123<<20 {
		t.Errorf("the operator's limit became %d", got)
	}
}
