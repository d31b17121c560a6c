package sandbox

import (
	"errors"
	"io"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// What the host holds for a guest counts against the guest's memory limit: copies of arguments, what operations build, streams,
// files, logs, requests and their answers. It is charged before it is allocated. What is bounded by a small constant is
// not charged: timers, the journal, the profile, strings of at most maxWord.

// charge charges n bytes that the host is about to hold, on the guest's goroutine.
func (r *run) charge(n int64) error {
	if !r.memory.Hold(n) {
		return r.limits.exceeded(LimitMemory)
	}
	return nil
}

// release returns n bytes that charge took.
func (r *run) release(n int64) {
	r.memory.Release(n)
	r.engine.discard(n)
}

// chargeAside is charge for what is held for work on other goroutines.
func (r *run) chargeAside(n int64) error {
	if !r.memory.HoldAside(n) {
		return r.limits.exceeded(LimitMemory)
	}
	return nil
}

// releaseAside returns n bytes that chargeAside took.
func (r *run) releaseAside(n int64) {
	r.memory.ReleaseAside(n)
	r.engine.discard(n)
}

// maxGarbage is how much of what was released may wait to be collected. Go would wait until the heap has doubled, and so a
// guest whose limit is respected could have the process take several times as much. maxUnused is how much memory may then wait
// to be used again before the system gets it back: while a guest takes it in its own memory, Go has no use for it.
const (
	maxGarbage = 32 << 20
	maxUnused  = 32 << 20
)

// discard counts what is garbage from now on, of all runs together.
func (e *Engine) discard(n int64) {
	garbage := e.garbage.Add(n)
	if garbage <= maxGarbage {
		return
	}
	e.garbage.Store(0)
	unused := []metrics.Sample{{Name: "/memory/classes/heap/free:bytes"}}
	if metrics.Read(unused); unused[0].Value.Kind() == metrics.KindUint64 && int64(unused[0].Value.Uint64())+garbage > maxGarbage+maxUnused {
		debug.FreeOSMemory()
		return
	}
	runtime.GC()
}

// abandon counts what the run held when it ended. Its requests end with it, each on its own goroutine: they are given the time.
func (r *run) abandon() {
	held := r.memory.Held()
	for range maxYields {
		if held < maxGarbage/4 || r.requests.Load() == 0 {
			break
		}
		runtime.Gosched()
	}
	r.engine.discard(held)
}

const maxYields = 1000

// aside is what work beside the guest is charged to.
type aside interface {
	chargeAside(n int64) error
	releaseAside(n int64)
}

// holding is something that is charged until it is dropped, once.
type holding struct {
	memory aside
	n      atomic.Int64
}

// hold charges n bytes.
func hold(memory aside, n int64) (*holding, error) {
	h := &holding{memory: memory}
	return h, h.more(n)
}

// more charges n bytes in addition.
func (h *holding) more(n int64) error {
	err := h.memory.chargeAside(n)
	if err == nil {
		h.n.Add(n)
	}
	return err
}

// drop returns what is charged.
func (h *holding) drop() {
	if n := h.n.Swap(0); n > 0 {
		h.memory.releaseAside(n)
	}
}

// keep moves what is charged to another holding, so that drop returns nothing.
func (h *holding) keep() *holding {
	k := &holding{memory: h.memory}
	k.n.Store(h.n.Swap(0))
	return k
}

// readAll reads at most limit bytes, charged to h as they come.
func (h *holding) readAll(from io.Reader, limit int) ([]byte, error) {
	var b []byte
	for {
		if len(b) == cap(b) {
			size := min(max(2*cap(b), 4<<10), limit)
			if size <= len(b) {
				return b, nil
			}
			if err := h.more(int64(size)); err != nil {
				return nil, err
			}
			b = append(make([]byte, 0, size), b...)
		}
		n, err := from.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
