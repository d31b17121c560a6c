package source

import (
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// contexts marks in the names of a bundle that a source may observe asynchronous contexts.
const contexts = "contexts of async_hooks"

func (b *bundle) load(a api.OnLoadArgs) api.OnLoadResult {
	text, loader := "", api.LoaderJS
	switch a.Namespace {
	case ofStart:
		text = b.start(a.Path)
	case ofScript:
		text, loader = b.code, b.loader
	case ofNode:
		text = "module.exports = globalThis.require(" + quoted("node:"+a.Path) + ")"
	case ofAhead:
		text = "module.exports = require(" + quoted(b.mark+a.Path) + ")"
	case ofMissing:
		m, _ := a.PluginData.(missing)
		text = "module.exports = (() => { throw Object.assign(new Error(" + quoted(m.message) +
			"), {code: " + quoted(m.code) + "}) })()"
	case ofPackage:
		text, loader = string(b.source.from.Files[a.Path]), loaderOf(a.Path)
	default:
		text, loader = string(b.files[a.Path]), loaderOf(a.Path)
	}
	switch loader {
	case api.LoaderBinary:
		text, loader = bytesModule(text), api.LoaderJS
	case api.LoaderText, api.LoaderJSON:
	default:
		most := maxModuleBytes
		if a.Namespace == ofPackage || len(b.keys) > 0 {
			most = maxPackageFile
		}
		if refusal := unfit(text, most); refusal != "" {
			return api.OnLoadResult{Errors: []api.Message{{Text: a.Path + " " + refusal}}}
		}
		b.note(text)
		if a.Namespace != ofPackage && strings.Contains(text, asyncHooks) {
			b.add(&b.names, asyncHooks)
		}
		if a.Namespace != ofPackage && hasContexts(text) {
			b.add(&b.names, contexts)
		}
		text = joinLabels(withoutGlobs(withoutMaps(text)))
		if a.Namespace == ofFile || a.Namespace == ofPackage || a.Namespace == ofScript {
			files := b.files
			if a.Namespace == ofPackage {
				files = b.source.from.Files
			}
			b.noteResolved(text, a.Path, files)
			b.noteNames(text, a.Namespace, a.Path)
			text = withFactories(withoutOwnRequire(text, a.Path, files), a.Path, files)
			text = withResolved(text, a.Path, files)
		}
	}
	if loader == api.LoaderJSON && tooDeep(text) {
		return api.OnLoadResult{Errors: []api.Message{{Text: a.Path + " is nested too deeply"}}}
	}
	return api.OnLoadResult{Contents: &text, Loader: loader, ResolveDir: nowhere(text)}
}

const (
	// maxModuleBytes bounds one source file of a bundle.
	maxModuleBytes = 4 << 20
	// maxPackageFile bounds one of a package of the deployment, which an operator has added.
	maxPackageFile = 8 << 20
)

func unfit(text string, most int) string {
	switch {
	case len(text) > most:
		return fmt.Sprintf("has %d bytes; a module has at most %d", len(text), most)
	case tooDeep(text):
		return "is nested too deeply to be a module"
	case strings.IndexByte(text, 0) >= 0:
		return "contains a NUL byte"
	}
	return ""
}

// nowhere returns a folder that does not exist, so deep that nothing in text leads out of it. esbuild looks in the
// folder of a module, on the disk, for what import("./" + x) could mean. withoutGlobs leaves no such import that the
// lexer recognizes.
func nowhere(text string) string {
	return "/airlock" + strings.Repeat("/x", len(text)/3+1)
}

func bytesModule(text string) string {
	out := make([]byte, 0, 4*len(text)+64)
	out = append(out, "export default new Uint8Array(["...)
	for i := range len(text) {
		out = append(strconv.AppendInt(out, int64(text[i]), 10), ',')
	}
	return string(append(out, "]);"...))
}

func loaderOf(name string) api.Loader {
	switch path.Ext(name) {
	case ".js", ".mjs", ".cjs":
		return api.LoaderJS
	case ".ts", ".mts", ".cts":
		return api.LoaderTS
	case ".tsx":
		return api.LoaderTSX
	case ".jsx":
		return api.LoaderJSX
	case ".json":
		return api.LoaderJSON
	case ".txt", ".md", ".csv", ".html", ".css", ".svg", ".xml", ".yaml", ".yml", ".toml", ".sql":
		return api.LoaderText
	}
	return api.LoaderBinary
}

// noMaps writes the space of what would be a source map's comment as an escape.
var noMaps = strings.NewReplacer(
	"//# sourceMappingURL=", `//#\x20sourceMappingURL=`, "//@ sourceMappingURL=", `//@\x20sourceMappingURL=`,
	"/*# sourceMappingURL=", `/*#\x20sourceMappingURL=`, "/*@ sourceMappingURL=", `/*@\x20sourceMappingURL=`,
)

// withoutMaps returns code whose comments name no source map: esbuild would read the map, even from the disk, and move
// the positions of errors by it. It changes the text wherever it occurs, so it misses no comment that only esbuild
// recognizes; a string keeps its value.
func withoutMaps(code string) string {
	if !strings.Contains(code, "sourceMappingURL=") {
		return code
	}
	return noMaps.Replace(code)
}

// quoted writes text as a JavaScript string. Go's own quotes differ: \a and \U0001f600 are letters in JavaScript.
func quoted(text string) string {
	b, _ := json.Marshal(text) // a string always encodes
	return string(b)
}
