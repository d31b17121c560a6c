package s3objects

import (
	"strings"
	"testing"
	"testing/iotest"
)

// TestParts reads and seeks in bodies whose parts may be empty.
func TestParts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "|", "abc", "a|bc", "|abc||de|", strings.Repeat("abc|", 500)} {
		var all [][]byte
		for part := range strings.SplitSeq(text, "|") {
			all = append(all, []byte(part))
		}
		if err := iotest.TestReader(newParts(all), []byte(strings.ReplaceAll(text, "|", ""))); err != nil {
			t.Errorf("%.20s: %v", text, err)
		}
	}
}
