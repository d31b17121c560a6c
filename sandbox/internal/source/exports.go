package source

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/sandbox/internal/lazyregexp"
	"github.com/airlock-run/airlock/sandbox/internal/nodemodule"
)

// An import of a name that a module does not export is an error, as in Node. esbuild finds those of ES modules. What a
// CommonJS module, a module of Node or a package that was evaluated before exports is known when the code runs: the
// namespace is checked where it is bound. Names of TypeScript are not checked, because they may be those of types.

// namedFunction is the function that checks a namespace.
const namedFunction = "$airlock_named"

// ownNamed defines it. of is how Node would have the names imported from a CommonJS module, whose namespace has the
// module itself as its default.
const ownNamed = "const " + namedFunction + " = (module, names, from, of) => { for (const name of names) " +
	"if (!Object.hasOwn(module, name)) throw new SyntaxError(of === undefined || " +
	"Object.getOwnPropertyDescriptor(module, 'default')?.value === undefined ? " +
	"`The requested module '${from}' does not provide an export named '${name}'` : " +
	"`Named export '${name}' not found. The requested module '${from}' is a CommonJS module, which may not support all " +
	"module.exports as named exports.\\nCommonJS modules can always be imported via the default export, for example " +
	"using:\\n\\nimport pkg from '${from}';\\n` + (of && `const ${of} = pkg;\\n`)); return module; }; "

// clause is what an import declaration binds.
type clause struct {
	specifier string
	first     string // the name of the default import
	all       string // the name of the namespace
	list      []importedName
	// pattern takes the names in the braces out of an object. It is empty if they take several lines, as in Node.
	pattern string
}

// importedName is a name in the braces of an import declaration: the export, how the code spells it, and what is bound.
// The export is "" if it has escapes.
type importedName struct{ name, spelled, local string }

// clauseText matches an import clause that esbuild prints. Strings in it may hold anything.
const clauseText = `(?:[^;"']|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')*?`

// plainName matches a name that needs no quotes.
var plainName = lazyregexp.New(`^[\w$]+$`)

// clauseOf returns the clause of an import declaration; ok is false for one that has a name in quotes, or is none.
func clauseOf(declaration string) (c clause, ok bool) {
	m := declared.FindStringSubmatch(declaration)
	if m == nil {
		return clause{}, false
	}
	return parseClause(m[1], m[2]+m[3])
}

// parseClause reads an import clause token by token.
func parseClause(text, specifier string) (c clause, ok bool) {
	c = clause{specifier: specifier}
	tokens := significant(text)
	if len(tokens) == 0 {
		return c, strings.TrimSpace(text) == ""
	}
	i := 0
	if js.IsIdentifierName(tokens[0].kind) {
		c.first = tokens[0].text
		if i = 1; len(tokens) > 1 {
			if tokens[1].kind != js.CommaToken {
				return c, false
			}
			i = 2
		}
	}
	switch at(tokens, i).kind {
	case js.MulToken:
		c.all = at(tokens, i+2).text
		return c, at(tokens, i+1).text == "as" && js.IsIdentifierName(at(tokens, i+2).kind) && i+3 == len(tokens)
	case js.OpenBraceToken:
		return c, c.parseList(text, tokens[i:])
	}
	return c, i == len(tokens) && c.first != ""
}

// parseList reads the braces of an import clause, which are all of the tokens, and reports whether it could.
func (c *clause) parseList(text string, tokens []token) bool {
	pattern, last := "", len(tokens)-1
	for i := 1; i < last; {
		n, t := importedName{}, tokens[i]
		switch {
		case t.kind == js.StringToken:
			n.name, n.spelled = unquoted(t.text), t.text
		case js.IsIdentifierName(t.kind):
			n.name, n.spelled, n.local = unquoted(t.text), t.text, t.text
		default:
			return false
		}
		if i++; tokens[i].text == "as" && i+1 < last && tokens[i+1].kind != js.CommaToken {
			n.local, i = tokens[i+1].text, i+2
		}
		if !js.IsIdentifierName(tokens[i-1].kind) || n.local == "" {
			return false
		}
		if i < last && tokens[i].kind != js.CommaToken {
			return false
		}
		i++
		c.list = append(c.list, n)
	}
	if tokens[last].kind != js.CloseBraceToken {
		return false
	}
	if !strings.Contains(text, "\n") {
		pattern = renamed.ReplaceAllString(text[tokens[0].from:tokens[last].to], ": ")
	}
	c.pattern = pattern
	return true
}

