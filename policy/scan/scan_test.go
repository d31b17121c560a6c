package scan_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/airlock-run/airlock/policy"
	"github.com/airlock-run/airlock/policy/threat"
)

// tally counts the outcomes of the cases of one category.
type tally struct{ hits, misses, truePositive, falsePositive int }

func (c tally) precision() float64 { return ratio(c.truePositive, c.truePositive+c.falsePositive) }
func (c tally) recall() float64    { return ratio(c.truePositive, c.hits) }

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// TestScanReport scans the corpus and logs precision and recall per category (go test -run ScanReport -v).
func TestScanReport(t *testing.T) {
	set := policy.Default()
	total := 0
	var table strings.Builder
	fmt.Fprintf(&table, "\n%-20s %5s %6s %10s %7s\n", "category", "hits", "misses", "precision", "recall")
	for _, category := range threat.Categories() {
		archive, err := txtar.ParseFile(filepath.Join("testdata", "corpus", category+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		var c tally
		for _, f := range archive.Files {
			total++
			kind, _, _ := strings.Cut(f.Name, "/")
			d := set.Decide(policy.Request{Code: string(f.Data), Tier: "strict"})
			if d.Analysis.Unanalysed {
				t.Errorf("%s: %s was not analysed: %v", category, f.Name, d.SyntaxError)
			}
			found := scoredIn(d, category)
			switch {
			case kind == "hit":
				c.hits++
				if found == nil {
					t.Errorf("%s: missed %s", category, f.Name)
					continue
				}
				c.truePositive++
				checkPlace(t, category+": "+f.Name, string(f.Data), *found)
			case kind == "miss":
				c.misses++
				if found != nil {
					c.falsePositive++
					t.Errorf("%s: %s is no threat, but: %s (line %d)", category, f.Name, found.Message, found.Line)
				}
			default:
				t.Errorf("%s: %s is neither hit nor miss", category, f.Name)
			}
		}
		if c.hits != c.misses {
			t.Errorf("%s has %d hits and %d misses; keep them equal", category, c.hits, c.misses)
		}
		if c.precision() < 0.95 || c.recall() < 0.95 {
			t.Errorf("%s: precision %.3f, recall %.3f; at least 0.95 each", category, c.precision(), c.recall())
		}
		fmt.Fprintf(&table, "%-20s %5d %6d %10.3f %7.3f\n", category, c.hits, c.misses, c.precision(), c.recall())
	}
	t.Log(table.String())
	if total < 300 {
		t.Errorf("the corpus has %d cases; at least 300", total)
	}
}

func scoredIn(d policy.Decision, category string) *threat.Finding {
	for i, f := range d.Analysis.Findings {
		if f.Category == category && f.Score > 0 {
			return &d.Analysis.Findings[i]
		}
	}
	return nil
}

// checkPlace checks that a finding points into its line and quotes it.
func checkPlace(t *testing.T, name, code string, f threat.Finding) {
	t.Helper()
	lines := strings.Split(code, "\n")
	if f.Line < 1 || f.Line > len(lines) {
		t.Errorf("%s: line %d of %d", name, f.Line, len(lines))
		return
	}
	if f.Column < 1 || f.Column > len(lines[f.Line-1])+1 {
		t.Errorf("%s: column %d is outside line %d", name, f.Column, f.Line)
		return
	}
	if want := strings.TrimSpace(lines[f.Line-1]); f.Excerpt != want && !strings.Contains(f.Excerpt, "…") {
		t.Errorf("%s: excerpt %q of line %d, want %q", name, f.Excerpt, f.Line, want)
	}
}
