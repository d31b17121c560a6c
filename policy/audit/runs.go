package audit

import (
	"maps"
	"slices"
)

// waiting holds the records of a chain that came before their predecessors. Records that follow each other are compared
// when they come, and of each run of them only the two ends are kept: where an early record is missing, millions wait.
type waiting struct {
	begin map[int64]*run // by the first record
	end   map[int64]*run // by the last one, which is sound
	came  map[int64]*[runWords]uint64
}

// A run is a part of a chain.
type run struct{ first, last link }

const (
	wordBits = 64
	runWords = 16
	// runBits is how many numbers one entry of came stands for.
	runBits = runWords * wordBits
)

func newWaiting() waiting {
	return waiting{map[int64]*run{}, map[int64]*run{}, map[int64]*[runWords]uint64{}}
}

// firsts returns the numbers of the records with which runs begin.
func (w *waiting) firsts() []int64 { return slices.Sorted(maps.Keys(w.begin)) }

// sound reports whether a sound record with a number waits.
func (w *waiting) sound(seq int64) bool {
	bits := w.came[seq/runBits]
	return bits != nil && bits[seq%runBits/wordBits]&(1<<(seq%wordBits)) != 0
}

// altered reports whether a record with a number waits that is not sound.
func (w *waiting) altered(seq int64) bool {
	r := w.begin[seq]
	return r != nil && !r.first.sound
}

// take removes the run that begins with a record.
func (w *waiting) take(seq int64) *run {
	r := w.begin[seq]
	if r == nil {
		return nil
	}
	delete(w.begin, seq)
	if r.last.sound {
		delete(w.end, r.last.seq)
	}
	return r
}

// wait adds a record, and compares it with its neighbours. A run ends where retention removed what is before: the next
// record is compared with what the store says of that.
func (v *Verifier) wait(writer string, c *chain, l link) {
	w := &c.waiting
	r := &run{l, l}
	w.begin[l.seq] = r
	if !l.sound {
		return
	}
	at := l.seq / runBits
	if w.came[at] == nil {
		w.came[at] = new([runWords]uint64)
	}
	w.came[at][l.seq%runBits/wordBits] |= 1 << (l.seq % wordBits)
	w.end[l.seq] = r
	for _, second := range []int64{l.seq, l.seq + 1} {
		before, after := w.end[second-1], w.begin[second]
		if before == nil || after == nil || !after.first.sound || c.gaps.ends(second-1) {
			continue
		}
		v.follows(writer, before.last, after.first)
		v.placed(writer, c, after.first)
		delete(w.begin, second)
		delete(w.end, second-1)
		before.last = after.last
		w.end[before.last.seq] = before
	}
}
