package sandbox

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// memory is the memory limit of one run, which the guest and what the host holds for it share: copies of arguments,
// what operations build, streams, files, logs, requests and their answers. Everything is charged before it is
// allocated. What is bounded by a small constant is not charged: timers, the journal, the profile, short strings.
//
// memory implements hostops.Memory.
type memory struct {
	*quickjs.Budget
	engine *Engine
	limits *Limits
}

// Charge charges n bytes that the host is about to hold, on the guest's goroutine.
func (m *memory) Charge(n int64) error {
	if !m.Hold(n) {
		return m.limits.exceeded(LimitMemory)
	}
	return nil
}

// Release returns n bytes that Charge took.
func (m *memory) Release(n int64) {
	m.Budget.Release(n)
	m.engine.discard(n)
}

// ChargeAside charges n bytes that are held for work on other goroutines.
func (m *memory) ChargeAside(n int64) error {
	if !m.HoldAside(n) {
		return m.limits.exceeded(LimitMemory)
	}
	return nil
}

// ReleaseAside returns n bytes that ChargeAside took.
func (m *memory) ReleaseAside(n int64) {
	m.Budget.ReleaseAside(n)
	m.engine.discard(n)
}

const (
	// maxGarbage bounds the released memory that may wait for the garbage collector. Go alone would wait until the heap
	// has doubled, and the process could take several times the memory of its guests.
	maxGarbage = 32 << 20
	// maxUnused bounds the free heap that is kept for reuse. The rest is returned to the system, because Go does not
	// need it while a guest grows its own memory.
	maxUnused = 32 << 20
)

// discard counts n bytes as garbage, of all runs together, and collects it when there is too much.
func (e *Engine) discard(n int64) {
	garbage := e.garbage.Add(n)
	if garbage <= maxGarbage {
		return
	}
	e.garbage.Store(0)
	unused := []metrics.Sample{{Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(unused)
	v := unused[0].Value
	if v.Kind() == metrics.KindUint64 && int64(v.Uint64())+garbage > maxGarbage+maxUnused {
		debug.FreeOSMemory()
		return
	}
	runtime.GC()
}

// abandon counts as garbage the memory that a run held when it ended. It waits a moment for the goroutines of its
// requests, which end with it.
func (r *run) abandon() {
	held := r.memory.Held()
	for range maxYields {
		if held < maxGarbage/4 || r.requests.running.Load() == 0 {
			break
		}
		runtime.Gosched()
	}
	r.engine.discard(held)
}

const maxYields = 1000
