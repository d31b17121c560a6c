package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// module is one module that is linked.
type module struct {
	Path, Version, Sum, Dir string
	Main                    bool
	Replace                 *module

	license string // SPDX expression
	text    string // of the licence file and what belongs to it
}

// linked returns the modules of the packages and their dependencies, sorted by path, and the main module.
func linked(ctx context.Context, packages []string) (main module, deps []module, err error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-deps", "-tags", "lambda.norpc,grpcnotrace",
		"-json=Module"}, packages...)...)
	cmd.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return main, nil, fmt.Errorf("list packages: %w\n%s", err, stderr.String())
	}
	seen := map[string]bool{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg struct{ Module *module }
		if err := dec.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return main, nil, fmt.Errorf("read the list of packages: %w", err)
		}
		m := pkg.Module
		if m == nil || seen[m.Path] {
			continue // the standard library has no module
		}
		seen[m.Path] = true
		if m.Replace != nil {
			m = m.Replace
		}
		if m.Main {
			main = *m
			continue
		}
		deps = append(deps, *m)
	}
	if main.Path == "" {
		return main, nil, errors.New("the packages are not of the main module")
	}
	slices.SortFunc(deps, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return main, deps, nil
}

// allowed reports whether a licence may be linked, by its SPDX ID: permissive ones, which require keeping their text,
// and MPL-2.0, whose files are not changed.
func allowed(id string) bool {
	return slices.Contains([]string{
		"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "CC0-1.0", "ISC", "MIT", "MIT-0", "MPL-2.0",
		"Unlicense", "Zlib",
	}, id)
}

// identifier matches the line with which a file names its licence.
var identifier = regexp.MustCompile(`(?m)^[/*#\s]*SPDX-License-Identifier:\s*([A-Za-z0-9.+ -]+?)[\s*/]*$`)

// choice returns the licences that a text names by its SPDX line; of alternatives, the first allowed.
func choice(text []byte) []string {
	line := identifier.FindSubmatch(text)
	if line == nil {
		return nil
	}
	options := strings.Split(string(line[1]), " OR ")
	if i := slices.IndexFunc(options, allowed); i >= 0 {
		return options[i : i+1]
	}
	return options
}

// licenseFile matches the names of licence files.
var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|copyright|unlicense)([-._].*)?$`)

// examine reads a module's licence files and sets its licence.
func (m *module) examine() error {
	files, err := os.ReadDir(m.Dir)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Path, err)
	}
	ids := map[string]bool{}
	for _, f := range files {
		if f.IsDir() || !licenseFile.MatchString(f.Name()) || strings.HasSuffix(f.Name(), ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.Dir, f.Name()))
		if err != nil {
			return fmt.Errorf("%s: %w", m.Path, err)
		}
		named := choice(text)
		for _, id := range named {
			ids[id] = true
		}
		for _, match := range licensecheck.Scan(text).Match {
			if !match.IsURL && named == nil {
				ids[match.ID] = true
			}
		}
		m.text += strings.TrimSpace(strings.ToValidUTF8(string(text), "\uFFFD")) + "\n"
	}
	if len(ids) == 0 {
		return fmt.Errorf("%s %s: has no recognizable licence", m.Path, m.Version)
	}
	var names []string
	for id := range ids {
		if !allowed(id) {
			return fmt.Errorf("%s %s: its licence %s is not on the list of accepted licences", m.Path, m.Version, id)
		}
		names = append(names, id)
	}
	slices.Sort(names)
	m.license = strings.Join(names, " AND ")
	return nil
}
