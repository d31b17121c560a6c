package main_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/infra/check/imports"
)

// TestImportRules holds the packages against the import table. Unlike infra/check it also sees what they link.
func TestImportRules(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, line := range imports.Violations(p) {
			t.Error(line)
		}
	}
}

func listPackages(t *testing.T) []imports.Package {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps=false", "-json=ImportPath,Name,Imports,Deps",
		imports.Module+"...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []imports.Package
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p imports.Package
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}
