package datetext_test

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/sandbox/internal/datetext"
)

// TestParse compares dates with what Node 20 reads in UTC: testdata/dates.txt has a text and Date.parse of it a line.
// The texts were put together at random of days, months, years, times, time zones, words, separators and brackets.
func TestParse(t *testing.T) {
	b, err := os.ReadFile("testdata/dates.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		at := strings.LastIndexByte(line, ' ')
		text, err := strconv.Unquote(line[:at])
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		want, err := strconv.ParseFloat(strings.TrimSuffix(line[at+1:], "\n"), 64)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if got := datetext.Parse(text); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// FuzzParse checks that no text makes Parse fail, and that a date is within the range of JavaScript.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "(", "\x00(\x00", "Jan 5 2024 10:00 PM GMT+2", "+275760-09-13", "1/2/3 4:5:6.7 (é"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if ms := datetext.Parse(text); math.Abs(ms) > 8.64e15 || ms != math.Trunc(ms) && !math.IsNaN(ms) {
			t.Errorf("%q: %v", text, ms)
		}
	})
}
