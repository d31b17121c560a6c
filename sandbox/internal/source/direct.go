package source

import (
	"strings"

	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/sandbox/internal/lazyregexp"
	"github.com/airlock-run/airlock/sandbox/internal/nodemodule"
)

// Most modules are a single file that imports modules of Node, or packages that are evaluated ahead, and exports one
// function or value. Such a module becomes a script by a few replacements in its text: esbuild takes a hundred times as
// long for it. Any doubt leaves the module to esbuild.

// declared matches an import declaration without the names that only strings can spell.
var declared = lazyregexp.New(`^import\s*(?:([\w$\s,{}*]*[\s}])from\s*)?(?:'([^'\\]+)'|"([^"\\]+)")\s*;?$`)

// ownNamespace defines the function that makes the namespace of a module of Node.
const (
	namespaceFunction = "$airlock_namespace"
	ownNamespace      = "const " + namespaceFunction + " = (mod) => { const __defProp = Object.defineProperty, " +
		"__getOwnPropNames = Object.getOwnPropertyNames, __getOwnPropDesc = Object.getOwnPropertyDescriptor; " +
		"const target = {}; " + fillNamespace + "return Object.preventExtensions(target); }; "
)

// direct returns the source of code that needs no bundling: a module of the kind above, a script that loads modules of
// Node by import(…), or one that requires packages that are evaluated ahead, which it reads from the fourth parameter.
// ok is false for any other code.
func (in Input) direct(code string, skipped int, found moduleForm) (s *Source, ok bool) {
	requires := len(in.Packages.Ahead) > 0 && in.Packages.anyOf(found.required)
	if !found.isModule() && !requires || in.isLarger(code) ||
		in.Session && (in.TypeScript || found.exports || requires || strings.Contains(code, "use strict")) {
		return nil, false
	}
	own := &singleFile{step: in.Session, module: len(found.imports) > 0 || len(found.declared) > 0 || found.meta}
	s = &Source{name: "script.js", skipped: skipped, uses: uses{}, single: own}
	if !own.module && strings.Contains(code, "use strict") {
		return nil, false
	}
	if in.TypeScript || hasForAwait(code) || hasSetsLiteral(code) {
		if code, ok = transpileWhole(s, code, in.TypeScript); !ok {
			return nil, false
		}
		exports := found.exports
		if found = moduleSyntax(code); exports && !found.exports { // types alone
			return nil, false
		}
	}
	commonJS := found.exports && len(found.declared) == 0
	if found.main || found.astray || found.exports && (own.module && (commonJS || found.objects) || found.others) {
		return nil, false
	}
	code, loads, ok := withLoads(code, found)
	if !ok {
		return nil, false
	}
	bindings, require, ok := in.bindings(s.uses, code, found)
	if !ok || in.Saved && (found.exports || len(s.uses) == 0) || in.Session && len(s.uses) > 0 {
		return nil, false
	}
	found.objects = found.objects || commonJS
	asScript := found.head(code)
	if own.step {
		asScript = sessionHead
	}
	s.head = own.headOf(s, asScript, loads+require, bindings)
	for i, p := range positionsOf(code, found.imports) {
		own.bound[i].line, own.bound[i].col = p.line, p.col
	}
	own.whole = code
	body, cut := blank(code, found.imports)
	switch {
	case commonJS:
		x := &exporting{code: body, tokens: significant(body)}
		return s, len(s.uses) == 0 && x.fillCommonJS(s)
	case found.exports:
		x := &exporting{code: body, tokens: found.declared, names: map[string]bool{}}
		return s, x.fill(s)
	}
	if own.step {
		s.imports = cut
	}
	s.code = body
	s.shape(body)
	return s, !s.doubtful
}

// isLarger reports whether the request has more than code that runs once, or code that only esbuild reads as Node does.
func (in Input) isLarger(code string) bool {
	return in.Entry != "" || len(in.Files) > 0 || strings.Contains(code, "createRequire") ||
		strings.Contains(code, asyncHooks) && hasContexts(code)
}

// What takes the places of import( and import.meta has their length, so that positions stay as they are.
const (
	loadFunction = "$load_"
	metaObject   = "$importmeta"
	ownLoad      = "const " + loadFunction + " = async (name) => " + namespaceFunction + "(globalThis.require(name)); "
)

