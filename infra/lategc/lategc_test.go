package lategc_test

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/infra/lategc"
)

// collections is what the collector had done when the packages were initialised.
var collections = func() uint32 {
	garbage := make([][]byte, 0, 64)
	for range cap(garbage) {
		garbage = append(garbage, make([]byte, 1<<20))
	}
	runtime.KeepAlive(garbage)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NumGC
}()

func TestMain(m *testing.M) {
	lategc.Start(100)
	os.Exit(m.Run())
}

func TestNoCollectionBeforeMain(t *testing.T) {
	if os.Getenv("GOGC") != "" {
		t.Skip("GOGC is set")
	}
	if collections != 0 {
		t.Errorf("%d collections while packages were initialised", collections)
	}
	if percent := debug.SetGCPercent(100); percent != 100 {
		t.Errorf("after Start the percentage is %d", percent)
	}
}

func TestGOGCDecides(t *testing.T) {
	if os.Getenv("GOGC") == "50" {
		if percent := debug.SetGCPercent(50); percent != 50 || collections == 0 {
			t.Errorf("with GOGC=50 the percentage is %d, after %d collections", percent, collections)
		}
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "TestGOGCDecides")
	cmd.Env = append(os.Environ(), "GOGC=50")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}
