package crew_test

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/airlock-run/airlock/sandbox/internal/crew"
)

// goroutine returns the name of the goroutine that calls it.
func goroutine() string {
	trace := make([]byte, 64)
	name, _, _ := bytes.Cut(trace[:runtime.Stack(trace, false)], []byte(" ["))
	return string(name)
}

// A later call finds the goroutine of an earlier one. No call waits for another.
func TestRun(t *testing.T) {
	c := crew.New()
	defer c.Dismiss()
	ran, release := make(chan string), make(chan struct{})
	c.Run(func() { ran <- goroutine(); <-release })
	first := <-ran
	c.Run(func() { ran <- goroutine(); <-release })
	second := <-ran
	if first == second {
		t.Errorf("two calls at once ran on %s", first)
	}
	close(release)
	for range 100_000 {
		runtime.Gosched()
		c.Run(func() { ran <- goroutine() })
		if later := <-ran; later == first || later == second {
			return
		}
	}
	t.Error("no goroutine was used again")
}
