package lategc_test

import (
	"fmt"
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

// TestWhoDecides starts this program again, with and without settings of the user.
func TestWhoDecides(t *testing.T) {
	if _, child := os.LookupEnv("LATEGC_CHILD"); child {
		fmt.Printf("percent %d, collected %v\n", debug.SetGCPercent(100), collections > 0)
		return
	}
	for gogc, want := range map[string]string{"": "percent 100, collected false", "50": "percent 50, collected true"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "TestWhoDecides")
		cmd.Env = append(os.Environ(), "LATEGC_CHILD=", "GOMEMLIMIT=", "GOGC="+gogc)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("GOGC=%s: %v, %s, want %s", gogc, err, out, want)
		}
	}
}