// withLoads returns code that calls a function in place of import(…) of a module of Node and reads an object in place
// of import.meta, and what defines both. ok is false for code that imports or asks for anything else in this way.
func withLoads(code string, found moduleForm) (text, own string, ok bool) {
	if !found.dynamic && !found.meta {
		return code, "", true
	}
	if _, certain := boundaries(code); !certain || strings.Contains(code, loadFunction) ||
		strings.Contains(code, metaObject) {
		return "", "", false
	}
	out := []byte(code)
	tokens := significant(code)
	for i, t := range tokens {
		if t.kind != js.ImportToken || i > 0 && (tokens[i-1].kind == js.DotToken || tokens[i-1].kind == js.OptChainToken) {
			continue
		}
		switch next, after := at(tokens, i+1), at(tokens, i+2); next.kind {
		case js.OpenParenToken:
			if after.kind != js.StringToken || at(tokens, i+3).kind != js.CloseParenToken {
				return "", "", false
			}
			if _, builtin := nodemodule.Name(unquoted(after.text)); !builtin {
				return "", "", false
			}
			copy(out[t.from:t.to], loadFunction)
		case js.DotToken:
			if code[t.from:min(t.from+len(metaObject), len(code))] != "import.meta" || at(tokens, i+2).text != "meta" ||
				at(tokens, i+4).text == "resolve" {
				return "", "", false
			}
			copy(out[t.from:], metaObject)
		}
	}
	if found.dynamic {
		own = ownNamespace + ownLoad
	}
	if found.meta {
		own += "const " + metaObject + " = " + strings.TrimSuffix(new(bundle).meta("script.js"), "}")
		if strings.Contains(code, "import.meta.main") {
			own += ", main: true"
		}
		own += " }; "
	}
	return string(out), own, true
}

// bindings returns what declares the names that each import of the code binds, and the require of packages, if the code
// needs it. It adds what the code uses of packages. ok is false if the code imports anything else.
func (in Input) bindings(used uses, code string, found moduleForm) (list []string, requires string, ok bool) {
	p := in.Packages
	for _, span := range found.imports {
		c, ok := clauseOf(code[span.from:span.to])
		if !ok {
			return nil, "", false
		}
		key := "import " + c.specifier
		switch module, builtin := nodemodule.Name(c.specifier); {
		case p.isAhead(c.specifier) && len(p.Live[key]) == 0 && !in.TypeScript:
			used.add(key, c)
			list = append(list, c.bindings(c.check(packagesName+"["+quoted(key)+"]")))
		case builtin && !p.isAhead(c.specifier):
			list = append(list, c.ofNode(module, !in.TypeScript))
		default:
			return nil, "", false
		}
	}
	for _, name := range found.required {
		if p.isAhead(name) {
			if in.TypeScript {
				return nil, "", false
			}
			requires = "const require = (name) => " + packagesName + `["require " + name] ?? globalThis.require(name);`
			used.of("require " + name).all = true
		} else if _, builtin := nodemodule.Name(name); !builtin {
			return nil, "", false
		}
	}
	return list, requires, true
}

// singleFile is what a Source knows of code that is not bundled although it imports or exports something.
type singleFile struct {
	module bool   // it is an ES module by its syntax
	step   bool   // of a session, which is not strict
	whole  string // the code with its imports
	bound  []binding
}

// binding is where the declarations of an import end in the head, and where the caller has the import.
type binding struct{ end, line, col int }

// headOf returns the head of the function around the code: what declares its imports, behind what that needs. asScript
// is the head that a script would have, and own what the code needs beside.
func (f *singleFile) headOf(s *Source, asScript, own string, bindings []string) string {
	head := asScript
	if !f.step && (f.module || len(s.uses) > 0) {
		head = functionHead
		if len(s.uses) > 0 {
			head = packagesHead
		}
		if strings.HasPrefix(asScript, thisStart) {
			head = withThis(head)
		}
	}
	if f.module && !f.step {
		head += "'use strict';"
	}
	head += own
	all := strings.Join(bindings, "")
	if strings.Contains(all, namedFunction+"(") {
		head += ownNamed
	}
	if strings.Contains(all, namespaceFunction+"(") && !strings.Contains(own, ownNamespace) {
		head += ownNamespace
	}
	end := len(head)
	for _, text := range bindings {
		end += len(text)
		f.bound = append(f.bound, binding{end: end})
	}
	return head + all
}

// positionOf returns where the caller has the import that a column (from 1) of the first line declares.
func (f *singleFile) positionOf(col int) (line, c int, ok bool) {
	if f == nil {
		return 0, 0, false
	}
	for _, b := range f.bound {
		if col <= b.end {
			return b.line, b.col, true
		}
	}
	return 0, 0, false
}

// ofNode declares the names that the clause binds to what a module of Node exports. They cannot be assigned to. checked
// has the names checked.
func (c clause) ofNode(module string, checked bool) string {
	from := "globalThis.require(" + quoted("node:"+module) + ")"
	var out, list []string
	if c.first != "" {
		out = append(out, c.first+" = "+from)
	}
	if c.all != "" {
		out = append(out, c.all+" = "+namespaceFunction+"("+from+")")
	}
	for _, n := range c.list {
		switch {
		case n.name == "default":
			out = append(out, n.local+" = "+from)
		case n.spelled == n.local:
			list = append(list, n.local)
		default:
			list = append(list, n.spelled+": "+n.local)
		}
	}
	if exports := from; len(list) > 0 {
		if checked {
			exports = c.check(from)
		}
		out = append(out, "{ "+strings.Join(list, ", ")+" } = "+exports)
	}
	if len(out) == 0 {
		return from + ";"
	}
	return "const " + strings.Join(out, ", ") + ";"
}
