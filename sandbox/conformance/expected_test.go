package conformance

import "testing"

// The expectations that belong to this repository can be read.
func TestExpectationsAreRead(t *testing.T) {
	for name, text := range map[string]string{"test262": test262Expected, "wpt": wptExpected} {
		expected, err := readExpected(text)
		if err != nil || len(expected) == 0 {
			t.Errorf("%s: %d folders, %v", name, len(expected), err)
		}
	}
	expected, err := readExpected("a folder: of several words 1/2 3.5%\n")
	if e := expected["a folder: of several words"]; err != nil || e != (expectation{Tally{1, 2}, 3.5}) {
		t.Errorf("%v, %v", expected, err)
	}
	if _, err := readExpected("1/2 3.5%\n"); err == nil {
		t.Error("a line without a folder was read")
	}
}
