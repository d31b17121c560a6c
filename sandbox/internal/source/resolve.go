package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/airlock-run/airlock/sandbox/internal/nodemodule"
)

// extensions are tried in this order for an import that names no file exactly.
var extensions = [...]string{".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".json"}

// resolve returns the file that a specifier means in the file importer. It looks only at files. A package that has a
// form of its own for require is taken in that form if required is set.
func resolve(files map[string][]byte, importer, specifier string, required bool) (string, bool) {
	specifier, _, _ = strings.Cut(specifier, "?")
	switch {
	case strings.HasPrefix(specifier, "/"):
		return resolveFile(files, path.Clean(specifier[1:]))
	case specifier == "." || specifier == ".." || strings.HasPrefix(specifier, "./") ||
		strings.HasPrefix(specifier, "../"):
		return resolveFile(files, path.Join(path.Dir(importer), specifier))
	case strings.HasPrefix(specifier, "#"):
		return resolveOwn(files, importer, specifier, required)
	}
	if found, ok := resolveSelf(files, importer, specifier, required); ok {
		return found, true
	}
	for dir := path.Dir(importer); ; dir = path.Dir(dir) {
		if found, ok := resolvePackage(files, path.Join(dir, "node_modules"), specifier, required); ok {
			return found, true
		}
		if dir == "." {
			return "", false
		}
	}
}

// resolveSelf returns the file that a specifier means in the package that has its name and the importer in it.
func resolveSelf(files map[string][]byte, importer, specifier string, required bool) (string, bool) {
	for dir := path.Dir(importer); ; dir = path.Dir(dir) {
		text, ok := files[path.Join(dir, "package.json")]
		if !ok {
			if dir == "." {
				return "", false
			}
			continue
		}
		var own struct {
			Name    anyString       `json:"name"`
			Exports json.RawMessage `json:"exports"`
		}
		name := PackageName(specifier)
		if json.Unmarshal(text, &own) != nil || string(own.Name) != name || len(own.Exports) == 0 {
			return "", false
		}
		target := exported(own.Exports, "."+strings.TrimPrefix(specifier, name), required, 0)
		if p := path.Join(dir, target); target != "" && (dir == "." || strings.HasPrefix(p, dir+"/")) {
			return resolveFile(files, p)
		}
		return "", false
	}
}

// exportsOthers reports whether a specifier names a package that states what it exports.
func (b *bundle) exportsOthers(specifier string) bool {
	manifest := "node_modules/" + PackageName(specifier) + "/package.json"
	for _, files := range [...]map[string][]byte{b.files, b.source.from.Files} {
		var stated struct {
			Exports json.RawMessage `json:"exports"`
		}
		if json.Unmarshal(files[manifest], &stated) == nil && len(stated.Exports) > 0 {
			return true
		}
	}
	return false
}

// resolveOwn returns the file that a specifier such as #lib means: the imports of the nearest package.json say so.
func resolveOwn(files map[string][]byte, importer, specifier string, required bool) (string, bool) {
	for dir := path.Dir(importer); ; dir = path.Dir(dir) {
		manifest := path.Join(dir, "package.json")
		text, ok := files[manifest]
		if !ok {
			if dir == "." {
				return "", false
			}
			continue
		}
		var own struct {
			Imports json.RawMessage `json:"imports"`
		}
		if json.Unmarshal(text, &own) != nil || len(own.Imports) == 0 {
			return "", false
		}
		target := exported(own.Imports, specifier, required, 0)
		if target == "" || strings.HasPrefix(target, "#") || strings.HasPrefix(target, "/") {
			return "", false
		}
		return resolve(files, manifest, target, required)
	}
}

func resolveFile(files map[string][]byte, p string) (string, bool) {
	if _, ok := files[p]; ok {
		return p, true
	}
	stem := strings.TrimSuffix(p, path.Ext(p))
	candidates := make([]string, 0, len(extensions)+2)
	for _, ext := range extensions {
		candidates = append(candidates, p+ext)
	}
	switch path.Ext(p) { // TypeScript imports name the file after compilation
	case ".js", ".jsx":
		candidates = append(candidates, stem+".ts", stem+".tsx")
	case ".mjs":
		candidates = append(candidates, stem+".mts")
	case ".cjs":
		candidates = append(candidates, stem+".cts")
	}
	for _, c := range candidates {
		if _, ok := files[c]; ok {
			return c, true
		}
	}
	return resolveFolder(files, p)
}

// resolveFolder returns the file that a folder stands for: the main file of its package.json, or its index.
func resolveFolder(files map[string][]byte, p string) (string, bool) {
	var candidates []string
	if text, ok := files[path.Join(p, "package.json")]; ok {
		var manifest struct {
			Main anyString `json:"main"`
		}
		if json.Unmarshal(text, &manifest) == nil && manifest.Main != "" {
			stem := path.Join(p, string(manifest.Main))
			candidates = append(candidates, stem)
			for _, ext := range extensions {
				candidates = append(candidates, stem+ext, path.Join(stem, "index"+ext))
			}
		}
	}
	for _, ext := range extensions {
		candidates = append(candidates, path.Join(p, "index"+ext))
	}
	for _, c := range candidates {
		if _, ok := files[c]; ok {
			return c, true
		}
	}
	return "", false
}

// resolvePackage returns the file that a bare specifier (name, @scope/name, or either with a path) means in a
// node_modules folder among the files.
func resolvePackage(files map[string][]byte, modules, specifier string, required bool) (string, bool) {
	name, sub, _ := strings.Cut(specifier, "/")
	if strings.HasPrefix(specifier, "@") {
		scope, rest, _ := strings.Cut(specifier, "/")
		name, sub, _ = strings.Cut(rest, "/")
		name = scope + "/" + name
	}
	if name == "" || strings.HasPrefix(name, ".") {
		return "", false
	}
	root := path.Join(modules, name)
	var manifest struct {
		Main    anyString       `json:"main"`
		Module  anyString       `json:"module"`
		Exports json.RawMessage `json:"exports"`
	}
	if text, ok := files[path.Join(root, "package.json")]; ok {
		if json.Unmarshal(text, &manifest) != nil {
			return "", false
		}
	}
	within := func(target string) (string, bool) {
		p := path.Join(root, target)
		if p != root && !strings.HasPrefix(p, root+"/") {
			return "", false
		}
		return resolveFile(files, p)
	}
	if len(manifest.Exports) > 0 {
		key := "."
		if sub != "" {
			key = "./" + sub
		}
		if target := exported(manifest.Exports, key, required, 0); target != "" {
			return within(target)
		}
		return "", false
	}
	if sub != "" {
		return within(sub)
	}
	// Node does not read "module", which is for bundlers: it serves packages that have nothing else.
	for _, target := range [...]anyString{manifest.Main, ".", manifest.Module} {
		if target == "" {
			continue
		}
		if found, ok := within(string(target)); ok {
			return found, true
		}
	}
	return "", false
}

// anyString is a string, or "" for any other JSON value: packages without a main file have "main": false.
type anyString string

// UnmarshalJSON implements json.Unmarshaler.
func (s *anyString) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*s = anyString(text)
	}
	return nil
}

