package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/airlock-run/airlock/infra/check/imports"
)

// The limits. The rules without a limit here accept no exception that allow.txt does not list.
const (
	maxFiles     = 25  // files of a package
	maxMethods   = 40  // methods of a type
	maxFields    = 20  // fields of a struct
	maxLine      = 120 // characters of a line
	maxFileBytes = 200 << 10
	maxOperators = 2 // && and || of a condition that fails a test with one message
)

// finding is a measure above its limit.
type finding struct {
	exception
	number int
	places []string
}

// message returns what the finding is, in a few words.
func (f finding) message(allowed int) string {
	limits := map[string]string{
		"files":   fmt.Sprintf("files in a package; at most %d", maxFiles),
		"methods": fmt.Sprintf("methods of a type; at most %d", maxMethods),
		"fields":  fmt.Sprintf("fields of a struct; at most %d", maxFields),
		"lines":   fmt.Sprintf("lines over %d characters", maxLine),
		"godoc":   `doc comments that do not begin with "NAME returns", "NAME reports", "A NAME is" or the like`,
		"phrase":  "comments or messages with a phrase that is not plain English",
		"script":  "comments of JavaScript that are not plain English, or do not begin with NAME and a verb",
		"unnamed": fmt.Sprintf("conditions of more than %d operators that fail a test with one message; check one thing each",
			maxOperators),
		"doc":     "packages without a doc.go that holds the package comment",
		"imports": "imports that the import table does not allow",
		"large":   fmt.Sprintf("KB in a tracked file; at most %d", maxFileBytes>>10),
		"link":    "links of a document to a file or heading that does not exist",
		"table":   "import tables that are not current: go run ./infra/check -update",
	}
	text := limits[f.rule]
	if allowed > 0 {
		text += fmt.Sprintf(" (the exception is %d)", allowed)
	}
	return text
}

// measure applies all rules about Go code.
func measure(packages []*goPackage) []finding {
	var out []finding
	add := func(rule, key string, number, limit int, places ...string) {
		if number > limit {
			out = append(out, finding{exception{rule, key}, number, places})
		}
	}
	for _, p := range packages {
		if !p.main() {
			add("files", p.dir, len(p.sources()), maxFiles)
		}
		methods, fields := typeSizes(p)
		for _, name := range slices.Sorted(maps.Keys(methods)) {
			add("methods", p.dir+"."+name, methods[name], maxMethods)
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			add("fields", p.dir+"."+name, fields[name], maxFields)
		}
		long := longLines(p)
		add("lines", p.dir, len(long), 0, long...)
		comments := badComments(p)
		add("godoc", p.dir, len(comments), 0, comments...)
		odd := oddPhrases(p)
		add("phrase", p.dir, len(odd), 0, odd...)
		unnamed := unnamedFailures(p)
		add("unnamed", p.dir, len(unnamed), 0, unnamed...)
		if !hasDoc(p) {
			add("doc", p.dir, 1, 0)
		}
		wrong := imports.Violations(importsOf(p))
		add("imports", p.dir, len(wrong), 0, wrong...)
	}
	return out
}

// typeSizes returns the number of methods and of fields of each type of a package.
func typeSizes(p *goPackage) (methods, fields map[string]int) {
	methods, fields = map[string]int{}, map[string]int{}
	for _, f := range p.sources() {
		for _, d := range f.tree.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if name := receiver(d); name != "" {
					methods[name]++
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if t, ok := s.(*ast.TypeSpec); ok {
						fields[t.Name.Name] = fieldsOf(t)
					}
				}
			}
		}
	}
	return methods, fields
}

// fieldsOf returns the number of fields of a struct; 0 for any other type.
func fieldsOf(t *ast.TypeSpec) (n int) {
	structure, ok := t.Type.(*ast.StructType)
	if !ok {
		return 0
	}
	for _, field := range structure.Fields.List {
		n += max(len(field.Names), 1)
	}
	return n
}

