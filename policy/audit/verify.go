package audit

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// A Verifier checks the chains of any number of writers. Call [Verifier.Pruned] and [Verifier.Bounds] first for what is
// known about the writers, then [Verifier.Line] once for every record, in any order, then [Verifier.Report]. Records
// that arrive in the order of their chain are not kept. Of others the ends of each run are kept until their
// predecessors arrive. A Verifier is not safe for concurrent use.
type Verifier struct {
	key    []byte
	chains map[string]*chain
	report Report
}

// NewVerifier returns a Verifier. With a key every record must carry its HMAC.
func NewVerifier(key []byte) *Verifier {
	return &Verifier{key: key, chains: map[string]*chain{}, report: Report{Problems: []Problem{}, Anchors: []Anchored{}}}
}

// chain is the state of one writer.
type chain struct {
	next    int64   // the record that should come
	last    link    // the one before it
	waiting waiting // records that came too early
	came    bool    // any record did
	file    string  // the ordered file being read, and the highest number in it
	newest  int64
	gaps    gaps
	// promises are the statements of anchors about the chain.
	promises []promise
	// By the store's account the chain reaches at least from, and at most to.
	known    bool
	from, to Head
	fromID   string
}

// link is one record.
type link struct {
	seq        int64
	hash, prev string
	id, prevID string
	place      string
	sound      bool
}

// A Gap is a run of records that retention removed: From to Seq. Hash is that of the last one.
type Gap struct {
	From int64
	Head
}

// Covers reports whether the gap includes the record with that chain.
func (g Gap) Covers(c Chain) bool { return g.Writer == c.Writer && g.From <= c.Seq && c.Seq <= g.Seq }

// gaps are the gaps of a chain.
type gaps struct {
	all []Gap
	// farthest has, for each gap in the order of their beginnings, the one that reaches farthest of those up to it. It is
	// made when gaps are looked for.
	farthest []int
	last     map[int64]bool // the ends
}

func (g *gaps) add(gap Gap) {
	g.all, g.farthest = append(g.all, gap), nil
	if g.last == nil {
		g.last = map[int64]bool{}
	}
	g.last[gap.Seq] = true
}

// ends reports whether a gap ends with a record.
func (g *gaps) ends(seq int64) bool { return g.last[seq] }

// covering returns a gap that includes a record; of several, the one that reaches farthest.
func (g *gaps) covering(seq int64) (Gap, bool) {
	if len(g.farthest) < len(g.all) {
		slices.SortStableFunc(g.all, func(a, b Gap) int { return cmp.Compare(a.From, b.From) })
		g.farthest = make([]int, len(g.all))
		for i := range g.all {
			if g.farthest[i] = i; i > 0 && g.all[g.farthest[i-1]].Seq >= g.all[i].Seq {
				g.farthest[i] = g.farthest[i-1]
			}
		}
	}
	behind, _ := slices.BinarySearchFunc(g.all, seq, func(gap Gap, seq int64) int {
		if gap.From <= seq {
			return -1
		}
		return 1
	})
	if behind == 0 {
		return Gap{}, false
	}
	gap := g.all[g.farthest[behind-1]]
	return gap, seq <= gap.Seq
}

func (v *Verifier) chain(writer string) *chain {
	c := v.chains[writer]
	if c == nil {
		c = &chain{next: 1, last: link{sound: true}, waiting: newWaiting()}
		v.chains[writer] = c
	}
	return c
}

// Pruned records that retention removed these records, so that they do not count as missing.
func (v *Verifier) Pruned(g Gap) {
	v.chain(g.Writer).gaps.add(g)
}

// Bounds sets how far the chain of a writer reaches by the store's own account: at least to certain, whose record has
// that id if it is known, and at most to newest. They differ while a record is being written. If it is called several
// times for a writer, the highest certain and the highest newest count.
func (v *Verifier) Bounds(certain Head, id string, newest Head) {
	c := v.chain(certain.Writer)
	if !c.known || certain.Seq > c.from.Seq {
		c.from, c.fromID = certain, id
	}
	if !c.known || newest.Seq > c.to.Seq {
		c.to = newest
	}
	c.known = true
}

// Problem adds a problem that the store found by itself.
func (v *Verifier) Problem(p Problem) { v.report.add(p) }

// Filed checks that a sound record, which Line returned, is filed under its own day.
func (v *Verifier) Filed(s Sealed, day, place string) {
	if detail := misfiled(s, day); detail != "" {
		v.report.add(Problem{Fault: Misfiled, ID: s.ID, Writer: s.Chain.Writer, Seq: s.Chain.Seq, Place: place,
			Detail: detail})
	}
}

