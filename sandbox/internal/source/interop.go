package source

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/sandbox/internal/lazyregexp"
	"github.com/airlock-run/airlock/sandbox/internal/nodemodule"
)

// What esbuild prints for imports of CommonJS modules, for namespaces and for import.meta is made Node's here.

// importsAsNode reports whether the default import of a CommonJS module is module.exports in a module, as in Node. In
// others it is exports.default if the CommonJS module was compiled from an ES module, as bundlers and TypeScript have
// it: in TypeScript, and in files of packages that Node would not take for ES modules.
func (b *bundle) importsAsNode(namespace, name string) bool {
	switch ext := path.Ext(name); {
	case namespace == ofStart:
		return len(b.keys) > 0
	case ext == ".mjs" || ext == ".mts" || ext == ".cjs":
		return true
	case ext == ".ts" || ext == ".tsx" || ext == ".cts" || ext == ".jsx":
		return false
	case namespace == ofScript:
		return !b.typed
	}
	files := b.files
	if namespace == ofPackage {
		files = b.source.from.Files
	}
	return !strings.Contains("/"+name, "/node_modules/") || typeOf(files, name) == "module"
}

// typeOf returns the type that the nearest package.json of a file states, or "".
func typeOf(files map[string][]byte, name string) string {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		if text, ok := files[path.Join(dir, "package.json")]; ok {
			var manifest struct {
				Type anyString `json:"type"`
			}
			if json.Unmarshal(text, &manifest) != nil {
				return ""
			}
			return string(manifest.Type)
		}
		if dir == "." || path.Base(dir) == "node_modules" {
			return ""
		}
	}
}

// esbuild's functions that make namespaces, and what takes their places.
const (
	printedExport = "__defProp(target, name, { get: all[name], enumerable: true });\n"
	printedToESM  = "var __toESM = (mod, isNodeMode, target) => (target ="
	printedToCJS  = `var __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: true }), mod);`

	asModule = `__defProp(Object.setPrototypeOf(target, null), Symbol.toStringTag, { value: "Module" })`
	// fillNamespace makes target the namespace of the CommonJS module mod.
	fillNamespace = asModule + `; for (const key of [...new Set(["default", ` +
		`...typeof mod === "object" && mod || typeof mod === "function" ? ` +
		`__getOwnPropNames(mod) : []])].sort()) __defProp(target, key, key === "default" ? ` +
		`{ value: mod, enumerable: true } : { get: () => mod[key], ` +
		`enumerable: key === "__esModule" || !!__getOwnPropDesc(mod, key)?.enumerable }); `
	ownToESM = `var __toESM = (mod, isNodeMode, target) => { if (isNodeMode) { target = {}; ` + fillNamespace +
		`return target; } return __toESM0(mod, isNodeMode, target); }; var __toESM0 = (mod, isNodeMode, target) => (target =`
	ownToCJS = `var __toCommonJS = (mod, target = {}) => (` + asModule + `, __copyProps("default" in mod ? ` +
		`__defProp(target, "__esModule", { value: true, enumerable: true }) : __defProp(target, "__esModule", ` +
		`{ value: true }), mod));`
)

var (
	section   = lazyregexp.New(`^\s*// (airlock-[a-z]+):(.*)$`)
	convert   = lazyregexp.New(`(__toESM\d*\(require_[\w$]+\(\))\)`)
	imported  = lazyregexp.New(`(import_[\w$]+ = )(__toESM\d*\((require_[\w$]+)\(\)(?:, 1)?\))`)
	wrapped   = lazyregexp.New(`(?m)^var (require_[\w$]+) = __commonJS\(\{\n  "([^"]*)"`)
	emptyMeta = lazyregexp.New(`\b(import_meta\d*) = \{\};`)
)

// asNode returns printed with namespaces and imports as Node has them. esbuild prints the name of each file above its
// code.
func (b *bundle) asNode(printed string) string {
	printed = strings.Replace(printed, printedExport, printedExport[:len(printedExport)-1]+" "+asModule+";\n", 1)
	printed = strings.Replace(printed, printedToESM, ownToESM, 1)
	printed = strings.Replace(printed, printedToCJS, ownToCJS, 1)
	converts, meta := strings.Contains(printed, "__toESM"), strings.Contains(printed, "import_meta")
	if !converts && !meta {
		return printed
	}
	modules := map[string]string{}
	if len(b.imports) > 0 {
		for _, m := range wrapped.FindAllStringSubmatch(printed, -1) {
			modules[m[1]] = m[2]
		}
	}
	var out strings.Builder
	out.Grow(len(printed))
	namespace, name, node := "", "", false
	for line := range strings.Lines(printed) {
		if strings.Contains(line, "// airlock-") {
			if m := section.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
				namespace, name = m[1], m[2]
				node = b.importsAsNode(namespace, name)
			}
		}
		if node && converts && strings.Contains(line, "__toESM") {
			line = convert.ReplaceAllString(line, "$1, 1)")
		}
		if len(modules) > 0 && converts && strings.Contains(line, "__toESM") {
			line = imported.ReplaceAllStringFunc(line, func(found string) string {
				m := imported.FindStringSubmatch(found)
				return m[1] + b.checked(m[2], namespace+":"+name, modules[m[3]])
			})
		}
		if meta && strings.Contains(line, "import_meta") {
			line = emptyMeta.ReplaceAllStringFunc(line, func(found string) string {
				return strings.TrimSuffix(found, "{};") + b.meta(name) + ";"
			})
		}
		out.WriteString(line)
	}
	return out.String()
}

// meta returns the expression of a module's import.meta.
func (b *bundle) meta(name string) string {
	url, file := "file:///"+name, "/"+name
	var table strings.Builder
	known := b.resolved[name]
	for _, specifier := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(&table, ", %s: %s", quoted(specifier), quoted(known[specifier]))
	}
	return "{ __proto__: null, dirname: " + quoted(path.Dir(file)) + ", filename: " + quoted(file) +
		", resolve: function resolve(name) { const known = { __proto__: null" + table.String() + " }; " +
		"if (known[name]) return known[name]; if (/^\\.{0,2}\\//.test(name)) return new URL(name, " + quoted(url) +
		").href; if (/^[a-z][a-z+.-]+:/i.test(name)) return name; " +
		"throw Object.assign(new Error(`Cannot find package '${name}' imported from ` + " + quoted(file) +
		"), { code: 'ERR_MODULE_NOT_FOUND' }) }, url: " + quoted(url) + " }"
}

// noteResolved keeps what the literal arguments of import.meta.resolve in a file mean.
func (b *bundle) noteResolved(text, name string, files map[string][]byte) {
	if !strings.Contains(text, "resolve") {
		return
	}
	tokens := significant(text)
	for i := range tokens {
		if !textsAt(tokens, i, "import", ".", "meta", ".", "resolve", "(") || at(tokens, i+6).kind != js.StringToken {
			continue
		}
		specifier := at(tokens, i+6).text
		specifier = specifier[1 : len(specifier)-1]
		if strings.HasPrefix(specifier, ".") {
			continue
		}
		if module, builtin := nodemodule.Name(specifier); builtin {
			b.keepResolved(name, specifier, "node:"+module)
		} else if found, ok := resolve(files, name, specifier, false); ok {
			b.keepResolved(name, specifier, "file:///"+found)
		}
	}
}

func (b *bundle) keepResolved(name, specifier, url string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.resolved == nil {
		b.resolved = map[string]map[string]string{}
	}
	if b.resolved[name] == nil {
		b.resolved[name] = map[string]string{}
	}
	b.resolved[name][specifier] = url
}
