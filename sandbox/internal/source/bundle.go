package source

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/airlock-run/airlock/sandbox/internal/lazyregexp"
)

// The namespaces of a bundle. A path is unique within its namespace. None of them is esbuild's "file", the disk.
const (
	ofScript  = "airlock-script"  // the script's own code
	ofFile    = "airlock-file"    // one of the script's files
	ofNode    = "airlock-node"    // a Node module: the library is asked for it when the code runs
	ofMissing = "airlock-missing" // throws when it is imported
	ofStart   = "airlock-start"   // leaves the script's value
	ofPackage = "airlock-package" // a file of the deployment's packages
	ofAhead   = "airlock-ahead"   // a package that was evaluated before the code, by its key
)

// bundle makes one script of the code and what it imports. It reads nothing but the script's files.
type bundle struct {
	source *Source
	files  map[string][]byte
	path   string // of the script's own code among the files
	code   string // the script's own code, as esbuild reads it
	loader api.Loader
	shaped bool // code is the shaped code
	typed  bool // code is TypeScript
	module bool // code is an ES module by its imports and exports
	head   []importText
	lines  int
	// table makes every file available to names that are put together at run time.
	table bool

	// keys are what a bundle of packages evaluates; nil for the bundle of a script.
	keys []string
	// mark begins the specifiers of packages that are evaluated before the code. ahead holds the keys of those that the
	// code imports, and installed the names of the packages that the bundle contains.
	mark             string
	ahead, installed map[string]bool
	// names are those in the sources of the bundle that esbuild could have made of others: see note.
	names map[string]bool
	links
	// mu guards what is above from ahead on: esbuild reads several files at once.
	mu sync.Mutex

	sourceMap *sourceMap
	// follows is set if await is to be replaced by calls of then, because the bundle uses contexts of async_hooks.
	follows bool
}

// links are what the files of a bundle import.
type links struct {
	// resolved holds what import.meta.resolve means by file and specifier.
	resolved map[string]map[string]string
	// clauses are what files import by name, and imports the files that they import from, by importer and specifier.
	clauses map[string][]clause
	imports map[[2]string]string
	// live is what [Source.Live] returns.
	live map[string][]string
}

// importText is an import declaration that was taken out of code at line and column (from 1).
type importText struct {
	text      string
	line, col int
}

// newBundle makes s from a script's own code and the files that it imports.
func newBundle(
	s *Source, files map[string][]byte, code string, form moduleForm, typescript, follows bool,
) (*Source, *Exception) {
	b := &bundle{source: s, files: files, path: s.name, loader: api.LoaderJS, follows: follows, typed: typescript}
	if ex := b.prepare(code, form, typescript); ex != nil {
		return nil, ex
	}
	if ex := b.build(); ex != nil {
		return nil, ex
	}
	s.bundle = b
	return s, nil
}

// prepare makes a module of the script's own code. Code that exports is one already. Other code is wrapped as it
// would be without imports, and its imports go in front of it.
func (b *bundle) prepare(code string, found moduleForm, typescript bool) *Exception {
	s := b.source
	b.module = found.exports || len(found.imports) > 0 || found.meta
	if ex := refuseDeep(code, " to be a module"); ex != nil {
		ex.Line += s.skipped
		return ex
	}
	if found.exports {
		b.code, s.Called = code, true
		if found.handler {
			b.add(&b.names, handles)
		}
		if typescript {
			b.loader = api.LoaderTS
		}
		if path.Ext(b.path) == ".tsx" {
			b.loader = api.LoaderTSX
		}
		return nil
	}
	body, cut := blank(code, found.imports)
	var head []string
	for i, p := range positionsOf(code, found.imports) {
		b.head = append(b.head, importText{cut[i], p.line, p.col})
		head = append(head, cut[i])
	}
	if typescript {
		var ex *Exception
		if body, head, ex = b.withoutTypes(body, head); ex != nil {
			return ex
		}
	}
	s.code, s.imports = body, head
	s.shape(body)
	if s.doubtful {
		out := api.Transform(otherHead+body+otherTail,
			api.TransformOptions{Loader: api.LoaderJS, Target: api.ESNext, LogLevel: api.LogLevelSilent})
		if len(out.Errors) > 0 {
			ex := syntaxError(body, out.Errors[0])
			ex.Line += s.skipped
			return ex
		}
	}
	b.shaped = true
	form := "module.exports =\n"
	if ext := path.Ext(b.path); len(head) > 0 || found.meta || ext == ".mjs" || ext == ".mts" {
		form = strings.Join(append(head, "export default"), "\n") + "\n"
	}
	b.code, b.lines = form+s.Text, strings.Count(form, "\n")
	return nil
}

