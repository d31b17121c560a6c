package sandbox

import "testing"

// What is remembered of one owner's code is not used for another's.
func TestOwnersShareNothing(t *testing.T) {
	var s sources
	for i, c := range []struct {
		script Script
		again  bool
	}{
		{Script{Code: "1", Owner: "a"}, false}, {Script{Code: "1", Owner: "b"}, false}, {Script{Code: "1"}, false},
		{Script{Code: "1", Owner: "a"}, true}, {Script{Code: "1", Owner: "b"}, true}, {Script{Code: "1"}, true},
		{Script{Code: "1", Owner: "a", TypeScript: true}, false},
	} {
		if _, again, ex := s.of(c.script); again != c.again || ex != nil {
			t.Errorf("%d: seen before: %v, %v", i, again, ex)
		}
	}
}