// unquoted returns the name that code spells, in quotes or not; "" if it has escapes.
func unquoted(spelled string) string {
	if strings.Contains(spelled, `\`) {
		return ""
	}
	if spelled[0] == '"' || spelled[0] == '\'' {
		return spelled[1 : len(spelled)-1]
	}
	return spelled
}

var renamed = lazyregexp.New(`\s+as\s+`)

// bindings declares the names that the clause binds.
func (c clause) bindings(from string) string {
	var out, list []string
	if c.first != "" {
		out = append(out, c.first+" = "+from+".default")
	}
	if c.all != "" {
		out = append(out, c.all+" = "+from)
	}
	for _, n := range c.list {
		if n.spelled == n.local {
			list = append(list, n.local)
		} else {
			list = append(list, n.spelled+": "+n.local)
		}
	}
	if len(list) > 0 {
		out = append(out, "{ "+strings.Join(list, ", ")+" } = "+from)
	}
	if len(out) == 0 {
		return ";"
	}
	return "var " + strings.Join(out, ", ") + ";"
}

// names returns the exports that the clause names in braces, but the default, which every module may have.
func (c clause) names() (out []string) {
	for _, n := range c.list {
		if n.name != "default" && n.name != "" {
			out = append(out, n.name)
		}
	}
	return out
}

// noteNames keeps what the import declarations of a file name. Libraries are taken to be in order.
func (b *bundle) noteNames(text, namespace, name string) {
	switch ext := path.Ext(name); {
	case namespace == ofPackage, namespace == ofScript && b.typed, strings.Contains(name, "node_modules/"),
		ext == ".ts", ext == ".tsx", ext == ".cts", ext == ".mts", !strings.Contains(text, "import"):
		return
	}
	declarations := b.source.imports
	if namespace != ofScript || !b.shaped {
		_, declarations = blank(text, moduleSyntax(text).imports)
	}
	var clauses []clause
	for _, d := range declarations {
		if c, ok := clauseOf(d); ok && len(c.names()) > 0 {
			clauses = append(clauses, c)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.clauses == nil {
		b.clauses = map[string][]clause{}
	}
	b.clauses[namespace+":"+name] = clauses
}

// noteImport keeps which file an import declaration means.
func (b *bundle) noteImport(a api.OnResolveArgs, namespace, name string) {
	if a.Kind != api.ResolveJSImportStatement {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.imports == nil {
		b.imports = map[[2]string]string{}
	}
	b.imports[[2]string{a.Namespace + ":" + a.Importer, a.Path}] = namespace + ":" + name
}

// checked returns the expression of a CommonJS module's namespace with a check of what the importer names of it. Both
// are a namespace and a path.
func (b *bundle) checked(namespace, importer, module string) string {
	for _, c := range b.clauses[importer] {
		if b.imports[[2]string{importer, c.specifier}] == module {
			namespace = c.check(namespace)
		}
	}
	return namespace
}

// check returns the expression of a namespace with a check of the names.
func (c clause) check(namespace string) string {
	names, of := c.names(), quoted(c.pattern)
	if module, builtin := nodemodule.Name(c.specifier); builtin {
		of = "undefined"
		names = slices.DeleteFunc(names, func(name string) bool { return isAbsent(module, name) })
	}
	if len(names) == 0 {
		return namespace
	}
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = quoted(name)
	}
	return namedFunction + "(" + namespace + ", [" + strings.Join(list, ", ") + "], " + quoted(c.specifier) + ", " +
		of + ")"
}

// Imports are live: code sees each value that a package gives to what it exports. Few exports change once the package
// was evaluated, so code binds what it imports to variables, which are faster than the members of a namespace. What may
// change is found in the text of the packages, where a name that is assigned to counts, whatever its scope. Code that
// imports such an export is bundled with a module in its place, so that esbuild reads the member at each use.

// Live returns the exports of the modules that the text evaluates, by their keys in Ahead, that may change later.
func (s *Source) Live() map[string][]string { return s.bundle.live }

// Rebinds reports whether the code has bound an export to a variable that is among those which may change.
func (s *Source) Rebinds(live map[string][]string) bool {
	for key, u := range s.uses {
		if len(s.from.Live[key]) > 0 {
			continue
		}
		for _, name := range live[key] {
			if u.names[name] || u.names[""] || name == "" && u.all {
				return true
			}
		}
	}
	return false
}

// liveOf returns what Live returns of a bundle of packages, as esbuild prints it.
func liveOf(printed string) map[string][]string {
	tables := map[string]map[string]string{} // the locals of exports, by the variables of namespaces
	for _, m := range printedExports.FindAllStringSubmatch(printed, -1) {
		table := map[string]string{}
		for _, e := range printedExportOf.FindAllStringSubmatch(m[2], -1) {
			table[unquoted(strings.Trim(e[1], "[]"))] = e[2]
		}
		tables[m[1]] = table
	}
	start := strings.LastIndex(printed, "\n$airlock = {")
	if start < 0 {
		return nil
	}
	locals, found := map[string]bool{}, map[string]map[string]string{}
	for _, m := range printedKey.FindAllStringSubmatch(printed[start:], -1) {
		key, _, _ := strings.Cut("import "+m[1], " {")
		table := tables[m[2]]
		if m[3] != "" {
			table = map[string]string{}
			for _, e := range printedGetter.FindAllStringSubmatch(m[3], -1) {
				table[e[1]] = e[2]
			}
		}
		found[key] = table
		for _, local := range table {
			locals[local] = true
		}
	}
	changed := assigned(printed[:start], locals)
	live := map[string][]string{}
	for key, table := range found {
		for _, name := range slices.Sorted(maps.Keys(table)) {
			if changed[table[name]] {
				live[key] = append(live[key], name)
			}
		}
	}
	return live
}

// What esbuild prints for the exports of a module, and for the table of a bundle of packages.
var (
	printedExports  = lazyregexp.New(`(?m)^__export\(([\w$]+), \{\n((?:  .*\n)*)\}\);$`)
	printedExportOf = lazyregexp.New(`(?m)^  ("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\["__proto__"\]|[^\s"':]+): \(\) => ` +
		`([\w$]+),?$`)
	printedKey = lazyregexp.New(`"import ([^"\\]*)": (?:([\w$]+)|\{ __proto__: null((?:, get "[^"\\]*"\(\) ` +
		`\{\n  return [^;\n]*;\n\})*) \})`)
	printedGetter = lazyregexp.New(`get "([^"\\]*)"\(\) \{\n  return ([\w$]+);`)
	// lazily is what esbuild prints above the statements of a module that another one requires.
	lazily = lazyregexp.New(`^var init_[\w$]+ = __esm\(`)
	// assigns are the operators that change a variable.
	assigns = lazyregexp.New(`^ ?(?:=[^=>]|\+\+|--|(?:[-+/%^]|\*\*?|&&?|\|\|?|\?\?|<<|>>>?)=)`)
)

// assigned returns those of the names that a text may assign to after the evaluation of its top level. It reads no
// syntax but what esbuild prints around a name: a name in a string or in an inner scope counts, too.
func assigned(text string, names map[string]bool) map[string]bool {
	out := map[string]bool{}
	line := 0 // where it starts
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			line = i + 1
		case (c == ']' || c == '}') && assignsPattern(text[i+1:]):
			for _, name := range namesBefore(text[:i+1]) {
				out[name] = out[name] || names[name]
			}
		case inName(c):
			from := i
			for i+1 < len(text) && inName(text[i+1]) {
				i++
			}
			if name := text[from : i+1]; names[name] && changes(text, line, from, i+1) {
				out[name] = true
			}
		}
	}
	return out
}