// withoutTypes removes the types from code and, from its imports, those that only types need. Code that is no body of
// a function, because it has namespaces, is read as a whole program.
func (b *bundle) withoutTypes(body string, head []string) (string, []string, *Exception) {
	text, imports, ex := b.withoutTypesIn(body, head, "async () => {\n", "\n}", "};\n")
	if ex == nil {
		return text, imports, nil
	}
	if text, imports, whole := b.withoutTypesIn(body, head, "$airlock;\n", "", ""); whole == nil {
		return text, imports, nil
	}
	return "", nil, ex
}

// withoutTypesIn removes the types from code between open and tail, the latter of which is printed as end.
func (b *bundle) withoutTypesIn(body string, head []string, open, tail, end string) (string, []string, *Exception) {
	front := strings.Join(append(slices.Clone(head), open), "\n")
	out := api.Transform(withoutMaps(front+body+tail), api.TransformOptions{
		Loader: api.LoaderTS, Target: api.ESNext, Supported: lacking, Sourcemap: api.SourceMapExternal, Sourcefile: b.path,
		LogLevel: api.LogLevelSilent, TsconfigRaw: b.source.tsconfig(body),
	})
	lines := strings.Count(front, "\n")
	if len(out.Errors) > 0 {
		return "", nil, b.exception(out.Errors[0], lines)
	}
	printed, text, ok := strings.Cut("\n"+string(out.Code), "\n"+open)
	text, ok2 := strings.CutSuffix(text, end)
	if !ok || !ok2 {
		return "", nil, &Exception{Name: "SyntaxError", Message: "the imports and the code cannot be told apart"}
	}
	s := b.source
	s.sourceMap = &sourceMap{text: out.Map, above: strings.Count(printed, "\n") + 1}
	s.skipped -= lines
	if printed = strings.TrimPrefix(printed, "\n"); printed == "" {
		return text, nil, nil
	}
	return text, strings.Split(printed, "\n"), nil
}

// build makes esbuild bundle everything. If the code imports names that are computed at run time, it builds again
// with a table of all files.
func (b *bundle) build() *Exception {
	b.mark = b.newMark()
	out := b.run()
	if b.names[asyncHooks] && b.names[contexts] && !b.follows && len(b.keys) == 0 {
		b.follows = true
		out = b.run()
	}
	if len(out.Errors) > 0 {
		return b.exception(out.Errors[0], b.lines)
	}
	if len(b.files) > 0 && len(b.keys) == 0 && b.requiresComputed(textOf(out, ".js")) {
		b.table = true
		if again := b.run(); len(again.Errors) == 0 {
			out = again
		}
	}
	if len(b.keys) == 0 {
		b.sourceMap = &sourceMap{text: []byte(textOf(out, ".map"))}
	}
	head := bundleHead
	if len(b.ahead) > 0 {
		head = strings.TrimSuffix(head, bundleFunction) + strings.TrimPrefix(packagesHead, "(") + "\n"
	}
	printed := b.printed(out)
	printed = b.withPackages(printed)
	head = strings.Replace(head, bundleStart, bundleStart+b.extras(printed), 1)
	b.names, b.clauses, b.imports = nil, nil, nil // a source is kept
	if b.module && !b.source.isStep() && allESM(out.Metafile) {
		head = strings.TrimSuffix(head, "\n") + strictMode
	}
	b.source.Text = head + printed + bundleTail
	return nil
}

