package hostops

import (
	"errors"
	"io"
	"sync/atomic"
)

// Memory is the memory limit of a run, which the guest and what the host holds for it share. A charge comes before the
// allocation; its error is a [*LimitError].
type Memory interface {
	// Charge and Release count what is held on the guest's goroutine.
	Charge(n int64) error
	Release(n int64)
	Background
}

// Background is the part of Memory that is safe on every goroutine. It counts what is held for work beside the guest.
type Background interface {
	ChargeAside(n int64) error
	ReleaseAside(n int64)
}

// Holding is an amount of memory that stays charged until it is dropped. It is safe for concurrent use.
type Holding struct {
	memory Background
	n      atomic.Int64
}

// Hold charges n bytes to memory.
func Hold(memory Background, n int64) (*Holding, error) {
	h := &Holding{memory: memory}
	return h, h.More(n)
}

// More charges n more bytes.
func (h *Holding) More(n int64) error {
	err := h.memory.ChargeAside(n)
	if err == nil {
		h.n.Add(n)
	}
	return err
}

// Drop releases everything. Calling it again does nothing.
func (h *Holding) Drop() {
	if n := h.n.Swap(0); n > 0 {
		h.memory.ReleaseAside(n)
	}
}

// Keep moves everything to another Holding, so that Drop releases nothing.
func (h *Holding) Keep() *Holding {
	k := &Holding{memory: h.memory}
	k.n.Store(h.n.Swap(0))
	return k
}

// ReadAll reads at most limit bytes and charges them as they come.
func (h *Holding) ReadAll(from io.Reader, limit int) ([]byte, error) {
	var b []byte
	for {
		if len(b) == cap(b) {
			size := min(max(2*cap(b), 4<<10), limit)
			if size <= len(b) {
				return b, nil
			}
			if err := h.More(int64(size)); err != nil {
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
