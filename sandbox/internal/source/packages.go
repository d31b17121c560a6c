package source

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/airlock-run/airlock/sandbox/internal/lazyregexp"
)

// Packages are the packages of the deployment that code may import. A package among the code's own files wins.
type Packages struct {
	// Identity differs between packages of different names, versions or content.
	Identity string
	// Names are the names of all of them.
	Names map[string]bool
	// Ahead are the packages that are evaluated before the code. The compiled text expects them in its fourth parameter,
	// by their keys in [Source.Ahead].
	Ahead map[string]bool
	// Withheld are the names of packages that exist and that the code may not import.
	Withheld []string
	// Damaged are the names of packages whose files are not what they should be.
	Damaged []string
	// Live are the exports of packages in Ahead that change after their evaluation, as [Source.Live] returns them. Code
	// that imports one of them by name reads its value at each use.
	Live map[string][]string
	// Files are the files of the other packages, by paths that begin with node_modules.
	Files map[string][]byte
}

// anyOf reports whether specifiers name one of the packages.
func (p Packages) anyOf(specifiers []string) bool {
	return slices.ContainsFunc(specifiers, func(s string) bool {
		return p.Names[PackageName(s)]
	})
}

// isAhead reports whether a specifier is of a package that is evaluated before the code. No file of a package has a
// brace in its name: a specifier with one would read like a key of [Source.AheadByName].
func (p Packages) isAhead(specifier string) bool {
	return p.Ahead[PackageName(specifier)] && !strings.Contains(specifier, "{")
}

// PackageName returns the name of the package that a bare specifier is about.
func PackageName(specifier string) string {
	name, rest, _ := strings.Cut(specifier, "/")
	if strings.HasPrefix(name, "@") {
		sub, _, _ := strings.Cut(rest, "/")
		name += "/" + sub
	}
	return name
}

// Ahead returns the sorted keys of the imports of packages that are evaluated before the code: "import" or "require", a
// space, and the specifier.
func (s *Source) Ahead() []string {
	if s.bundle == nil {
		return slices.Sorted(maps.Keys(s.uses))
	}
	return slices.Sorted(maps.Keys(s.bundle.ahead))
}

// AheadByName returns the keys of Ahead, but those of modules of which the code uses certain exports with their names:
// "import mathjs {add,sqrt}". [OfPackages] leaves out what only other exports need.
func (s *Source) AheadByName() []string {
	keys := s.Ahead()
	for i, key := range keys {
		if u, ok := s.uses[key]; ok && !u.all {
			keys[i] = fmt.Sprintf("%s {%s}", key, strings.Join(slices.Sorted(maps.Keys(u.names)), ","))
		}
	}
	return keys
}

// IsByName reports whether keys come from AheadByName and one of them has names.
func IsByName(keys []string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return strings.HasSuffix(key, "}") })
}

// uses is what code uses of each module that is evaluated before it.
type uses map[string]*use

// use is what code uses of a module: the exports that it imports by name and, if all is set, perhaps others.
type use struct {
	names map[string]bool
	all   bool
}

// of returns what the code uses of a module.
func (u uses) of(key string) *use {
	if u[key] == nil {
		u[key] = &use{names: map[string]bool{}}
	}
	return u[key]
}

// add adds what an import clause names.
func (u uses) add(key string, c clause) {
	of := u.of(key)
	of.all = of.all || c.all != ""
	if c.first != "" {
		of.names["default"] = true
	}
	for _, n := range c.list {
		of.names[n.name] = true
		of.all = of.all || !plainName.MatchString(n.name)
	}
}

// Installed returns the names of the packages of the deployment that the code contains, sorted.
func (s *Source) Installed() []string {
	if s.bundle == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.bundle.installed))
}

// IsPackages reports whether the text evaluates packages.
func (s *Source) IsPackages() bool { return s.packages }