// exported reads the exports of a package's manifest: a path, conditions, subpaths with one "*", or a list of
// alternatives. The first condition of an object that holds counts, as in Node; those of the other way to import count
// where none holds.
func exported(raw json.RawMessage, key string, required bool, depth int) string {
	var target string
	if depth > 8 || json.Unmarshal(raw, &target) == nil {
		if key != "." && key != "" {
			return ""
		}
		return target
	}
	var alternatives []json.RawMessage
	if json.Unmarshal(raw, &alternatives) == nil {
		for _, next := range alternatives {
			if target := exported(next, key, required, depth+1); target != "" {
				return target
			}
		}
		return ""
	}
	var entries map[string]json.RawMessage
	if json.Unmarshal(raw, &entries) != nil {
		return ""
	}
	if next, ok := entries[key]; ok && key != "" {
		return exported(next, "", required, depth+1)
	}
	patterns := slices.Sorted(maps.Keys(entries))
	for i := len(patterns) - 1; i >= 0; i-- { // the longer of two with a common head comes first
		pattern, next := patterns[i], entries[patterns[i]]
		head, tail, ok := strings.Cut(pattern, "*")
		fits := len(key) >= len(head)+len(tail) && strings.HasPrefix(key, head) && strings.HasSuffix(key, tail)
		if ok && key != "" && fits {
			return strings.Replace(exported(next, "", required, depth+1), "*", key[len(head):len(key)-len(tail)], 1)
		}
	}
	if key != "." && key != "" {
		return ""
	}
	holds, other := "import", "require"
	if required {
		holds, other = other, holds
	}
	names := keysInOrder(raw)
	for _, accepted := range [...][]string{{holds, "node", "default"}, {other}} {
		for _, name := range names {
			if !slices.Contains(accepted, name) {
				continue
			}
			if target := exported(entries[name], "", required, depth+1); target != "" {
				return target
			}
		}
	}
	return ""
}

