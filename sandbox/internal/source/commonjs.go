package source

import (
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2/js"

	"github.com/airlock-run/airlock/sandbox/internal/lazyregexp"
)

// wrapperHead is the first line of a CommonJS module as esbuild prints it: its name and parameters.
var wrapperHead = lazyregexp.New(`(?m)^  "(?:` + ofFile + `|` + ofPackage + `|` + ofScript +
	`):[^"]*"\(([\w$]+)?(?:, ([\w$]+))?\) \{$`)

const (
	wrapperCall = "((mod = { exports: {} }).exports, mod)"
	// ownCall passes a module its path and that of its folder, which follow the namespace in its name. The object module
	// has what Node's has; that of the script is the main module.
	ownCall   = "((mod = $airlock_module(__getOwnPropNames(cb)[0])).exports, mod, mod.filename, mod.path)"
	isMain    = "name.startsWith('" + ofScript + ":')"
	ownModule = "var $airlock_module = (name) => { const filename = '/' + name.split(':').slice(1).join(':'); " +
		"const main = " + isMain + ", mod = { id: main ? '.' : filename, " +
		"path: filename.split('/').slice(0, -1).join('/') || '/', exports: {}, filename, loaded: false, children: [], " +
		"paths: [], parent: main ? null : require.main ?? {} }; if (main) require.main = mod; return mod; }; "
)

