package node

import (
	"bytes"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// The flags of a search.
const (
	searchLast  = 1
	searchUnits = 2
)

// Short texts are sought with Go's function in pieces of searchPiece bytes, between which the limits are checked.
const (
	searchShort = 4 << 10
	searchPiece = 256 << 10
)

// bufferSearch answers buffer.search(bytes, sought, flags): it returns the index of the first occurrence, or of the
// last one, or -1. A search by units of two bytes counts in those. Its time grows with the sum of both lengths.
func bufferSearch(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	b, err := c.Views(a[:2]...)
	if err != nil {
		return 0, err
	}
	flags, ok := a[2].Int()
	if !ok {
		return 0, hostops.ErrForged
	}
	s := search{c: c, text: b[0], sought: b[1], width: 1, last: flags&searchLast != 0}
	if flags&searchUnits != 0 {
		s.width = 2
	}
	at := -1
	switch n := len(s.sought); {
	case n < s.width || n > len(s.text):
	case s.width == 1 && n <= searchShort:
		at, err = s.short()
	default:
		at, err = s.long()
	}
	if err != nil {
		return 0, err
	}
	return c.NewJSON(at)
}

// A search is one for the first or the last occurrence of a text, in units of width bytes.
type search struct {
	c            *hostops.Call
	text, sought []byte
	width        int
	last         bool
}

// short finds a text of few bytes. Consecutive pieces share as many bytes as an occurrence can begin in one of them
// and end in the next.
func (s search) short() (int, error) {
	shared := len(s.sought) - 1
	for done := 0; done < len(s.text)-shared; done += searchPiece {
		from := done
		to := min(done+searchPiece+shared, len(s.text))
		if s.last {
			from, to = len(s.text)-to, len(s.text)-from
		}
		if err := s.c.Work(to - from); err != nil {
			return 0, err
		}
		at := -1
		if s.last {
			at = bytes.LastIndex(s.text[from:to], s.sought)
		} else {
			at = bytes.Index(s.text[from:to], s.sought)
		}
		if at >= 0 {
			return from + at, nil
		}
	}
	return -1, nil
}

// unit returns a unit of b. A search for the last occurrence counts from the end.
func (s search) unit(b []byte, i int) uint16 {
	if s.last {
		i = len(b)/s.width - 1 - i
	}
	if s.width == 1 {
		return uint16(b[i])
	}
	return uint16(b[2*i]) | uint16(b[2*i+1])<<8
}

// long finds a text with the algorithm of Knuth, Morris and Pratt.
func (s search) long() (int, error) {
	n, m := len(s.text)/s.width, len(s.sought)/s.width
	if err := s.c.Hold(4 * m); err != nil {
		return 0, err
	}
	borders := make([]int32, m)
	// next returns how much of sought fits before and at a unit, if k units of it fit before.
	next := func(k int32, u uint16) int32 {
		for k > 0 && (int(k) == m || s.unit(s.sought, int(k)) != u) {
			k = borders[k-1]
		}
		if s.unit(s.sought, int(k)) == u {
			k++
		}
		return k
	}
	announce := func(i, end int) error {
		const step = 16 << 10
		if i%step != 0 {
			return nil
		}
		return s.c.Work(4 * min(step, end-i))
	}
	for i, k := 1, int32(0); i < m; i++ {
		if err := announce(i, m); err != nil {
			return 0, err
		}
		k = next(k, s.unit(s.sought, i))
		borders[i] = k
	}
	for i, k := 0, int32(0); i < n; i++ {
		if err := announce(i, n); err != nil {
			return 0, err
		}
		if k = next(k, s.unit(s.text, i)); int(k) < m {
			continue
		}
		if s.last {
			return n - 1 - i, nil
		}
		return i - m + 1, nil
	}
	return -1, nil
}