// changes reports whether the name at text[from:to] is assigned to other than at the top level.
func changes(text string, line, from, to int) bool {
	before, after := strings.TrimRight(text[line:from], " "), text[to:]
	if strings.HasSuffix(before, "++") || strings.HasSuffix(before, "--") {
		return true
	}
	if strings.HasSuffix(before, "(") && (strings.HasPrefix(after, " of ") || strings.HasPrefix(after, " in ")) {
		return true
	}
	if !assigns.MatchString(after) || strings.HasSuffix(before, ".") {
		return false
	}
	for _, word := range [...]string{"var", "let", "const"} {
		if strings.HasSuffix(before, word) {
			return false
		}
	}
	if strings.HasSuffix(before, text[from:to]+" || (") { // of an enumeration that TypeScript has compiled
		return false
	}
	top := text[line] != ' ' || strings.HasPrefix(text[line:], "    ") && text[line+4] != ' ' && isLazy(text[:line])
	return !top || before != "" && (!strings.HasSuffix(before, ",") || strings.Contains(before, "=>"))
}

// isLazy reports whether the last line of a text that is not indented begins a module that another one requires.
func isLazy(text string) bool {
	for text != "" {
		text = strings.TrimSuffix(text, "\n")
		line := text[strings.LastIndexByte(text, '\n')+1:]
		if line != "" && line[0] != ' ' {
			return lazily.MatchString(line)
		}
		text = text[:len(text)-len(line)]
	}
	return false
}

