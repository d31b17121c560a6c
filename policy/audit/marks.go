package audit

// marks tells in a single pass whether a text contains any of several others.
type marks struct {
	// pairs holds a bit for each two bytes that a mark begins with.
	pairs [1 << 16 / 64]uint64
	of    map[uint16][]string // the marks, by those two bytes
}

// minMarkBytes is the length of the shortest mark.
const minMarkBytes = 2

// newMarks returns marks of at least minMarkBytes each.
func newMarks(all []string) *marks {
	m := &marks{of: map[uint16][]string{}}
	for _, mark := range all {
		pair := uint16(mark[0])<<8 | uint16(mark[1])
		m.pairs[pair/64] |= 1 << (pair % 64)
		m.of[pair] = append(m.of[pair], mark)
	}
	return m
}

// marked reports whether s contains a mark.
func marked[T ~string | ~[]byte](m *marks, s T) bool {
	for i := 1; i < len(s); i++ {
		pair := uint16(s[i-1])<<8 | uint16(s[i])
		if m.pairs[pair/64]&(1<<(pair%64)) == 0 {
			continue
		}
		for _, mark := range m.of[pair] {
			if len(s)-i+1 >= len(mark) && string(s[i-1:i-1+len(mark)]) == mark {
				return true
			}
		}
	}
	return false
}
