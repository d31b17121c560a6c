package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// goFile is one parsed file.
type goFile struct {
	name string
	text []byte
	tree *ast.File
	set  *token.FileSet
}

func (f *goFile) test() bool      { return strings.HasSuffix(f.name, "_test.go") }
func (f *goFile) generated() bool { return ast.IsGenerated(f.tree) }

// goPackage is the Go files of one folder, tests included.
type goPackage struct {
	dir   string
	files []*goFile
}

// sources returns the files that are compiled into the package.
func (p *goPackage) sources() []*goFile {
	return slices.DeleteFunc(slices.Clone(p.files), func(f *goFile) bool { return f.test() || f.generated() })
}

// main reports whether the folder holds a program.
func (p *goPackage) main() bool {
	return slices.ContainsFunc(p.sources(), func(f *goFile) bool { return f.tree.Name.Name == "main" })
}

// trackedFiles returns the files of the repository, with forward slashes, as git knows them.
func trackedFiles() ([]string, error) {
	out, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		return nil, err
	}
	var files []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if _, err := os.Stat(name); err == nil {
			files = append(files, name)
		}
	}
	return files, nil
}

// parsePackages parses all Go files outside testdata, whatever their build tags say.
func parsePackages(files []string) ([]*goPackage, error) {
	byDir := map[string]*goPackage{}
	set := token.NewFileSet()
	for _, name := range files {
		if path.Ext(name) != ".go" || strings.Contains("/"+name, "/testdata/") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		tree, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		dir := path.Dir(name)
		if byDir[dir] == nil {
			byDir[dir] = &goPackage{dir: dir}
		}
		byDir[dir].files = append(byDir[dir].files, &goFile{name, text, tree, set})
	}
	var out []*goPackage
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		out = append(out, byDir[dir])
	}
	return out, nil
}