// assignsPattern reports whether what follows a bracket makes a pattern of what it closes.
func assignsPattern(after string) bool {
	return strings.HasPrefix(after, " = ") || strings.HasPrefix(after, " of ")
}

// maxPattern bounds the text in which the start of a pattern is looked for.
const maxPattern = 4 << 10

// namesBefore returns the names in the pattern that ends a text, unless it declares them.
func namesBefore(text string) (names []string) {
	depth, from := 0, len(text)-1
	for ; from > 0 && from > len(text)-maxPattern; from-- {
		switch text[from] {
		case ']', '}', ')':
			depth++
		case '[', '{', '(':
			depth--
		}
		if depth == 0 {
			break
		}
	}
	before := strings.TrimRight(text[:from], " ")
	for _, word := range [...]string{"var", "let", "const"} {
		if strings.HasSuffix(before, word) {
			return nil
		}
	}
	return strings.FieldsFunc(text[from:], func(r rune) bool { return r < 0x80 && !inName(byte(r)) })
}

// absent are names that Node's modules export and the library's do not. Code that only imports them runs.
var absent = map[string]string{
	"assert":        "CallTracker",
	"assert/strict": "CallTracker",
	"async_hooks":   "asyncWrapProviders",
	"buffer":        "resolveObjectURL",
	"console":       "profile profileEnd timeStamp context createTask",
	"crypto": "checkPrime checkPrimeSync createDiffieHellmanGroup generatePrime generatePrimeSync " +
		"getDiffieHellman generateKey generateKeySync setEngine getFips setFips Certificate Cipher Cipheriv " +
		"Decipher Decipheriv DiffieHellman DiffieHellmanGroup X509Certificate secureHeapUsed",
	"fs": "fchown fchownSync lchown lchownSync lchmod lchmodSync lutimes lutimesSync openAsBlob statfs statfsSync " +
		"FileReadStream FileWriteStream Dir",
	"fs/promises":        "statfs lchmod lchown lutimes watch",
	"inspector":          "Network",
	"inspector/promises": "Network",
	"module":             "globalPaths syncBuiltinESMExports Module runMain findSourceMap register SourceMap",
	"perf_hooks":         "PerformanceResourceTiming",
	"process": "moduleLoadList domain getActiveResourcesInfo loadEnvFile openStdin allowedNodeEnvironmentFlags " +
		"assert setUncaughtExceptionCaptureCallback hasUncaughtExceptionCaptureCallback sourceMapsEnabled " +
		"setSourceMapsEnabled initgroups setgroups setegid seteuid setgid debugPort noDeprecation report",
	"readline/promises": "Readline",
	"repl":              "writer REPL_MODE_SLOPPY REPL_MODE_STRICT isValidSyntax",
	"stream":            "isDestroyed isWritable duplexPair destroy setDefaultHighWaterMark",
	"stream/consumers":  "blob",
	"timers":            "active unenroll enroll",
	"tls":               "convertALPNProtocols",
	"util":              "getSystemErrorMap log transferableAbortSignal transferableAbortController",
	"v8":                "promiseHooks",
}

func isAbsent(module, name string) bool {
	return slices.Contains(strings.Fields(absent[module]), name)
}

// noMatch matches esbuild's message about a name that an ES module does not export.
var noMatch = lazyregexp.New(`^No matching export in "([^"]*)" for import "([^"]*)"`)

// notExported returns Node's words for such a message about an import of a file, or the message as it is.
func (b *bundle) notExported(message, importer string) string {
	m := noMatch.FindStringSubmatch(message)
	if m == nil {
		return message
	}
	var specifiers []string
	for key, module := range b.imports {
		if key[0] == importer && module == m[1] {
			specifiers = append(specifiers, key[1])
		}
	}
	if len(specifiers) == 0 {
		return message
	}
	return "The requested module '" + slices.Min(specifiers) + "' does not provide an export named '" + m[2] + "'"
}
