package main

import (
	"log/slog"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// The part of the memory at which the Go runtime collects garbage harder. Function processes need the other half where
// there are any.
const (
	heapBeside = 0.5
	heapAlone  = 0.9
)

// limitMemory sets the runtime's memory limit from the container (cgroup v2 or v1), or else from the machine, unless
// GOMEMLIMIT sets it. A burst of large requests then costs processor time rather than the process.
func limitMemory(set settings, log *slog.Logger) {
	part := heapBeside
	if set.invoker == "lambda" {
		part = heapAlone
	}
	_, err := memlimit.Set(memlimit.WithRatio(part), memlimit.WithProvider(memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)))
	if err != nil {
		log.Warn("the memory limit of the container cannot be read; set GOMEMLIMIT", "error", err)
	}
}
