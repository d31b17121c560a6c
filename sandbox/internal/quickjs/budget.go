package quickjs

import "sync/atomic"

// Budget is the memory limit of one run. The guest's linear memory and what the host holds for the guest share it.
type Budget struct {
	limit int64
	guest atomic.Int64 // the size of linear memory
	held  atomic.Int64 // by the host, on the guest's goroutine
	aside atomic.Int64 // by the host, for work beside the guest
	peak  atomic.Int64 // of guest and held
}

// NewBudget returns a Budget of limit bytes, all of them free.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit} }

// Hold charges n bytes that the host is about to hold. It reports false, and charges nothing, if they exceed the
// limit. It must be called on the guest's goroutine: what it charges is part of Peak, which depends on the code
// alone.
func (b *Budget) Hold(n int64) bool {
	if n < 0 || b.held.Add(n)+b.guest.Load()+b.aside.Load() > b.limit {
		b.held.Add(-n)
		return false
	}
	b.rise()
	return true
}

// Release returns n bytes that Hold charged.
func (b *Budget) Release(n int64) { b.held.Add(-n) }

// HoldAside charges n bytes for work on other goroutines. They count against the limit and are not part of Peak.
func (b *Budget) HoldAside(n int64) bool {
	if n < 0 || b.aside.Add(n)+b.guest.Load()+b.held.Load() > b.limit {
		b.aside.Add(-n)
		return false
	}
	return true
}

// ReleaseAside returns n bytes that HoldAside charged.
func (b *Budget) ReleaseAside(n int64) { b.aside.Add(-n) }

// Peak returns the most that linear memory and the host's holdings took at once.
func (b *Budget) Peak() int64 { return max(b.peak.Load(), b.guest.Load()+b.held.Load()) }

// Continue makes n the least that Peak returns.
func (b *Budget) Continue(n int64) { b.peak.Store(max(b.peak.Load(), n)) }

// Held returns what the host holds now.
func (b *Budget) Held() int64 { return b.held.Load() + b.aside.Load() }

// grow charges linear memory of size bytes, and reports whether it fits.
func (b *Budget) grow(size int64) bool {
	if size+b.held.Load()+b.aside.Load() > b.limit {
		return false
	}
	b.guest.Store(size)
	b.rise()
	return true
}

// begin charges the linear memory of a new guest. What an earlier guest took is forgotten.
func (b *Budget) begin(size int64) {
	b.guest.Store(size)
	b.peak.Store(0)
	b.rise()
}

func (b *Budget) rise() {
	if n := b.guest.Load() + b.held.Load(); n > b.peak.Load() {
		b.peak.Store(n)
	}
}
