package audit

import (
	"slices"
	"strings"
	"testing"
)

// FuzzMarks: marked reports true if and only if the text contains one of the marks.
func FuzzMarks(f *testing.F) {
	r, err := NewRedactor(RedactConfig{Secrets: []string{"hunter22-hunter22", "schlüssel", "\x00\xff\x00\xff\x00\xff"}})
	if err != nil {
		f.Fatal(err)
	}
	all := r.texts()
	for _, m := range all {
		mark := m.text
		if len(mark) < minMarkBytes {
			f.Fatalf("%q is too short for a mark", mark)
		}
		f.Add("a"+mark+"b", mark)
		f.Add(mark[:len(mark)-1], mark[1:])
	}
	f.Fuzz(func(t *testing.T, text, more string) {
		for _, s := range []string{text, more, text + more, more + text} {
			want := slices.ContainsFunc(all, func(m mark) bool { return strings.Contains(s, m.text) })
			if marked(r.marks, s) != want || marked(r.marks, []byte(s)) != want {
				t.Errorf("%q: %v", s, !want)
			}
		}
	})
}
