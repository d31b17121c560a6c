package quickjs

import (
	"encoding/binary"
	"sync"
)

// region is the linear memory of one instance: a reserved range of addresses whose first pages are a copy-on-write view
// of the image. It implements wazero's experimental.LinearMemory.
type region struct {
	mem  []byte // the whole reserved range
	size uint64 // what the guest has grown to
	cap  uint64 // what the guest may grow to
	// budget is what the guest's growth is charged to; nil while the instance has no owner.
	budget *Budget
	// refused is called when the guest asks for more than cap. It does not return.
	refused func()
	// collectAt is the size at which the guest is made to collect its garbage, by a zero at collect; 0 is never.
	collectAt uint64
	collect   uint32
	// kept is what the last reset left in mem.
	kept keptPages
	free func(*region)
}

// Reallocate implements experimental.LinearMemory. The range never moves.
func (r *region) Reallocate(size uint64) []byte {
	if size > r.cap || r.budget != nil && !r.budget.grow(int64(size)) {
		if r.refused != nil {
			r.refused()
		}
		return nil
	}
	r.size = size
	if r.collectAt > 0 && size >= r.collectAt {
		binary.LittleEndian.PutUint32(r.mem[r.collect:], 0)
		r.setCollectAt()
	}
	return r.mem[:size:size]
}

// setCollectAt sets when the guest collects its garbage next. The engine frees at once what nothing refers to, and
// looks for cycles when half as much again is in use as after it last did. That may be more than the guest may take.
// So that no run ends that could continue, the engine also looks when its memory has doubled, and when half of what
// it may still take is gone.
func (r *region) setCollectAt() {
	r.collectAt = min(2*r.size, r.size+(r.cap-r.size)/2)
}

// Free implements experimental.LinearMemory.
func (r *region) Free() {
	if r.free != nil {
		r.free(r)
	}
}

// regions hands out address ranges that hold the image, and takes them back. It keeps as many as were in use at once.
type regions struct {
	image   *backing
	reserve uint64

	mu   sync.Mutex
	idle []*region
}

func (p *regions) get() (*region, error) {
	p.mu.Lock()
	var r *region
	if n := len(p.idle); n > 0 {
		r, p.idle = p.idle[n-1], p.idle[:n-1]
	}
	p.mu.Unlock()
	if r == nil {
		mem, err := p.image.mapRange(p.reserve)
		if err != nil {
			return nil, err
		}
		r = &region{mem: mem, free: p.put}
	}
	r.cap, r.refused, r.budget, r.collectAt = p.reserve, nil, nil, 0
	return r, nil
}

// put restores every page of r to the image and keeps the range for the next instance.
func (p *regions) put(r *region) {
	if err := p.image.reset(r.mem, r.size, &r.kept); err != nil {
		_ = unmapRange(r.mem) // the range cannot be reused either way
		return
	}
	r.size = 0
	p.mu.Lock()
	p.idle = append(p.idle, r)
	p.mu.Unlock()
}

// close releases the idle ranges. Instances must have been closed before.
func (p *regions) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var first error
	for _, r := range p.idle {
		if err := unmapRange(r.mem); err != nil && first == nil {
			first = err
		}
	}
	p.idle = nil
	if err := p.image.close(); err != nil && first == nil {
		first = err
	}
	return first
}

// osPage is a page of the system's.
const osPage = 4096

func allPages(end uint64) []uint32 {
	pages := make([]uint32, end/osPage)
	for i := range pages {
		pages[i] = uint32(i)
	}
	return pages
}
