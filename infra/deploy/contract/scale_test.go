package contract_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// SCALE.md computes the cost of the functions that template.yaml deploys.
func TestScaleUsesTheTemplatesMemory(t *testing.T) {
	template, err := os.ReadFile(root)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../SCALE.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| (strict|standard|extended|agent) \| (\d+) \|`).FindAllSubmatch(page, -1)
	if len(rows) != 4 {
		t.Fatalf("SCALE.md has %d tiers", len(rows))
	}
	for _, r := range rows {
		_, after, _ := strings.Cut(string(template), "-"+string(r[1])+"'\n")
		_, after, _ = strings.Cut(after, "MemorySize: ")
		if got, _, _ := strings.Cut(after, "\n"); got != string(r[2]) {
			t.Errorf("%s: template.yaml has %q MB, SCALE.md %s", r[1], got, r[2])
		}
	}
}
