package conformance

import (
	"testing"

	"github.com/airlock-run/airlock/sandbox"
)

// TestExpectationsAreRead checks that the expectations in this repository can be read.
func TestExpectationsAreRead(t *testing.T) {
	for _, build := range sandbox.EngineBuilds() {
		for _, suite := range []string{"test262", "wpt", "quickjs"} {
			text, err := expectations.ReadFile("expected/" + suite + "-" + build + ".txt")
			if err != nil {
				t.Error(err)
				continue
			}
			if expected, err := readExpected(string(text)); err != nil || len(expected) == 0 {
				t.Errorf("%s on %s: %d folders, %v", suite, build, len(expected), err)
			}
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
