package source

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/go-sourcemap/sourcemap"

	"github.com/airlock-run/airlock/sandbox/internal/lazyregexp"
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
		out := api.Transform(w.head+withoutMaps(code)+w.tail, api.TransformOptions{
			Loader: loader, Target: api.ESNext, Supported: lacking, Sourcemap: api.SourceMapExternal, Sourcefile: s.name,
			LogLevel: api.LogLevelSilent, TsconfigRaw: s.tsconfig(code),
		})
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
		consumer, err := sourcemap.Parse("", out.Map)
		if err != nil {
			return "", &Exception{Name: "SyntaxError", Message: fmt.Sprintf("source map of the removed types: %v", err)}
		}
		// What esbuild put in front, for what the engine lacks, stands on the line of the head.
		s.sourceMap, s.printedLines = consumer, strings.Count(helpers+w.printedHead, "\n")
		s.head += strings.ReplaceAll(helpers, "\n", " ")
		s.skipped-- // the head's line
		return text, nil
	}
	return "", first
}

// Locate corrects the position of a syntax error that the engine found, and the message if the code ends too early:
// the engine reports the start of some line. It changes nothing where esbuild does not agree that there is an error.
// It says so if the code is correct as TypeScript.
func (s *Source) Locate(ex *Exception) {
	if s.sourceMap != nil || tooDeep(s.code) {
		return // esbuild has taken this code already, or must not: it recurses without a bound
	}
	w := wrappings[0]
	as := func(loader api.Loader) api.TransformResult {
		return api.Transform(w.head+s.code+w.tail,
			api.TransformOptions{Loader: loader, Target: api.ESNext, LogLevel: api.LogLevelSilent})
	}
	out := as(api.LoaderJS)
	if len(out.Errors) == 0 || out.Errors[0].Location == nil {
		return
	}
	found := syntaxError(s.code, out.Errors[0])
	ex.Message = parserWords(ex.Message, out.Errors[0].Text, s.code, found)
	ex.Line, ex.Column = found.Line+s.skipped, found.Column
	ex.Stack = fmt.Sprintf("    at %s:%d:%d", s.name, ex.Line, ex.Column)
	if len(as(api.LoaderTS).Errors) == 0 {
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
		if !strings.Contains(flags, "v") || at+len(flags) < len(code) && isName(code[at+len(flags)]) {
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

const endOfInput = "Unexpected end of input"

var (
	redeclared = lazyregexp.New(`^The symbol "(.*)" has already been declared$`)
	labelled   = lazyregexp.New(`^There is no containing label named "(.*)"$`)
	ofClass    = lazyregexp.New(`^Private name "(.*)" must be declared in an enclosing class$`)
	unlike     = lazyregexp.New(`^Expected (.*) but found |^Unexpected `)
	terse      = lazyregexp.New(`^expecting |^variable name expected$|^invalid switch statement$`)
	firstWord  = lazyregexp.New(`^[\pL_$][\pL\pN_$]*`)
	callee     = lazyregexp.New(`([\pL\pN_$]+|[)\]])\s*$`)
	formal     = lazyregexp.New(`\bfunction\s*\*?\s*[\pL\pN_$]*\s*$`)
	control    = lazyregexp.New(`^(?:if|for|while|switch|catch|with|await|of|in|return|typeof|case|do|else)$`)
	keywords   = lazyregexp.New(`^(?:break|case|catch|class|const|continue|debugger|default|delete|do|else|export|` +
		`extends|false|finally|for|function|if|import|in|instanceof|new|null|return|super|switch|this|throw|true|try|` +
		`typeof|var|void|while|with)$`)
)

// parserWords returns V8's message for a syntax error that the engine and esbuild found. The engine does not name the
// token at fault, and esbuild knows where it is.
func parserWords(engine, text, code string, found *Exception) string {
	if m := redeclared.FindStringSubmatch(text); m != nil {
		return "Identifier '" + m[1] + "' has already been declared"
	}
	if m := labelled.FindStringSubmatch(text); m != nil {
		return "Undefined label '" + m[1] + "'"
	}
	if m := ofClass.FindStringSubmatch(text); m != nil {
		return "Private field '" + m[1] + "' must be declared in an enclosing class"
	}
	if strings.HasPrefix(text, `"await" can only be used inside`) {
		return "await is only valid in async functions and the top level bodies of modules"
	}
	m := unlike.FindStringSubmatch(text)
	rest := lineOf(code, found.Line)
	for n := found.Column; n > 1 && rest != ""; n-- {
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
	}
	if m != nil && m[1] == `")"` {
		if missing := unclosed(code[:len(code)-len(rest)]); missing != "" {
			return missing
		}
	}
	switch {
	case found.Message == endOfInput:
		return endOfInput
	case m == nil || !terse.MatchString(engine) || rest == "":
		return engine
	}
	word := firstWord.FindString(rest)
	switch c := rest[0]; {
	case keywords.MatchString(word):
		return "Unexpected token '" + word + "'"
	case word == "enum":
		return "Unexpected reserved word"
	case word != "":
		return "Unexpected identifier '" + word + "'"
	case c >= '0' && c <= '9':
		return "Unexpected number"
	case c == '"' || c == '\'':
		return "Unexpected string"
	case c == '@' || c == '#' || c == '\\':
		return invalidToken
	case c == '`':
		return "Unexpected template string"
	}
	for _, token := range []string{"...", "=>", "===", "!==", "==", "!=", "&&", "||", "??", "++", "--"} {
		if strings.HasPrefix(rest, token) {
			return "Unexpected token '" + token + "'"
		}
	}
	return "Unexpected token '" + rest[:1] + "'"
}

// unclosed returns V8's message if the last parenthesis that code leaves open is one of arguments.
func unclosed(code string) string {
	depth, at := 0, len(code)-1
	for ; at >= 0; at-- {
		switch code[at] {
		case ')', ']', '}':
			depth++
			continue
		case '(', '[', '{':
			depth--
		}
		if depth < 0 {
			break
		}
	}
	if at < 0 || code[at] != '(' {
		return ""
	}
	head := code[max(at-maxExpression, 0):at]
	m := callee.FindStringSubmatch(head)
	if m == nil || control.MatchString(m[1]) || formal.MatchString(head) {
		return ""
	}
	return "missing ) after argument list"
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
		ex.Message, line, column = endOfInput, len(lines), len(code)
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