// extras returns what only some bundles need: objects of CommonJS modules, and the path of the program in its
// arguments.
func (b *bundle) extras(printed string) (head string) {
	if strings.Contains(printed, "$airlock_module(") {
		head = ownModule
		if b.names[handles] {
			head = strings.Replace(head, isMain, "false", 1)
		}
	}
	if strings.Contains(printed, namedFunction+"(") {
		head += ownNamed
	}
	if b.source.name == b.path && len(b.keys) == 0 && strings.Contains(printed, "argv") {
		head += "if (globalThis.process?.argv?.[1] === '/script.js') process.argv[1] = " + quoted("/"+b.path) + "; "
	}
	return head
}

// handles marks in the names of a bundle that the script exports a handler: it is called, and not the main module.
const handles = "handler of the script"

// requiresComputed reports whether a bundle may require names that are computed at run time.
func (b *bundle) requiresComputed(printed string) bool {
	ahead := strings.Count(printed, `__require("`+b.mark)
	return strings.Count(printed, "__require(") > ahead || strings.Contains(printed, ", __require)")
}

// The code around a bundle. Names that are computed at run time are looked up in the table of files, then in the
// library.
const (
	bundleStart = "((table) => { "
	bundleHead  = bundleStart + "const require = (name) => table?.[name] ? table[name]() : globalThis.require(name);" +
		" require.cache = { __proto__: null };" +
		" require.resolve = (name) => name[0] === '/' ? name : globalThis.require.resolve(name);" +
		" const $airlock_table = (t) => { table = t; }; const " + computedImport + " = (name) => { try { " +
		"return require(name) } catch (e) { if (e?.code === 'MODULE_NOT_FOUND' && " +
		"e.message.startsWith(`Cannot find module '${name}'`)) e.code = 'ERR_MODULE_NOT_FOUND'; throw e } };" +
		" return " + bundleFunction
	bundleFunction = "async ($airlock) => {\n"
	// computedImport is what import() of a computed name calls. It is as long as the __require that it replaces, so that
	// positions stay.
	computedImport = "$_import$"
	// strictMode takes the place of the end of the line before a bundle that consists of ES modules alone. In a bundle
	// with CommonJS modules, all code is sloppy, as that of old libraries has to be.
	strictMode = " 'use strict';\n"
	bundleTail = "\n;return $airlock}; })()"
)