// withPaths adds __filename and __dirname to the CommonJS modules of a bundle, and the fields of module, if one of them
// mentions any.
func withPaths(text string) string {
	mentions := func(name string) bool { return strings.Contains(text, name) }
	if !slices.ContainsFunc([]string{"__dirname", "__filename", "__require.main", "module.parent", "module.id",
		"module.filename", "module.children", "module.paths"}, mentions) || strings.Count(text, wrapperCall) != 1 {
		return text
	}
	text = strings.Replace(text, wrapperCall, ownCall, 1)
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

// withoutOwnRequire lets esbuild resolve what an ES module requires with createRequire as it resolves imports. It
// blanks the declaration of a require. A function of another name gets a table of what the module requires with it.
func withoutOwnRequire(text, name string, files map[string][]byte) string {
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
	tokens = significant(text)
	var out strings.Builder
	done := 0
	for i := range tokens {
		first, end := i, createdRequire(tokens, i)
		if end == 0 || tokens[i].from < done {
			continue
		}
		if first >= 2 && tokens[first-1].kind == js.DotToken { // of a namespace
			first -= 2
		}
		out.WriteString(text[done:tokens[first].from])
		done = tokens[end-1].to
		switch {
		case at(tokens, end).kind == js.OpenParenToken:
			out.WriteString("require")
		case first >= 2 && tokens[first-1].kind == js.EqToken:
			out.WriteString(requireTable(tokens, tokens[first-2].text, name, files))
		default:
			out.WriteString(requireTable(nil, "", name, files))
		}
	}
	return out.String() + text[done:]
}

// createdRequire returns the index behind a call of createRequire for the module itself that begins at a token, or 0.
func createdRequire(tokens []token, i int) int {
	for _, of := range [...][]string{{"import", ".", "meta", ".", "url"}, {"import", ".", "meta", ".", "filename"},
		{"__filename"}} {
		call := append(append([]string{"createRequire", "("}, of...), ")")
		if textsAt(tokens, i, call...) {
			return i + len(call)
		}
	}
	return 0
}

// factoryCall finds what may be the call of a UMD module's factory.
var factoryCall = lazyregexp.New(`[\w$]\s*\(\s*require\s*,\s*exports\s*[,)]`)

// withFactories returns the text of a module whose UMD factory, which is called as factory(require, exports), is passed
// a require that knows what the module requires: esbuild resolves no calls of a parameter. Calls of require and the
// dependencies of define spell out what the module requires.
func withFactories(text, name string, files map[string][]byte) string {
	if !factoryCall.MatchString(text) {
		return text
	}
	tokens := significant(text)
	var out strings.Builder
	done := 0
	for i := range tokens {
		called := at(tokens, i).kind == js.IdentifierToken && textsAt(tokens, i+1, "(", "require", ",", "exports")
		if end := at(tokens, i+5); !called || end.kind != js.CloseParenToken && end.kind != js.CommaToken {
			continue
		}
		if i > 0 && tokens[i-1].text == "function" {
			continue
		}
		calls := append(dependencies(tokens), tokens...)
		out.WriteString(text[done:tokens[i+2].from] + requireTable(calls, "require", name, files))
		done = tokens[i+2].to
	}
	return out.String() + text[done:]
}

// dependencies returns calls of require for what the first define(["require", "exports", …]) lists.
func dependencies(tokens []token) (calls []token) {
	for i := range tokens {
		if !textsAt(tokens, i, "define", "(", "[") || at(tokens, i+3).kind != js.StringToken {
			continue
		}
		for i += 3; at(tokens, i).kind == js.StringToken; i += 2 {
			if text := tokens[i].text; !slices.Contains([]string{"require", "exports", "module"}, text[1:len(text)-1]) {
				calls = append(calls, token{text: "require"}, token{text: "("}, tokens[i], token{kind: js.CloseParenToken})
			}
		}
		return calls
	}
	return nil
}

// requireTable returns a function that requires what calls of called spell out as esbuild resolves it, and other names
// as the code runs.
func requireTable(tokens []token, called, name string, files map[string][]byte) string {
	var table, paths strings.Builder
	for i := range tokens {
		resolved := textsAt(tokens, i, called, ".", "resolve", "(")
		if resolved {
			i += 2
		} else if !textsAt(tokens, i, called, "(") {
			continue
		}
		literal := at(tokens, i+2)
		if literal.kind != js.StringToken || at(tokens, i+3).kind != js.CloseParenToken {
			continue
		}
		if !resolved {
			table.WriteString(", " + literal.text + ": () => require(" + literal.text + ")")
		} else if found, ok := resolve(files, name, literal.text[1:len(literal.text)-1], true); ok {
			paths.WriteString(", " + literal.text + ": " + quoted("/"+found))
		}
	}
	return "((all, paths, other) => Object.assign((name) => all[name] ? all[name]() : other(name), " +
		"{ resolve: (name) => paths[name] ?? other.resolve(name), cache: other.cache, main: undefined }))" +
		"({ __proto__: null" + table.String() + " }, { __proto__: null" + paths.String() + " }, require)"
}

// ownRequire returns where a declaration of a require that an ES module makes for itself ends, if one begins a
// statement at the token.
func ownRequire(tokens []token, i int) (end int, ok bool) {
	declares := tokens[i].text == "const" || tokens[i].text == "let" || tokens[i].text == "var"
	begins := i == 0 || tokens[i].fresh || tokens[i-1].kind == js.SemicolonToken ||
		tokens[i-1].kind == js.OpenBraceToken || tokens[i-1].kind == js.CloseBraceToken
	if !declares || !begins || !textsAt(tokens, i+1, "require", "=") {
		return 0, false
	}
	i += 3
	asked := false // whether there is a createRequire
	if to := ofNamespace(tokens, i); at(tokens, to+1).kind == js.QuestionToken {
		i, asked = to+2, true
	}
	behind := createdRequire(tokens, ofNamespace(tokens, i))
	if behind == 0 {
		return 0, false
	}
	if asked {
		if at(tokens, behind).kind != js.ColonToken {
			return 0, false
		}
		switch behind += 2; at(tokens, behind-1).text {
		case "undefined", "null", "require":
		default:
			return 0, false
		}
	}
	after := at(tokens, behind)
	ends := after.kind == js.SemicolonToken || after.kind == js.ErrorToken || after.fresh
	return tokens[behind-1].to, ends
}

// ofNamespace returns the index of a name, which may be that of a namespace's member whose namespace is at i.
func ofNamespace(tokens []token, i int) int {
	if at(tokens, i+1).kind == js.DotToken {
		return i + 2
	}
	return i
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
func withResolved(text, importer string, files map[string][]byte) string {
	if !strings.Contains(text, "require.resolve(") {
		return text
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
		if found, ok := resolve(files, importer, name.text[1:len(name.text)-1], true); ok {
			out.WriteString(text[done:name.from] + quoted("/"+found))
			done = name.to
		}
	}
	return out.String() + text[done:]
}
