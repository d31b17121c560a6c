package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReleasedPrograms checks the licence of every module that is linked into a released program.
func TestReleasedPrograms(t *testing.T) {
	dir := t.TempDir()
	sbom, licenses := filepath.Join(dir, "sbom.json"), filepath.Join(dir, "licenses.txt")
	var first []byte
	for range 2 {
		var out, errs bytes.Buffer
		args := []string{"-sbom", sbom, "-licenses", licenses, "../../../functions/lambda", "../../../gateway/cmd/airlock"}
		if code := run(args, &out, &errs); code != 0 {
			t.Fatalf("code %d\n%s", code, errs.String())
		}
		data, err := os.ReadFile(sbom)
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && !bytes.Equal(first, data) {
			t.Error("two bills of the same sources differ")
		}
		first = data
	}
	var bill struct {
		BOMFormat, SpecVersion string
		Components             []struct{ Name, Version, Purl string }
		SerialNumber           string
	}
	if err := json.Unmarshal(first, &bill); err != nil {
		t.Fatal(err)
	}
	if bill.BOMFormat != "CycloneDX" || bill.SpecVersion != "1.6" {
		t.Fatalf("the format is %s %s", bill.BOMFormat, bill.SpecVersion)
	}
	if bill.SerialNumber != "" {
		t.Fatalf("the serial number %s would differ between builds", bill.SerialNumber)
	}
	named := map[string]bool{}
	for _, c := range bill.Components {
		named[c.Name] = c.Version != "" && strings.HasPrefix(c.Purl, "pkg:golang/"+c.Name+"@v")
	}
	for _, must := range []string{"github.com/tetratelabs/wazero", "github.com/fastschema/qjs",
		"github.com/aws/aws-lambda-go", "github.com/gofiber/fiber/v2"} {
		if !named[must] {
			t.Errorf("%s is not in the bill as it should be", must)
		}
	}
	text, err := os.ReadFile(licenses)
	if err != nil || !bytes.Contains(text, []byte("Apache License")) ||
		!bytes.Contains(text, []byte("Permission is hereby granted")) {
		t.Errorf("the licence texts are missing: %v", err)
	}
}

func TestLicenses(t *testing.T) {
	mit, err := os.ReadFile("../../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		file, text, license, wrong string
	}{
		"mit":     {"LICENSE", string(mit), "MIT", ""},
		"british": {"Licence.md", string(mit), "MIT", ""},
		"choice": {"License", "/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */\n\nOne or the other.",
			"BSD-3-Clause", ""},
		"spdx":    {"License", "# SPDX-License-Identifier: AGPL-3.0-only\n", "", "is not on the list"},
		"none":    {"README", string(mit), "", "no recognizable licence"},
		"unknown": {"LICENSE", "You may look at this.", "", "no recognizable licence"},
		"gpl": {"COPYING", "SPDX-License-Identifier: GPL-3.0-only\n\nThis program is free software: you can " +
			"redistribute it and/or modify it under the terms of the GNU General Public License as published by the Free " +
			"Software Foundation, either version 3 of the License, or (at your option) any later version.\n\nThis program is " +
			"distributed in the hope that it will be useful, but WITHOUT ANY WARRANTY; without even the implied warranty of " +
			"MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE. See the GNU General Public License for more " +
			"details.\n\nYou should have received a copy of the GNU General Public License along with this program. If not, " +
			"see <https://www.gnu.org/licenses/>.", "", "is not on the list"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, tc.file), []byte(tc.text), 0o644); err != nil {
				t.Fatal(err)
			}
			m := module{Path: "example.com/m", Version: "v1.0.0", Dir: dir}
			err := m.examine()
			if m.license != tc.license || (err == nil) != (tc.wrong == "") {
				t.Errorf("got %q, %v", m.license, err)
			}
			if err != nil && !strings.Contains(err.Error(), tc.wrong) {
				t.Errorf("the error is %v, want %s", err, tc.wrong)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	var out, errs bytes.Buffer
	if run(nil, &out, &errs) != 2 || run([]string{"-x"}, &out, &errs) != 2 {
		t.Error("a usage error must be code 2")
	}
	if run([]string{"./no/such/package"}, &out, &errs) != 1 {
		t.Error("a package that is not there must be code 1")
	}
}