// allESM reports whether the files of a bundle are ES modules, by esbuild's description of it. Node's own modules, and
// those that are missing, do not count.
func allESM(metafile string) bool {
	var meta struct {
		Inputs map[string]struct {
			Format string `json:"format"`
		} `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return false
	}
	for name, input := range meta.Inputs {
		namespace, _, _ := strings.Cut(name, ":")
		if input.Format == "cjs" && !slices.Contains([]string{ofNode, ofMissing, ofAhead}, namespace) {
			return false
		}
	}
	return true
}

// dynamicRequire finds what esbuild prints for import() of a computed name.
var dynamicRequire = lazyregexp.New(`then\(\(\) => __toESM\(__require\(([^"])`)

// printed returns esbuild's output with five corrections:
//
//   - An import() of a computed name has an error code of its own.
//   - CommonJS modules know their paths.
//   - Namespaces and import.meta are as in Node.
//   - Classes and functions have their own names.
//   - The default import of a CommonJS module is the module itself, as in Node, unless a bundler would take it from
//     exports.default.
func (b *bundle) printed(out api.BuildResult) string {
	text := strings.Replace(textOf(out, ".js"), "|| !mod.__esModule ?", `|| !mod.__esModule || !("default" in mod) ?`, 1)
	called := strings.ReplaceAll(computedImport, "$", "$$")
	text = dynamicRequire.ReplaceAllString(text, "then(() => __toESM("+called+"(${1}")
	text = b.asNode(withPaths(text))
	written := func(name string) bool { return b.names[name] }
	text = nameFunctions(nameClasses(text, written), written)
	return nameExpressions(nameValues(text, written), written)
}

// note keeps the names in a source that esbuild could have made of others: those that end with a digit, and those of
// classes that begin with an underscore.
func (b *bundle) note(text string) {
	const class = "class "
	names := map[string]bool{}
	for i := 0; i < len(text); i++ {
		if !inName(text[i]) {
			continue
		}
		from := i
		for i < len(text) && inName(text[i]) {
			i++
		}
		last := text[i-1]
		if name := text[from:i]; last >= '0' && last <= '9' && (name[0] < '0' || name[0] > '9') ||
			name[0] == '_' && strings.HasSuffix(text[:from], class) {
			names[name] = true
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.names == nil {
		b.names = map[string]bool{}
	}
	for name := range names {
		b.names[strings.Clone(name)] = true
	}
}

// inName reports whether a byte is part of a name. Every byte of a letter beyond ASCII is.
func inName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

func textOf(out api.BuildResult, suffix string) string {
	for _, f := range out.OutputFiles {
		if strings.HasSuffix(f.Path, suffix) {
			return string(f.Contents)
		}
	}
	return ""
}

func (b *bundle) run() api.BuildResult {
	mapped := api.SourceMapExternal
	if len(b.keys) > 0 { // no guest is shown frames of packages, and the map would take several times their size
		mapped = api.SourceMapNone
	}
	return api.Build(api.BuildOptions{
		EntryPoints: []string{"start"}, Bundle: true, Outfile: "/bundle.js", AbsWorkingDir: "/", TsconfigRaw: b.tsconfigOf(),
		Format: api.FormatESModule, Target: api.ESNext, Platform: api.PlatformNeutral,
		Sourcemap: mapped, SourcesContent: api.SourcesContentExclude,
		LegalComments: api.LegalCommentsNone, LogLevel: api.LogLevelSilent, Metafile: b.module,
		Supported: map[string]bool{"dynamic-import": false, "import-meta": false, "decorators": false, "using": false,
			"for-await": false, "regexp-set-notation": false, "async-await": !b.follows, "async-generator": !b.follows},
		Define: map[string]string{"import.meta.main": "true"},
		Plugins: []api.Plugin{{Name: "airlock", Setup: func(p api.PluginBuild) {
			p.OnResolve(api.OnResolveOptions{Filter: ".*"},
				func(a api.OnResolveArgs) (api.OnResolveResult, error) { return b.resolve(a), nil })
			p.OnLoad(api.OnLoadOptions{Filter: ".*"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) { return b.load(a), nil })
		}}},
	})
}

// start returns what runs first: it leaves the script's value, and all files if names are computed at run time.
func (b *bundle) start(named string) string {
	if len(b.keys) > 0 {
		return b.startOfPackages()
	}
	var out strings.Builder
	if b.table && named == "table" {
		out.WriteString("$airlock_table({__proto__: null")
		for _, name := range slices.Sorted(maps.Keys(b.files)) {
			switch loader := loaderOf(name); {
			case name == b.path || loader == api.LoaderBinary || loader == api.LoaderText:
			default:
				for _, as := range spellings(path.Dir(b.path), name) {
					fmt.Fprintf(&out, ", %s: () => require(%s)", quoted(as), quoted("/"+name))
				}
			}
		}
		out.WriteString("});\n")
		return out.String()
	}
	if b.table {
		out.WriteString(`import "table"; `)
	}
	if b.shaped {
		out.WriteString(`import script from "script"; $airlock = script`)
	} else {
		out.WriteString(`import * as script from "script"; `)
		out.WriteString("$airlock = typeof script.default !== 'function' && typeof script.handler === 'function' ? " +
			"script.handler : script.default")
	}
	return out.String()
}

// spellings returns the names by which code in folder dir may import a file.
func spellings(dir, name string) []string {
	names := []string{"/" + name}
	if rest, ok := strings.CutPrefix(name, dir+"/"); ok {
		names = append(names, "./"+rest)
	} else if dir == "." {
		names = append(names, "./"+name)
	} else {
		names = append(names, strings.Repeat("../", strings.Count(dir, "/")+1)+name)
	}
	for _, n := range names[:len(names):len(names)] {
		if ext := path.Ext(n); slices.Contains(extensions[:], ext) {
			names = append(names, strings.TrimSuffix(n, ext))
		}
	}
	return names
}
