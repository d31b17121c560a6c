package source

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/airlock-run/airlock/sandbox/internal/lazyregexp"
	"github.com/airlock-run/airlock/sandbox/internal/wording"
)

// A wrapping makes esbuild accept code that is not a whole program. head ends its line, so that the caller's columns
// stay as they are. What esbuild prints for the wrapping is cut off again.
type wrapping struct{ head, tail, printedHead, printedTail string }

// lacking is syntax that the engine lacks or gets wrong and that esbuild can replace. The engine's own for await calls
// return even when the iteration has ended by itself. A literal with the flag v becomes a call of RegExp, which the
// library replaces.
var lacking = map[string]bool{"decorators": false, "using": false, "for-await": false, "regexp-set-notation": false}

// wrappings are tried in order. The errors of the first are reported.
var wrappings = [...]wrapping{
	{"async () => {\n", "\n}", "async () => {\n", "};\n"}, // statements with return and await
	{"(\n", "\n)", "", ""},                                // a function without a name, an object
	{"\n", "", "", ""},                                    // what only a whole program may have: namespaces
}

// transpile removes the types of TypeScript code and replaces the syntax that the engine lacks. It keeps the source
// map.
func (s *Source) transpile(code string, loader api.Loader) (string, *Exception) {
	if ex := refuseDeep(code, " for its types to be removed"); ex != nil {
		ex.Line += s.skipped
		return "", ex
	}
	var first *Exception
	order := wrappings[:]
	if strings.HasPrefix(strings.TrimSpace(code), "{") { // an object rather than a block
		order = []wrapping{wrappings[1], wrappings[0]}
	}
	for _, w := range order {
		out := lower(s, w.head, code, w.tail, loader)
		if len(out.Errors) > 0 {
			if first == nil {
				first = syntaxError(code, out.Errors[0])
				first.Line += s.skipped
			}
			continue
		}
		helpers, text, found := strings.Cut("\n"+string(out.Code), "\n"+w.printedHead)
		text, cut := strings.CutSuffix(text, w.printedTail)
		if !found || !cut {
			continue
		}
		text = nameClasses(text, func(class string) bool { return strings.Contains(code, class) })
		// What esbuild put in front, for what the engine lacks, stands on the line of the head.
		s.sourceMap = &sourceMap{text: out.Map, above: strings.Count(helpers+w.printedHead, "\n")}
		s.head += strings.ReplaceAll(helpers, "\n", " ")
		s.skipped-- // the head's line
		return text, nil
	}
	return "", first
}

// lower returns what esbuild prints for code between a head and a tail: it has no types, and no syntax that the engine
// lacks.
func lower(s *Source, head, code, tail string, loader api.Loader) api.TransformResult {
	return api.Transform(head+withoutMaps(code)+tail, api.TransformOptions{
		Loader: loader, Target: api.ESNext, Supported: lacking, Sourcemap: api.SourceMapExternal, Sourcefile: s.name,
		LogLevel: api.LogLevelSilent, TsconfigRaw: s.tsconfig(code),
	})
}

// transpileWhole does the same as transpile to a whole program, whose imports and exports stay. ok is false if esbuild
// refuses it.
func transpileWhole(s *Source, code string, typescript bool) (text string, ok bool) {
	loader := api.LoaderJS
	if typescript {
		loader, s.name = api.LoaderTS, "script.ts"
	}
	if tooDeep(code) {
		return "", false
	}
	out := lower(s, "", code, "", loader)
	if len(out.Errors) > 0 {
		return "", false
	}
	s.sourceMap = &sourceMap{text: out.Map}
	return nameClasses(string(out.Code), func(class string) bool { return strings.Contains(code, class) }), true
}

// topLevelReturn begins esbuild's refusal of a return that code with imports, but without exports, may have here.
const topLevelReturn = "Top-level return"

// Locate corrects the position of a syntax error that the engine found, and the message if the code ends too early:
// the engine reports the start of some line. It changes nothing where esbuild does not agree that there is an error.
// It says so if the code is correct as TypeScript.
func (s *Source) Locate(ex *Exception) {
	if s.sourceMap != nil || tooDeep(s.code) {
		return // esbuild has taken this code already, or must not: it recurses without a bound
	}
	w, code := wrappings[0], s.code
	if s.single != nil && s.single.module {
		w, code = wrappings[2], s.single.whole
	}
	as := func(loader api.Loader) api.TransformResult {
		return api.Transform(w.head+withoutMaps(code)+w.tail,
			api.TransformOptions{Loader: loader, Target: api.ESNext, LogLevel: api.LogLevelSilent})
	}
	errs := as(api.LoaderJS).Errors
	for s.single != nil && !s.Called && len(errs) > 0 && strings.HasPrefix(errs[0].Text, topLevelReturn) {
		errs = errs[1:]
	}
	if len(errs) == 0 || errs[0].Location == nil {
		return
	}
	found := syntaxError(code, errs[0])
	ex.Message = wording.Syntax(ex.Message, errs[0].Text, code, offset(code, found.Line, found.Column),
		found.Message == wording.EndOfInput)
	ex.Line, ex.Column = found.Line+s.skipped, found.Column
	ex.Stack = fmt.Sprintf("    at %s:%d:%d", s.name, ex.Line, ex.Column)
	const declared = "has already been declared" // TypeScript takes an import of the same name for a type
	if !strings.Contains(ex.Message, declared) && len(as(api.LoaderTS).Errors) == 0 {
		ex.Message += "; as TypeScript it is correct: set language to typescript"
	}
}

