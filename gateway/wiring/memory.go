package wiring

import (
	"log/slog"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/airlock-run/airlock/gateway/wiring/settings"
)

// The share of the machine's memory that is the Go runtime's memory limit. Function processes need the other half.
const (
	heapBeside = 0.5
	heapAlone  = 0.9
)

// machineMemory returns the memory in bytes of the container (cgroup v2 or v1) or of the machine.
var machineMemory = memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)

// limitMemory sets the runtime's memory limit from the container or the machine, unless GOMEMLIMIT sets it. A burst of
// large requests then costs processor time, not the process.
func limitMemory(set settings.Settings, log *slog.Logger) {
	part := heapBeside
	if set.Invoker == "lambda" {
		part = heapAlone
	}
	_, err := memlimit.Set(memlimit.WithRatio(part), memlimit.WithProvider(machineMemory))
	if err != nil {
		log.Warn("the memory limit of the container cannot be read; set GOMEMLIMIT", "error", err)
	}
}