// OfPackages returns the source that evaluates packages. Its value is an object with the module of each key, which is
// one of Ahead or AheadByName.
func OfPackages(keys []string, files map[string][]byte) (*Source, *Exception) {
	s := &Source{name: "packages", packages: true}
	b := &bundle{source: s, files: files, path: "packages.js", loader: api.LoaderJS, keys: keys}
	if ex := b.build(); ex != nil {
		return nil, ex
	}
	b.live = liveOf(s.Text)
	s.bundle, s.mentions = b, mentionsOf(s.Text)
	return s, nil
}

// EntriesOf returns the specifiers of a package's main module or, if it has none, of the paths that it exports by name.
func EntriesOf(name string, files map[string][]byte) []string {
	if _, ok := resolve(files, "packages.js", name, false); ok {
		return []string{name}
	}
	var manifest struct {
		Exports json.RawMessage `json:"exports"`
	}
	if json.Unmarshal(files["node_modules/"+name+"/package.json"], &manifest) != nil {
		return nil
	}
	var out []string
	for _, key := range keysInOrder(manifest.Exports) {
		specifier := path.Join(name, key)
		found, ok := resolve(files, "packages.js", specifier, false)
		if ext := path.Ext(found); ok && strings.HasPrefix(key, "./") && ext != ".json" &&
			slices.Contains(extensions[:], ext) {
			out = append(out, specifier)
		}
	}
	return out
}

// startOfPackages returns what runs first in a bundle of packages.
func (b *bundle) startOfPackages() string {
	var imports, table strings.Builder
	table.WriteString("$airlock = {__proto__: null")
	for i, key := range b.keys {
		if module, names, ok := strings.Cut(strings.TrimSuffix(key, "}"), " {"); ok {
			var clause, members []string
			for j, name := range strings.FieldsFunc(names, func(r rune) bool { return r == ',' }) {
				clause = append(clause, fmt.Sprintf("%s as p%d_%d", name, i, j))
				members = append(members, fmt.Sprintf(", get %s() { return p%d_%d }", quoted(name), i, j))
			}
			fmt.Fprintf(&imports, "import {%s} from %s;\n", strings.Join(clause, ", "), quoted(module))
			fmt.Fprintf(&table, ", %s: {__proto__: null%s}", quoted(module), strings.Join(members, ""))
		} else if strings.HasPrefix(key, "import ") {
			fmt.Fprintf(&imports, "import * as p%d from %s;\n", i, quoted(key))
			fmt.Fprintf(&table, ", %s: p%d", quoted(key), i)
		} else {
			fmt.Fprintf(&table, ", %s: require(%s)", quoted(key), quoted(key))
		}
	}
	return imports.String() + table.String() + "};\n"
}

// newMark returns a word that none of the texts of the bundle contains, for the specifiers of packages in what esbuild
// prints.
func (b *bundle) newMark() string {
	mark := "airlock-package:"
	for {
		found := strings.Contains(b.code, mark)
		for name, text := range b.files {
			found = found || strings.Contains(string(text), mark) || strings.Contains(name, mark)
		}
		if !found {
			return mark
		}
		mark = "x" + mark
	}
}

// resolvePackages resolves a bare specifier that names no file.
func (b *bundle) resolvePackages(a api.OnResolveArgs) (out api.OnResolveResult, ok bool) {
	p := b.source.from
	if p.isAhead(a.Path) {
		key := "import " + a.Path
		if a.Kind == api.ResolveJSRequireCall || a.Kind == api.ResolveJSRequireResolve {
			key = "require " + a.Path
		}
		b.add(&b.ahead, key)
		if a.Kind == api.ResolveJSImportStatement && len(p.Live[key]) > 0 {
			b.noteImport(a, ofAhead, key)
			return api.OnResolveResult{Path: key, Namespace: ofAhead}, true
		}
		return api.OnResolveResult{Path: b.mark + key, External: true}, true
	}
	if len(p.Files) == 0 {
		return api.OnResolveResult{}, false
	}
	required := a.Kind == api.ResolveJSRequireCall
	importer := a.Importer
	if a.Namespace != ofPackage {
		importer = ""
	}
	found, ok := resolve(p.Files, importer, a.Path, required)
	if !ok {
		return api.OnResolveResult{}, false
	}
	if rest, in := strings.CutPrefix(found, "node_modules/"); in && a.Namespace != ofPackage {
		b.add(&b.installed, PackageName(rest))
	}
	return api.OnResolveResult{Path: found, Namespace: ofPackage, SideEffects: effectsOf(p.Files, found)}, true
}

