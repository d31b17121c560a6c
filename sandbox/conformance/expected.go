package conformance

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Tally counts tests of one folder.
type Tally struct{ Passed, Total int }

func (t Tally) percent() float64 {
	if t.Total == 0 {
		return 100
	}
	return 100 * float64(t.Passed) / float64(t.Total)
}

// Report is the outcome of a suite, by folder.
type Report struct {
	Folders map[string]Tally
	// Failures name each test that failed, with the reason.
	Failures []string
	// Regressions are tests that only the sandbox fails. There must be none, whatever is expected.
	Regressions []string
}

func (r *Report) add(folder string, passed, total int) {
	t := r.Folders[folder]
	r.Folders[folder] = Tally{t.Passed + passed, t.Total + total}
}

// expectation is a line of an expectation file: folder, passed, total, and the least percentage where the total
// differs.
type expectation struct {
	Tally
	floor float64
}

// readExpected reads an expectation file: a line per folder, "folder passed/total floor%"; a # starts a comment.
func readExpected(text string) (map[string]expectation, error) {
	out := make(map[string]expectation)
	scanner := bufio.NewScanner(strings.NewReader(text))
	for n := 1; scanner.Scan(); n++ {
		line, _, _ := strings.Cut(scanner.Text(), "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		var e expectation
		words := strings.Fields(line) // a folder may have several
		folder, counts := strings.Join(words[:max(len(words)-2, 0)], " "), strings.Join(words[max(len(words)-2, 0):], " ")
		if _, err := fmt.Sscanf(counts, "%d/%d %f%%", &e.Passed, &e.Total, &e.floor); err != nil || folder == "" {
			return nil, fmt.Errorf("line %d: %q is not \"folder passed/total floor%%\"", n, line)
		}
		out[folder] = e
	}
	return out, scanner.Err()
}

// judge prints the report beside what was expected and reports whether nothing got worse.
func (r *Report) judge(w io.Writer, expected map[string]expectation) bool {
	good := len(r.Regressions) == 0
	for _, folder := range slices.Sorted(maps.Keys(r.Folders)) {
		t, e := r.Folders[folder], expected[folder]
		verdict := ""
		switch {
		case e.Total == 0:
			verdict = "not expected yet"
		case t.Total == e.Total && t.Passed < e.Passed:
			verdict, good = fmt.Sprintf("REGRESSION: %d passed before", e.Passed), false
		case t.Total != e.Total && t.percent() < e.floor:
			verdict, good = fmt.Sprintf("REGRESSION: at least %.0f %% are expected", e.floor), false
		case t.Passed > e.Passed:
			verdict = fmt.Sprintf("better: %d passed before", e.Passed)
		}
		fmt.Fprintf(w, "%-50s %6d/%-6d %6.2f %%  %s\n", folder, t.Passed, t.Total, t.percent(), verdict)
	}
	for folder := range expected {
		if _, ran := r.Folders[folder]; !ran {
			fmt.Fprintf(w, "%-50s did not run\n", folder)
			good = false
		}
	}
	for _, name := range r.Regressions {
		fmt.Fprintf(w, "FAILS ONLY IN THE SANDBOX: %s\n", name)
	}
	return good
}

// lines returns the report as lines of an expectation file. floor returns the floor of a folder.
func (r *Report) lines(floor func(folder string) float64) string {
	var b strings.Builder
	for _, folder := range slices.SortedFunc(maps.Keys(r.Folders), cmp.Compare) {
		t := r.Folders[folder]
		fmt.Fprintf(&b, "%s %d/%d %.1f%%\n", folder, t.Passed, t.Total, min(floor(folder), t.percent()))
	}
	return b.String()
}
