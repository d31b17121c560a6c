package audit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// An Anchor holds the heads of chains at some time, as known outside the store. A store that was rolled back or emptied
// is consistent with itself but not with its anchor. Writers continue, so an anchor is a lower bound and may be old.
type Anchor struct {
	// Source names the origin of the anchor, for the report.
	Source string
	At     time.Time
	// Since is the first day (2006-01-02) that retention cannot have removed by the time of the verification; "" means
	// none. A record of such a day that is gone is missing, whatever the store says about retention.
	Since string
	Heads []Head
}

// Anchored is the result of comparing one anchor.
type Anchored struct {
	Source string    `json:"source"`
	At     time.Time `json:"at,omitzero"`
	// Writers counts the compared heads, Pruned those whose record retention removed.
	Writers int `json:"writers"`
	Pruned  int `json:"pruned,omitempty"`
}

// promise is the statement of an anchor about one chain.
type promise struct {
	Head
	anchor int // its place in the report
	since  string
}

// Anchor compares the chains with an anchor. It must be called before the first record.
func (v *Verifier) Anchor(a Anchor) {
	n := len(v.report.Anchors)
	v.report.Anchors = append(v.report.Anchors, Anchored{Source: a.Source, At: a.At})
	for _, h := range a.Heads {
		if h.Seq < 1 {
			continue
		}
		v.report.Anchors[n].Writers++
		c := v.chain(h.Writer)
		c.promises = append(c.promises, promise{h, n, a.Since})
	}
}

// promised compares a record with what anchors say about it.
func (v *Verifier) promised(c *chain, l link) {
	for _, p := range c.promises {
		if l.seq == p.Seq && l.sound && l.hash != p.Hash {
			v.report.add(Problem{Fault: Altered, ID: l.id, Writer: p.Writer, Seq: l.seq, Place: l.place,
				Detail: "it is not the record that " + v.report.Anchors[p.anchor].Source + " names"})
		}
	}
}

// kept reports the records that anchors name and the store no longer has.
func (v *Verifier) kept(c *chain) {
	for c.skip() { // a chain may end in what retention took
	}
	for _, p := range c.promises {
		source := v.report.Anchors[p.anchor].Source
		if p.Seq >= c.next {
			v.report.add(Problem{Fault: Truncated, ID: p.ID, Writer: p.Writer, Seq: p.Seq,
				Detail: fmt.Sprintf("%s names this record of the chain, which ends with record %d", source, c.next-1)})
			continue
		}
		for _, g := range c.gaps.all {
			if p.Seq < g.From || g.Seq < p.Seq {
				continue
			}
			v.report.Anchors[p.anchor].Pruned++
			if day := dayIn(p.ID); day != "" && p.since != "" && day >= p.since {
				v.report.add(Problem{Fault: Missing, ID: p.ID, Writer: p.Writer, Seq: p.Seq,
					Detail: "the store says that retention removed this record of " + day + ", but " + source +
						" names it and retention must still keep it"})
			}
			if p.Seq == g.Seq && p.Hash != g.Hash {
				v.report.add(Problem{Fault: Altered, ID: p.ID, Writer: p.Writer, Seq: p.Seq,
					Detail: "the store says that retention removed a record other than the one that " + source + " names"})
			}
			break
		}
	}
}

// dayIn returns the day in a record's id, or "".
func dayIn(id string) string {
	at, ok := IDTime(id)
	if !ok {
		return ""
	}
	return at.Format(time.DateOnly)
}

// Pruning returns the heads without those whose records retention has all removed by these gaps. Nothing of such a
// chain is left to compare.
func Pruning(heads []Head, gaps []Gap) []Head {
	slices.SortFunc(gaps, func(a, b Gap) int {
		return cmp.Or(cmp.Compare(a.Writer, b.Writer),
			cmp.Compare(a.From, b.From))
	})
	end := map[string]int64{}
	for _, g := range gaps {
		if g.From <= end[g.Writer]+1 {
			end[g.Writer] = max(end[g.Writer], g.Seq)
		}
	}
	return slices.DeleteFunc(slices.Clone(heads), func(h Head) bool { return h.Seq <= end[h.Writer] })
}

// String returns a head as one line: writer, number, hash, and the record's id if it is known.
func (h Head) String() string {
	id := h.ID
	if id == "" {
		id = "-"
	}
	return fmt.Sprintf("%s %d %s %s", h.Writer, h.Seq, h.Hash, id)
}

// ParseHead parses what Head.String returns. Colons may replace the spaces, and the id may be omitted.
func ParseHead(line string) (Head, error) {
	fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ':' })
	if len(fields) != 3 && len(fields) != 4 {
		return Head{}, errors.New("must be writer, number, hash and the record's id, with a colon or a space between them")
	}
	h := Head{Writer: fields[0], Hash: fields[2]}
	if len(fields) == 4 && fields[3] != "-" {
		h.ID = fields[3]
	}
	var err error
	if h.Seq, err = strconv.ParseInt(fields[1], 10, 64); err != nil || h.Seq < 1 ||
		strconv.FormatInt(h.Seq, 10) != fields[1] {
		return Head{}, errors.New("the record number must be a whole number from 1")
	}
	if _, err := ulid.ParseStrict(h.Writer); err != nil {
		return Head{}, errors.New("the writer must be a ULID")
	}
	if len(h.Hash) != hexSize || strings.Trim(h.Hash, "0123456789abcdef") != "" {
		return Head{}, errors.New("the hash must be 64 hexadecimal digits")
	}
	if h.ID != "" && !ValidID(h.ID) {
		return Head{}, errors.New("the last field must be the ID of a record")
	}
	return h, nil
}