// add adds a text to a set of the bundle.
func (b *bundle) add(set *map[string]bool, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if *set == nil {
		*set = map[string]bool{}
	}
	(*set)[text] = true
}

// withPackages replaces the imports of packages in what esbuild printed by reads of the fourth parameter.
func (b *bundle) withPackages(text string) string {
	if len(b.ahead) == 0 {
		return text
	}
	b.source.uses = uses{}
	quotedMark := regexp.QuoteMeta(b.mark)
	read := "$" + packagesName + `["$1"]` // a $ stands for itself after another
	call := `__require\d*\("` + quotedMark + `([^"]*)"\)`
	for _, m := range lazyregexp.New(call).FindAllStringSubmatch(text, -1) {
		b.source.uses.of(m[1]).all = true
	}
	text = lazyregexp.New(`__toESM\d*\(`+call+`(?:, 1)?\)`).ReplaceAllString(text, read)
	text = lazyregexp.New(call).ReplaceAllString(text, read)
	for _, m := range wrapped.FindAllStringSubmatch(text, -1) {
		if strings.HasPrefix(m[2], ofAhead+":") { // the module is a namespace already
			made := regexp.MustCompile(`__toESM\d*\(` + regexp.QuoteMeta(m[1]) + `\(\)(?:, 1)?\)`)
			text = made.ReplaceAllLiteralString(text, b.asBundlers(m[1]+"()"))
		}
	}
	declaration := regexp.MustCompile(`(?m)^import (?:(` + clauseText + `) from )?"` + quotedMark +
		`([^"]*)"(?: with \{[^}]*\})?;$`)
	var bound strings.Builder // in front of all modules: imports come before any other statement
	text = declaration.ReplaceAllStringFunc(text, func(d string) string {
		m := declaration.FindStringSubmatch(d)
		specifier := strings.TrimPrefix(m[2], "import ")
		c, ok := parseClause(m[1], specifier)
		if !ok {
			bound.WriteString("throw new SyntaxError(" + quoted("the import of '"+specifier+"' cannot be read") + ");")
			return ""
		}
		b.source.uses.add(m[2], c)
		from := b.asBundlers(packagesName + "[" + quoted(m[2]) + "]")
		if specifier != m[2] && !b.typed {
			from = c.check(from)
		}
		bound.WriteString(c.bindings(from))
		return strings.Repeat("\n", strings.Count(d, "\n"))
	})
	return bound.String() + text
}

// asBundlers returns the expression of a namespace that TypeScript has: the default import of what was compiled from an
// ES module is its default export.
func (b *bundle) asBundlers(namespace string) string {
	if !b.typed {
		return namespace
	}
	return "((n) => n?.default?.__esModule && 'default' in n.default ? " +
		"{...n, default: n.default.default} : n)(" + namespace + ")"
}

const (
	packagesName = "$airlock_packages"
	packagesHead = "(async ($airlock, $airlock_main, $airlock_exports, " + packagesName + ") => {"
)

// resolveKey resolves a key in a bundle of packages.
func (b *bundle) resolveKey(key string) api.OnResolveResult {
	kind, specifier, _ := strings.Cut(key, " ")
	if found, ok := resolve(b.files, "packages.js", specifier, kind == "require"); ok {
		return b.fileOfPackages(found)
	}
	return api.OnResolveResult{Errors: []api.Message{{Text: b.notFound(specifier, "the code"), Detail: notFound{}}}}
}

// fileOfPackages returns the result of resolving an import to one of the files.
func (b *bundle) fileOfPackages(found string) api.OnResolveResult {
	out := api.OnResolveResult{Path: found, Namespace: ofFile}
	if IsByName(b.keys) {
		out.SideEffects = effectsOf(b.files, found)
	}
	return out
}