// forAwait finds what may be a loop that the engine gets wrong.
var forAwait = lazyregexp.New(`\bfor\s+await\b`)

// hasForAwait reports whether code may have a loop that the engine gets wrong.
func hasForAwait(code string) bool {
	return strings.Contains(code, "await") && forAwait.MatchString(code)
}

// hasSetsLiteral reports whether code may have a literal of a regular expression with the flag v: a slash on a line
// with an earlier one, and flags behind it.
func hasSetsLiteral(code string) bool {
	for at := 0; ; {
		i := strings.IndexByte(code[at:], '/')
		if i < 0 {
			return false
		}
		at += i + 1
		flags := code[at : len(code)-len(strings.TrimLeft(code[at:], "dgimsyv"))]
		if !strings.Contains(flags, "v") || at+len(flags) < len(code) && wording.IsName(code[at+len(flags)]) {
			continue
		}
		line := code[strings.LastIndexByte(code[:at-1], '\n')+1 : at-1]
		if strings.Contains(line, "/") {
			return !tooDeep(code)
		}
	}
}

// needsLowering reports whether code that only the engine can parse may have syntax that the engine lacks.
func needsLowering(code string) bool {
	return (strings.Contains(code, "@") || strings.Contains(code, "using ")) && !tooDeep(code)
}

// offset returns the offset of a line and a column, in characters, of code.
func offset(code string, line, column int) int {
	rest := lineOf(code, line)
	for ; column > 1 && rest != ""; column-- {
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
	}
	return len(code) - len(rest)
}

// syntaxError converts an error that esbuild found in code behind the line of a head. An error in the tail means that
// the code ends too early.
func syntaxError(code string, m api.Message) *Exception {
	ex := &Exception{Name: "SyntaxError", Message: m.Text}
	if m.Location == nil {
		return ex
	}
	lines := strings.Split(code, "\n")
	line, column := max(m.Location.Line-1, 1), m.Location.Column
	if line > len(lines) {
		ex.Message, line, column = wording.EndOfInput, len(lines), len(code)
	}
	text := lines[line-1]
	ex.Line, ex.Column = line, utf8.RuneCountInString(text[:min(column, len(text))])+1
	return ex
}

// TypeScript has decorators of two kinds: those of the language, which get a value and a context, and older ones, which
// get a target, a key and a descriptor. A compiler option chooses. Code without options is taken for what it shows.

var (
	// decorates matches a decorator at the beginning of a line or behind a parenthesis or comma.
	decorates = lazyregexp.New(`(?m)(?:^|[(,;{])\s*@[\pL_$]`)
	// older matches the declaration of an older decorator, the import of a library that has them, or a parameter that is
	// decorated.
	older = lazyregexp.New(`\bPropertyDescriptor\b|\bTypedPropertyDescriptor\b|\bpropertyKey\b|` +
		`\(\s*_?target\s*:\s*[\w<>.]+,\s*_?\w+\s*:\s*(?:string|symbol|PropertyKey)\b|` +
		`\(\s*@[\pL_$][\w$.]*(?:\([^()]*\))?\s+[\pL_$][\w$ ]*[:?,)]|` +
		`['"](?:reflect-metadata|class-validator|class-transformer|tsyringe|inversify|typeorm|type-graphql|` +
		`@nestjs/[\w-]+)['"]`)
	// newer matches the name of a type that only decorators of the language get.
	newer = lazyregexp.New(`\b(?:Class\w*|)DecoratorContext\b`)
)

// olderDecorators reports whether TypeScript code uses older decorators.
func olderDecorators(code string) bool {
	return strings.Contains(code, "@") && decorates.MatchString(code) && older.MatchString(code) &&
		!newer.MatchString(code)
}

// tsconfig returns the compiler options for code. A step of a session keeps imports that only later steps use.
func (s *Source) tsconfig(code string) string {
	return options(olderDecorators(code), s.isStep())
}

// tsconfigOf returns the compiler options for the script and its files: what their tsconfig.json says of decorators, or
// what the code shows.
func (b *bundle) tsconfigOf() string {
	var stated struct {
		CompilerOptions struct {
			ExperimentalDecorators *bool `json:"experimentalDecorators"`
		} `json:"compilerOptions"`
	}
	if json.Unmarshal(b.files["tsconfig.json"], &stated) == nil && stated.CompilerOptions.ExperimentalDecorators != nil {
		return options(*stated.CompilerOptions.ExperimentalDecorators, false)
	}
	found := b.typed && olderDecorators(b.code)
	for name, text := range b.files {
		found = found || isTypeScript(name) && olderDecorators(string(text))
	}
	return options(found, false)
}

func options(older, verbatim bool) string {
	set := map[string]bool{}
	if older {
		set["experimentalDecorators"] = true
	}
	if verbatim {
		set["verbatimModuleSyntax"] = true
	}
	text, _ := json.Marshal(map[string]any{"compilerOptions": set}) // it always encodes
	return string(text)
}
