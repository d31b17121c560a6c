package audit

// marks tells in a single pass which of several texts another one contains. Each text, a mark, belongs to one of 64
// groups.
type marks struct {
	// lists holds, for each two bytes that a mark begins with, the place of its list in of, or 0.
	lists [1 << 16]uint8
	of    [][]mark
}

type mark struct {
	text  string
	group uint64 // one bit
}

// minMarkBytes is the length of the shortest mark.
const minMarkBytes = 2

// newMarks returns marks of at least minMarkBytes each. They begin with at most 254 pairs of bytes; a further mark
// shares the list of the last pair, which then is looked at for every text.
func newMarks(all []mark) *marks {
	m := &marks{of: [][]mark{nil}}
	for _, mark := range all {
		pair := uint16(mark.text[0])<<8 | uint16(mark.text[1])
		if m.lists[pair] == 0 {
			if len(m.of) < 255 {
				m.of = append(m.of, nil)
			}
			m.lists[pair] = uint8(len(m.of) - 1)
		}
		list := m.lists[pair]
		m.of[list] = append(m.of[list], mark)
	}
	return m
}

// found returns the groups of the marks that s contains.
func found[T ~string | ~[]byte](m *marks, s T) (groups uint64) {
	for i := 1; i < len(s); i++ {
		list := m.lists[uint16(s[i-1])<<8|uint16(s[i])]
		if list == 0 {
			continue
		}
		for _, mark := range m.of[list] {
			if groups&mark.group == 0 && len(s)-i+1 >= len(mark.text) && string(s[i-1:i-1+len(mark.text)]) == mark.text {
				groups |= mark.group
			}
		}
	}
	return groups
}

// marked reports whether s contains a mark.
func marked[T ~string | ~[]byte](m *marks, s T) bool { return found(m, s) != 0 }