// Line checks one stored record. place is where it was found. file, unless it is empty, names something in which the
// records of each writer are in the order in which they were written.
func (v *Verifier) Line(line []byte, place, file string) (Sealed, error) {
	v.report.Records++
	s, err := Unseal(line, v.key)
	if s.Chain.Writer == "" || s.Chain.Seq < 1 {
		v.report.add(Problem{Fault: Unreadable, ID: s.ID, Place: place, Detail: "this is not a record with a chain"})
		return s, errors.Join(ErrAltered, err)
	}
	p := Problem{ID: s.ID, Writer: s.Chain.Writer, Seq: s.Chain.Seq, Place: place}
	if err != nil {
		p.Fault, p.Detail = Altered, err.Error()
		v.report.add(p)
	}
	c := v.chain(s.Chain.Writer)
	l := link{s.Chain.Seq, s.Chain.Hash, s.Chain.Prev, s.ID, s.Chain.PrevID, place, err == nil}
	sound := c.waiting.sound(l.seq)
	switch {
	case l.seq < c.next:
		if _, pruned := c.gaps.covering(l.seq); err == nil && !pruned {
			p.Fault, p.Detail = Duplicated, "its place in the chain was there before"
			v.report.add(p)
		}
		return s, err
	case err != nil && (sound || c.waiting.altered(l.seq)):
		return s, err // the altered line claims a place that another record has
	case sound:
		p.Fault, p.Detail = Duplicated, "another record has the same place in the chain"
		v.report.add(p)
		return s, err
	}
	if file != c.file {
		c.file, c.newest = file, 0
	}
	if file != "" && l.seq < c.newest {
		p.Fault, p.Detail = Reordered, fmt.Sprintf("it stands behind record %d of the same writer", c.newest)
		v.report.add(p)
	}
	c.newest, c.came = max(c.newest, l.seq), true
	if l.seq == c.next {
		v.join(s.Chain.Writer, c, run{l, l})
	} else {
		v.wait(s.Chain.Writer, c, l)
	}
	v.advance(s.Chain.Writer, c)
	return s, err
}

// advance processes the records that are next.
func (v *Verifier) advance(writer string, c *chain) {
	for len(c.waiting.begin) > 0 {
		if next := c.waiting.take(c.next); next != nil {
			v.join(writer, c, *next)
		} else if !c.skip() {
			return
		}
	}
}

// skip skips records that retention removed. Those of them that wait, because they are not removed yet, are passed
// over.
func (c *chain) skip() bool {
	g, ok := c.gaps.covering(c.next)
	if ok {
		c.last, c.next = link{seq: g.Seq, hash: g.Hash, sound: true}, g.Seq+1
	}
	return ok
}

// join adds a run to the chain.
func (v *Verifier) join(writer string, c *chain, r run) {
	v.follows(writer, c.last, r.first)
	v.placed(writer, c, r.first)
	c.last, c.next = r.last, r.last.seq+1
}

// follows compares a record with its predecessor.
func (v *Verifier) follows(writer string, last, l link) {
	if !l.sound || !last.sound || l.prev == last.hash {
		return
	}
	p := Problem{Fault: Altered, ID: last.id, Writer: writer, Seq: l.seq - 1, Place: last.place}
	p.Detail = fmt.Sprintf("it is not the record that %s was chained to", l.id)
	if last.id == "" {
		p.ID, p.Seq, p.Place, p.Detail = l.id, l.seq, l.place, "it is not chained to the record before it"
	}
	v.report.add(p)
}

// placed compares a record with the head and with anchors.
func (v *Verifier) placed(writer string, c *chain, l link) {
	if c.known && l.seq == c.from.Seq && l.sound && l.hash != c.from.Hash {
		v.report.add(Problem{Fault: Altered, ID: l.id, Writer: writer, Seq: l.seq, Place: l.place,
			Detail: "it is not the record that the writer's head names"})
	}
	if c.known && l.seq > c.to.Seq {
		v.report.add(Problem{Fault: Unknown, ID: l.id, Writer: writer, Seq: l.seq, Place: l.place,
			Detail: "the writer's state ends before this record"})
	}
	v.promised(c, l)
}

// Report returns the conclusions. anchored says that the store called Bounds for every writer that it knows. A chain
// without bounds is a problem then.
func (v *Verifier) Report(anchored bool) Report {
	for _, writer := range slices.Sorted(maps.Keys(v.chains)) {
		c := v.chains[writer]
		if c.came {
			v.report.Writers++
		}
		for _, early := range c.waiting.firsts() {
			if next := c.waiting.begin[early]; next != nil && early >= c.next {
				v.missing(writer, c, early, Missing, next.first.prevID)
				v.advance(writer, c)
			}
		}
		switch {
		case c.known && c.next <= c.from.Seq:
			v.missing(writer, c, c.from.Seq+1, Truncated, c.fromID)
		case !c.known && anchored && c.came:
			v.report.add(Problem{Fault: Unknown, ID: c.last.id, Writer: writer, Place: c.last.place,
				Detail: "the store has records of this writer but no state of its chain"})
		}
		v.kept(c)
	}
	return v.report
}

// missing reports the records from c.next to before stop, except those that retention removed. id is that of the last.
func (v *Verifier) missing(writer string, c *chain, stop int64, fault Fault, id string) {
	after := c.last.id
	for c.next < stop {
		if c.skip() {
			continue
		}
		if v.report.full() { // a forged number must not cost much work
			v.report.Omitted++
			c.last, c.next = link{}, stop
			break
		}
		p := Problem{Fault: fault, Writer: writer, Seq: c.next, Detail: "the record is missing from the store"}
		if fault == Truncated {
			p.Detail = fmt.Sprintf("the chain ends before record %d, which its writer stored last", stop-1)
		}
		if after != "" {
			p.Detail += ", after " + after
		}
		if c.next == stop-1 {
			p.ID = id
		}
		v.report.add(p)
		c.last, c.next = link{}, c.next+1
	}
}
