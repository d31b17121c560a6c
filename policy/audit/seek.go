package audit

import (
	"math/bits"
	"strings"
)

// A seeker finds the next of up to 32 marks of at least two bytes. Callers choose the texts, so it is as fast where
// marks stand close together as where there are none.
type seeker struct {
	marks []string
	// near is how many bytes a search looks at one by one before it searches for each mark. It costs about as much.
	near int
	// first and second hold, for each byte, the marks that have it in that place, one bit each.
	first, second [256]uint32
}

func newSeeker(marks []string) *seeker {
	k := &seeker{marks: marks, near: min(4*len(marks), 24)}
	for i, mark := range marks {
		k.first[mark[0]] |= 1 << i
		k.second[mark[1]] |= 1 << i
	}
	return k
}

// A search is a seeker's way through one text.
type search struct {
	*seeker
	// places are those of the next marks, as far as they are known.
	places []int
	far    bool
}

// next returns the next place of a mark at pos or later, and the mark, which is empty if there is none. Of several
// marks at one place it is the first. pos never decreases.
func (f *search) next(s string, pos int) (int, string) {
	for end := min(pos+f.near, len(s)-1); pos < end; pos++ {
		both := f.first[s[pos]] & f.second[s[pos+1]]
		for ; both != 0; both &= both - 1 {
			if mark := f.marks[bits.TrailingZeros32(both)]; strings.HasPrefix(s[pos:], mark) {
				return pos, mark
			}
		}
	}
	if !f.far {
		f.far = true
		f.places = make([]int, len(f.marks))
		for i := range f.places {
			f.places[i] = -1
		}
	}
	at, here := len(s), ""
	for i, mark := range f.marks {
		if f.places[i] < pos {
			f.places[i] = len(s)
			if n := strings.Index(s[pos:], mark); n >= 0 {
				f.places[i] = pos + n
			}
		}
		if f.places[i] < at {
			at, here = f.places[i], mark
		}
	}
	return at, here
}

// hide returns s without the credentials.
func (p pattern) hide(s string) string {
	var parts [][2]int // those that are replaced
	way := search{seeker: p.seek}
	size := len(s)
	with := "[redacted:" + p.kind + "]"
	for pos, done := 0, 0; ; {
		at, mark := way.next(s, pos)
		if mark == "" {
			break
		}
		if pos = at + 1; p.word != "" && !has(s, at, p.word) {
			continue
		}
		from, to, next := p.find(s, at, mark, done)
		if pos = max(next, pos); from < to {
			parts, done = append(parts, [2]int{from, to}), pos
			size += len(with) - (to - from)
		}
	}
	if len(parts) == 0 {
		return s
	}
	var out strings.Builder
	out.Grow(size)
	copied := 0
	for _, part := range parts {
		out.WriteString(s[copied:part[0]])
		out.WriteString(with)
		copied = part[1]
	}
	out.WriteString(s[copied:])
	return out.String()
}