// receiver returns the name of the type that a method belongs to, or "" for a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	for t := d.Recv.List[0].Type; ; {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// longLines returns the places of the lines that are too long. A tab counts as one character, as in the rulers of
// editors.
func longLines(p *goPackage) []string {
	var out []string
	for _, f := range p.files {
		if f.generated() {
			continue
		}
		n := 0
		for line := range strings.SplitSeq(string(f.text), "\n") {
			n++
			if chars := utf8.RuneCountInString(line); chars > maxLine {
				out = append(out, f.name+":"+strconv.Itoa(n)+": "+strconv.Itoa(chars)+" characters")
			}
		}
	}
	return out
}

// unnamedFailures returns the places of the tests' conditions that join so many others that their failure does not say
// which of them failed.
func unnamedFailures(p *goPackage) []string {
	var out []string
	for _, f := range p.files {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if branch, ok := n.(*ast.IfStmt); ok && operators(branch.Cond) > maxOperators && failsTest(branch.Body) {
				out = append(out, fmt.Sprintf("%s:%d: %d operators", f.name, f.set.Position(branch.Pos()).Line,
					operators(branch.Cond)))
			}
			return true
		})
	}
	return out
}

// operators returns the number of && and || in a condition, without those in functions that it contains.
func operators(condition ast.Expr) (n int) {
	ast.Inspect(condition, func(x ast.Node) bool {
		if b, ok := x.(*ast.BinaryExpr); ok && (b.Op == token.LAND || b.Op == token.LOR) {
			n++
		}
		_, function := x.(*ast.FuncLit)
		return !function
	})
	return n
}

// failsTest reports whether a statement of a block, but not of one inside it, fails a test.
func failsTest(block *ast.BlockStmt) bool {
	return slices.ContainsFunc(block.List, func(s ast.Stmt) bool {
		x, ok := s.(*ast.ExprStmt)
		if !ok {
			return false
		}
		call, ok := x.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		on, ok := method.X.(*ast.Ident)
		return ok && slices.Contains([]string{"t", "tb", "b", "f"}, on.Name) &&
			slices.Contains([]string{"Error", "Errorf", "Fatal", "Fatalf"}, method.Sel.Name)
	})
}

// hasDoc reports whether the package comment is where readers look for it: in doc.go, in the only file of a package, or
// anywhere in a program.
func hasDoc(p *goPackage) bool {
	sources := p.sources()
	return len(sources) == 0 || slices.ContainsFunc(sources, func(f *goFile) bool {
		return f.tree.Doc != nil && (len(sources) == 1 || p.main() || strings.HasSuffix(f.name, "/doc.go"))
	})
}

// importsOf returns a package for the import table, without its tests.
func importsOf(p *goPackage) imports.Package {
	out := imports.Package{ImportPath: imports.Module + p.dir}
	for _, f := range p.sources() {
		out.Name = f.tree.Name.Name
		for _, i := range f.tree.Imports {
			if path, err := strconv.Unquote(i.Path.Value); err == nil && !slices.Contains(out.Imports, path) {
				out.Imports = append(out.Imports, path)
			}
		}
	}
	return out
}

// largeFiles returns the tracked files that are too large.
func largeFiles(files []string) []finding {
	var out []finding
	for _, name := range files {
		if info, err := os.Stat(name); err == nil && info.Size() > maxFileBytes {
			out = append(out, finding{exception{"large", name}, int(info.Size()+1023) >> 10, nil})
		}
	}
	return out
}

// The lines of a document between which the import table stands.
const (
	tableBegin = "<!-- import table -->\n"
	tableEnd   = "<!-- end of import table -->"
)

// staleTables returns the documents whose import table is not that of package imports. With update it corrects them.
func staleTables(files []string, update bool) ([]finding, error) {
	var out []finding
	for _, name := range files {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		before, rest, begins := strings.Cut(string(text), tableBegin)
		table, after, ends := strings.Cut(rest, tableEnd)
		if !begins || ends && table == imports.Markdown() {
			continue
		}
		if update && ends {
			text := before + tableBegin + imports.Markdown() + tableEnd + after
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				return nil, err
			}
			continue
		}
		out = append(out, finding{exception{"table", name}, 1, nil})
	}
	return out, nil
}
