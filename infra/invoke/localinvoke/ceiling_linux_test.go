package localinvoke_test

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/airlock-run/airlock/functions/execution"
)

// reserves runs the codes "reserve" and "reserve often" of a sealed process: it reserves a GiB of address space once,
// or a piece of it each millisecond until the kernel refuses. The result is how many pieces the kernel gave.
func reserves(code string) (json.RawMessage, bool) {
	var most int
	switch code {
	case "reserve":
		most = 1
	case "reserve often":
		most = 10_000
	default:
		return nil, false
	}
	given := 0
	for ; given < most; <-time.After(time.Millisecond) {
		if _, err := unix.Mmap(-1, 0, 1<<30, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON); err != nil {
			break
		}
		given++
	}
	return json.RawMessage(strconv.Itoa(given)), true
}

// What a sealed process that runs for long can take between two samples is bounded, because the kernel refuses it
// further addresses. The next execution has them again.
func TestCeiling(t *testing.T) {
	cfg := config(t)
	cfg.Env, cfg.Sealed, cfg.Processes = []string{"FUNCTION=sealed"}, sealedPool(&shelf{}), 1
	p := newPool(t, cfg)
	for _, c := range []struct {
		code        string
		least, most int
	}{
		{"reserve", 1, 1}, {"reserve often", 1, 9_999}, {"reserve", 1, 1}, {"reserve often", 1, 9_999},
	} {
		r, err := p.Invoke(t.Context(), invocation(c.code), nil)
		if err != nil || r.Result.Status != execution.Completed {
			t.Fatalf("%s: %+v, %v", c.code, r.Result, err)
		}
		given, err := strconv.Atoi(string(r.Result.Result))
		if err != nil {
			t.Fatal(err)
		}
		if given < c.least || given > c.most {
			t.Errorf("%s: the kernel gave %d GiB, want %d to %d", c.code, given, c.least, c.most)
		}
	}
	if restarts := p.Stats().Processes[0].Restarts; restarts != 0 {
		t.Errorf("the process was replaced %d times", restarts)
	}
}
