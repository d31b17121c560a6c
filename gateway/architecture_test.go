package gateway_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/infra/check/imports"
)

// ARCHITECTURE.md names files that exist, and its table is the one that the import test checks.
func TestArchitecture(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	files := regexp.MustCompile(`[a-z]+(?:[_/][a-z]+)*\.go\b`).FindAllString(string(text), -1)
	if len(files) < 20 {
		t.Errorf("it names %d files", len(files))
	}
	for _, name := range files {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("it names %s: %v", name, err)
		}
	}
	_, rest, _ := strings.Cut(string(text), "<!-- gateway imports -->\n")
	table, _, found := strings.Cut(rest, "<!-- end of gateway imports -->")
	if want := imports.GatewayMarkdown(); !found || table != want {
		t.Errorf("its import table is not that of infra/check/imports, which is\n%s", want)
	}
	doc, err := os.ReadFile("../README.md")
	if err != nil || !strings.Contains(string(doc), "gateway/ARCHITECTURE.md") {
		t.Errorf("README.md does not link it: %v", err)
	}
}
