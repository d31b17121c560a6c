package source

import (
	"regexp"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/tdewolff/parse/v2/js"
)

// wrapperHead is the first line of a CommonJS module as esbuild prints it: its name and parameters.
var wrapperHead = regexp.MustCompile(`(?m)^  "(?:` + ofFile + `|` + ofPackage +
	`):[^"]*"\(([\w$]+)?(?:, ([\w$]+))?\) \{$`)

const (
	wrapperCall = "((mod = { exports: {} }).exports, mod)"
	// pathCall passes a module its path and that of its folder, which follow the namespace in its name.
	pathCall = "((mod = { exports: {} }).exports, mod, '/' + __getOwnPropNames(cb)[0].split(':').slice(1).join(':'), " +
		"('/' + __getOwnPropNames(cb)[0].split(':').slice(1).join(':')).split('/').slice(0, -1).join('/') || '/')"
)

// withPaths adds __filename and __dirname to the CommonJS modules of a bundle, if one of them mentions either.
func withPaths(text string) string {
	if !strings.Contains(text, "__dirname") && !strings.Contains(text, "__filename") ||
		strings.Count(text, wrapperCall) != 1 {
		return text
	}
	text = strings.Replace(text, wrapperCall, pathCall, 1)
	return wrapperHead.ReplaceAllStringFunc(text, func(head string) string {
		m := wrapperHead.FindStringSubmatch(head)
		for i, name := range []string{"$airlock_exports", "$airlock_module"} {
			if m[i+1] == "" {
				m[i+1] = name
			}
		}
		return head[:strings.LastIndexByte(head, '(')] + "(" + m[1] + ", " + m[2] + ", __filename, __dirname) {"
	})
}

// withoutOwnRequire blanks the require that an ES module makes with createRequire, so that esbuild resolves what the
// module requires as it resolves imports.
func withoutOwnRequire(text string) string {
	if !strings.Contains(text, "createRequire") {
		return text
	}
	var own []span
	tokens := significant(text)
	for i := range tokens {
		if end, ok := ownRequire(tokens, i); ok {
			own = append(own, span{tokens[i].from, end})
		}
	}
	text, _ = blank(text, own)
	return text
}

// ownRequire returns where a declaration of a require that an ES module makes for itself ends, if one begins a line at
// the token.
func ownRequire(tokens []token, i int) (end int, ok bool) {
	declares := tokens[i].text == "const" || tokens[i].text == "let" || tokens[i].text == "var"
	if !declares || !tokens[i].fresh || !textsAt(tokens, i+1, "require", "=") {
		return 0, false
	}
	i += 3
	if at(tokens, i+1).kind == js.DotToken { // of a namespace
		i += 2
	}
	if !textsAt(tokens, i, "createRequire", "(", "import", ".", "meta", ".") {
		return 0, false
	}
	i += 6
	path, after := at(tokens, i), at(tokens, i+2)
	if path.text != "url" && path.text != "filename" || at(tokens, i+1).kind != js.CloseParenToken {
		return 0, false
	}
	ends := after.kind == js.SemicolonToken || after.kind == js.ErrorToken || after.fresh
	return at(tokens, i+1).to, ends
}

// textsAt reports whether the tokens from an index on have the given texts.
func textsAt(tokens []token, i int, texts ...string) bool {
	for n, text := range texts {
		if at(tokens, i+n).text != text {
			return false
		}
	}
	return true
}

// withResolved replaces the literal arguments of require.resolve by the paths of the files that they name. esbuild
// leaves such calls to run time, which does not know where a module is.
func (b *bundle) withResolved(text string, a api.OnLoadArgs) string {
	if !strings.Contains(text, "require.resolve(") {
		return text
	}
	files := b.files
	if a.Namespace == ofPackage {
		files = b.source.from.Files
	}
	var out strings.Builder
	tokens, done := significant(text), 0
	for i := range tokens {
		member := i > 0 && (tokens[i-1].kind == js.DotToken || tokens[i-1].kind == js.OptChainToken)
		if member || !textsAt(tokens, i, "require", ".", "resolve", "(") {
			continue
		}
		name := at(tokens, i+4)
		if name.kind != js.StringToken || at(tokens, i+5).kind != js.CloseParenToken {
			continue
		}
		if found, ok := resolve(files, a.Path, name.text[1:len(name.text)-1], true); ok {
			out.WriteString(text[done:name.from] + quoted("/"+found))
			done = name.to
		}
	}
	return out.String() + text[done:]
}