// keysInOrder returns the keys of a JSON object in the order in which they are written.
func keysInOrder(raw json.RawMessage) (keys []string) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		t, err := d.Token()
		key, ok := t.(string)
		var value json.RawMessage
		if err != nil || !ok || d.Decode(&value) != nil {
			return keys
		}
		keys = append(keys, key)
	}
	return keys
}

func (b *bundle) resolve(a api.OnResolveArgs) api.OnResolveResult {
	switch {
	case a.Kind == api.ResolveEntryPoint:
		return api.OnResolveResult{Path: "start", Namespace: ofStart}
	case a.Namespace == ofStart && a.Path == "table":
		return api.OnResolveResult{Path: "table", Namespace: ofStart}
	case a.Namespace == ofStart && a.Path == "script":
		return api.OnResolveResult{Path: b.path, Namespace: ofScript}
	}
	if a.Namespace == ofAhead {
		return api.OnResolveResult{Path: a.Path, External: true}
	}
	importer := a.Importer
	if a.Namespace == ofStart {
		if len(b.keys) > 0 {
			return b.resolveKey(a.Path)
		}
		importer = b.path
	}
	if name, ok := nodemodule.Name(a.Path); ok {
		b.noteImport(a, ofNode, name)
		return api.OnResolveResult{Path: name, Namespace: ofNode}
	}
	if a.Namespace != ofPackage {
		required := a.Kind == api.ResolveJSRequireCall
		found, ok := resolve(b.files, importer, a.Path, required)
		if !ok && required { // the files may hold only the form for import
			found, ok = resolve(b.files, importer, a.Path, false)
		}
		if ok {
			b.noteImport(a, ofFile, found)
			return b.fileOfPackages(found)
		}
	}
	if out, ok := b.resolvePackages(a); ok {
		return out
	}
	message := b.notFound(a.Path, importer)
	if a.Kind == api.ResolveJSImportStatement && len(b.keys) == 0 {
		return api.OnResolveResult{Errors: []api.Message{{Text: message, Detail: notFound{}}}}
	}
	m := missing{message: message, code: "MODULE_NOT_FOUND"}
	if a.Kind == api.ResolveJSDynamicImport {
		m.code = "ERR_MODULE_NOT_FOUND"
	}
	if b.exportsOthers(a.Path) {
		m.code = "ERR_PACKAGE_PATH_NOT_EXPORTED"
	}
	// The two kinds of import of one name are two modules, whose errors differ. esbuild takes a file that ends with .cjs
	// for a CommonJS module, which it is.
	return api.OnResolveResult{Path: a.Path + ".cjs", Namespace: ofMissing, Suffix: "?" + m.code, PluginData: m}
}

// missing is the error of an import that cannot be resolved when the code runs. In packages that are evaluated before
// the code, declarations fail so too: the main module of a package may need what other paths of it do not.
type missing struct{ message, code string }

// notFound marks the message of an import that cannot be resolved.
type notFound struct{}

func (b *bundle) notFound(specifier, importer string) string {
	switch {
	case strings.Contains(specifier, "://") || strings.HasPrefix(specifier, "data:"):
		return fmt.Sprintf("Cannot find module '%s': nothing is fetched at run time; give it in files", specifier)
	case strings.HasPrefix(specifier, ".") || strings.HasPrefix(specifier, "/"):
		return fmt.Sprintf("Cannot find module '%s' imported from %s: it is not among the files", specifier, importer)
	}
	if slices.Contains(b.source.from.Damaged, PackageName(specifier)) {
		return fmt.Sprintf("Cannot find package '%s' imported from %s: it is installed, but its files are damaged; "+
			"the operator finds more with airlock packages verify", specifier, importer)
	}
	if slices.Contains(b.source.from.Withheld, PackageName(specifier)) {
		return fmt.Sprintf("Cannot find package '%s' imported from %s: it is installed, but this policy may not import it",
			specifier, importer)
	}
	manifest := "node_modules/" + PackageName(specifier) + "/package.json"
	if b.files[manifest] != nil || b.source.from.Files[manifest] != nil || b.source.from.Names[PackageName(specifier)] {
		return fmt.Sprintf("Cannot find package '%s' imported from %s: it is installed, but has no such module, "+
			"or does not export it", specifier, importer)
	}
	return fmt.Sprintf("Cannot find package '%s' imported from %s: "+
		"nothing is installed at run time; give its files as node_modules/%s/…", specifier, importer, specifier)
}
