package sandbox_test

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// TestHammer checks that concurrent guests leave nothing behind: no global, prototype or random state reaches another
// guest, and memory is released.
func TestHammer(t *testing.T) {
	executions := 10_000
	if raceEnabled {
		executions = 1_000
	}
	e := newEngine(t)
	const code = `
		const stains = [globalThis.stain, Object.prototype.stain, [].stain, console.stain, JSON.stain]
			.filter((s) => s !== undefined);
		globalThis.stain = Object.prototype.stain = console.stain = JSON.stain = Math.random();
		Array.prototype.push = () => { throw new Error("someone else's push") };
		Promise.prototype.then = () => {};
		const junk = []; for (let i = 0; i < 200; i++) junk[i] = 'x'.repeat(i);
		return [id, stains.length, Math.random()];`
	workers := 2 * runtime.GOMAXPROCS(0)
	hammer := func(count int) {
		var seen sync.Map
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for i := w; i < count; i += workers {
					r, err := e.Run(t.Context(),
						sandbox.Script{Code: code, Context: map[string]json.RawMessage{"id": json.RawMessage(strconv.Itoa(i))}},
						sandbox.Grants{})
					want := fmt.Sprintf("[%d,0,", i)
					if err != nil || !strings.HasPrefix(string(r.Value), want) {
						t.Errorf("execution %d gave %s (%s, %v)", i, r.Value, r.Error, err)
						return
					}
					if _, twice := seen.LoadOrStore(strings.TrimPrefix(string(r.Value), want), i); twice {
						t.Errorf("execution %d drew a random number that was drawn before: %s", i, r.Value)
						return
					}
				}
			})
		}
		wg.Wait()
		debug.FreeOSMemory()
	}
	hammer(executions / 10)
	before := resident(t)
	hammer(executions)
	if after := resident(t); after > before+before/10+8<<20 {
		t.Errorf("resident memory grew from %d to %d bytes", before, after)
	}
}

// resident returns the resident memory of this process, or 0 if the system does not report it.
func resident(t *testing.T) int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, err := strconv.ParseInt(strings.Fields(string(b))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}
