package quickjs

import "os"

// A page fault costs as much as copying several pages, and every run touches the same few dozen pages of the image: the
// engine's own structures, the library's objects, the top of the stack. Those pages are kept in each address range and
// copied back after a run; all others are dropped. Which they are is found by looking, once, at what sample runs touch.

// span is a part of an address range whose pages are either all kept or all dropped.
type span struct {
	from, to uint64
	kept     bool
}

// maxKept bounds what is kept beyond the image, in pages.
const maxKept = 64

// Sample runs f, which makes, uses and closes instances of the image, and keeps from now on the pages that they touched.
// It must not run beside other instances. Where the system does not tell which pages are in memory it changes nothing.
func (im *Image) Sample(f func() error) error {
	page := uint64(os.Getpagesize())
	pages := im.regions.image.size / page
	seen := make([]bool, pages+maxKept)
	im.regions.observe = func(r *region) {
		in, err := touched(r.mem, max(r.size, uint64(im.size)))
		if err != nil {
			return
		}
		for i, present := range in[:min(len(in), len(seen))] {
			seen[i] = seen[i] || present
		}
	}
	err := f()
	im.settle()
	im.regions.observe = nil
	im.regions.image.spans = spans(seen, page, pages)
	// Ranges made before now hold other pages than those that are kept from now on.
	for _, r := range im.regions.idle {
		_ = unmapRange(r.mem) // it is dropped either way
	}
	im.regions.idle = nil
	return err
}

// spans groups pages. Few untouched pages between touched ones are cheaper kept than dropped by a system call of their
// own. No span crosses the end of the image, after imagePages.
func spans(touched []bool, page, imagePages uint64) []span {
	const gap = 8
	var out []span
	for i := uint64(0); i < uint64(len(touched)); {
		kept, j := touched[i], i
		for j < uint64(len(touched)) && (j < imagePages) == (i < imagePages) {
			if touched[j] != kept && (!kept || !soon(touched, j, gap)) {
				break
			}
			j++
		}
		out = append(out, span{i * page, j * page, kept})
		i = j
	}
	return out
}

// soon reports a touched page among the next n.
func soon(touched []bool, from, n uint64) bool {
	for j := from; j < min(from+n, uint64(len(touched))); j++ {
		if touched[j] {
			return true
		}
	}
	return false
}
