package source

import (
	"path"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

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
	"if (!(name in module)) throw new SyntaxError(of === undefined || " +
	"Object.getOwnPropertyDescriptor(module, 'default')?.value === undefined ? " +
	"`The requested module '${from}' does not provide an export named '${name}'` : " +
	"`Named export '${name}' not found. The requested module '${from}' is a CommonJS module, which may not support all " +
	"module.exports as named exports.\\nCommonJS modules can always be imported via the default export, for example " +
	"using:\\n\\nimport pkg from '${from}';\\n` + (of && `const ${of} = pkg;\\n`)); return module; }; "

// clause are the names in the braces of an import declaration.
type clause struct {
	specifier string
	names     []string
	// pattern takes the same names out of an object. It is empty if the braces take several lines, as in Node.
	pattern string
}

// clauseOf returns the clause of an import declaration; ok is false if it has no names to be checked.
func clauseOf(declaration string) (c clause, ok bool) {
	m := declared.FindStringSubmatch(declaration)
	if m == nil {
		return clause{}, false
	}
	c.specifier = m[2] + m[3]
	c.names, c.pattern = namesOf(m[1])
	return c, len(c.names) > 0
}

// namesOf returns what the braces of an import clause name, and the same as a pattern.
func namesOf(text string) (names []string, pattern string) {
	at := strings.IndexByte(text, '{')
	if at < 0 {
		return nil, ""
	}
	text = text[at:]
	for name := range strings.SplitSeq(strings.Trim(text, "{} \t\r\n"), ",") {
		if m := importName.FindStringSubmatch(strings.TrimSpace(name)); m != nil && m[1] != "default" {
			names = append(names, m[1])
		}
	}
	if !strings.Contains(text, "\n") {
		pattern = renamed.ReplaceAllString(text, ": ")
	}
	return names, pattern
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
		if c, ok := clauseOf(d); ok {
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
	names, of := c.names, quoted(c.pattern)
	if module, builtin := nodemodule.Name(c.specifier); builtin {
		of = "undefined"
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return isAbsent(module, name) })
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
