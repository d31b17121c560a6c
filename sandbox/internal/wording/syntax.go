package wording

import (
	"strings"

	"github.com/airlock-run/airlock/sandbox/internal/lazyregexp"
)

// parsed are messages of the parser that V8 words in one way. The parser runs for eval, Function and the like, whose
// code is not known here.
var parsed = map[string]string{
	"return not in a function":            "Illegal return statement",
	"break must be inside loop or switch": "Illegal break statement",
	"continue must be inside loop": "Illegal continue statement: no surrounding iteration " +
		"statement",
	"unexpected line terminator in regexp":                 "Invalid regular expression: missing /",
	"unexpected end of string":                             invalidToken,
	"unexpected end of comment":                            invalidToken,
	"invalid number literal":                               invalidToken,
	"invalid first character of private name":              invalidToken,
	"unexpected end of regexp":                             "Invalid regular expression: missing /",
	"missing initializer for variable":                     "Missing initializer in const declaration",
	"missing initializer for const variable":               "Missing initializer in const declaration",
	"invalid assignment left-hand side":                    "Invalid left-hand side in assignment",
	"invalid lexical variable name 'let'":                  "let is disallowed as a lexically bound name",
	"expecting catch or finally":                           "Missing catch or finally after try",
	"super() is only valid in a derived class constructor": "'super' keyword unexpected here",
	"property constructor appears more than once":          "A class may only have one constructor",
	"cannot delete a direct reference in strict mode":      "Delete of an unqualified identifier in strict mode.",
	"invalid keyword: with":                                "Strict mode code may not include a with statement",
	"'let' is not a valid lexical identifier":              "let is disallowed as a lexically bound name",
	"duplicate default":                                    "More than one default clause in switch statement",
	"line terminator not allowed after throw":              "Illegal newline after throw",
	"lexical declarations can't appear in single-statement context": "Lexical declaration cannot appear in a " +
		"single-statement context",
	"unparenthesized unary expression can't appear on the left-hand side of '**'": "Unary operator used immediately " +
		"before exponentiation expression. Parenthesis must be used to disambiguate operator precedence",
	"function name expected":                "Function statements require a function name",
	"class statement requires a name":       "Unexpected token '{'",
	"'super' is only valid in a method":     "'super' keyword unexpected here",
	"import.meta only valid in module code": "Cannot use 'import.meta' outside a module",
	"unsupported keyword: enum":             "Unexpected reserved word",
	"a declaration in the head of a for-of loop can't have an initializer": "for-of loop variable declaration may not " +
		"have an initializer.",
	"a declaration in the head of a for-in loop can't have an initializer": "for-in loop variable declaration may not " +
		"have an initializer.",
	`"use strict" not allowed in function with default or destructuring parameter`: "Illegal 'use strict' directive in " +
		"function with non-simple parameter list",
	"invalid destructuring target":                  "Invalid destructuring assignment target",
	"invalid lvalue in strict mode":                 "Unexpected eval or arguments in strict mode",
	"unexpected character":                          invalidToken,
	"new.target only allowed within functions":      "new.target expression is not allowed here",
	"duplicate __proto__ property name":             "Duplicate __proto__ fields are not allowed in object literals",
	"expected '}' after template expression":        "Missing } in template expression",
	"unsupported keyword: export":                   "Unexpected token 'export'",
	"invalid regular expression flags":              "Invalid regular expression flags",
	"Octal literals are not allowed in strict mode": "Octal literals are not allowed in strict mode.",
}

const invalidToken = "Invalid or unexpected token"

var unexpected = lazyregexp.New(`^unexpected token in expression: '((?s).*)'$`)

// ofParser returns V8's message for one of the parser.
func ofParser(message string) (string, bool) {
	if out, ok := parsed[message]; ok {
		return out, true
	}
	m := unexpected.FindStringSubmatch(message)
	switch {
	case m == nil:
		return "", false
	case m[1] == "":
		return EndOfInput, true
	case m[1] == "@" || m[1] == "#" || m[1] == `\`:
		return invalidToken, true
	}
	return "Unexpected token '" + m[1] + "'", true
}

// Evaluated returns the code that eval or the constructor of functions was given, and the constructor's parameters, if
// the text around the place shows them.
func Evaluated(p Place) (code string, ok bool) {
	t := thrown{native: p.Native, code: p.Code, at: p.At, prior: p.Prior}
	if p.Native != "Function" {
		code = t.value(0)
		return code, code != "" && (p.Native == "eval" || p.Native == "")
	}
	var given []string
	for n := 0; ; n++ {
		text := t.value(n)
		if text == "" {
			return "", false
		}
		if text == "undefined" {
			break
		}
		given = append(given, text)
	}
	if len(given) == 0 {
		return "", false
	}
	last := len(given) - 1
	return "(function anonymous(" + strings.Join(given[:last], ",") + "\n) {\n" + given[last] + "\n})", true
}

const (
	// EndOfInput is V8's message for code that ends too early.
	EndOfInput = "Unexpected end of input"
	// Misplaced is V8's message for an await in a function that is not async, and in a script.
	Misplaced = "await is only valid in async functions and the top level bodies of modules"
)

var (
	redeclared = lazyregexp.New(`^The symbol "(.*)" has already been declared$`)
	twice      = lazyregexp.New(`^Duplicate label "(.*)"$`)
	labelled   = lazyregexp.New(`^There is no containing label named "(.*)"$`)
	ofClass    = lazyregexp.New(`^Private name "(.*)" must be declared in an enclosing class$`)
	unlike     = lazyregexp.New(`^Expected (.*) but found |^Unexpected `)
	terse      = lazyregexp.New(`^expecting |^variable name expected$|^invalid switch statement$|` +
		`^invalid property name$|^missing formal parameter$`)
	firstWord = lazyregexp.New(`^[\pL_$][\pL\pN_$]*`)
	callee    = lazyregexp.New(`([\pL\pN_$]+|[)\]])\s*$`)
	formal    = lazyregexp.New(`\bfunction\s*\*?\s*[\pL\pN_$]*\s*$`)
	control   = lazyregexp.New(`^(?:if|for|while|switch|catch|with|await|of|in|return|typeof|case|do|else)$`)
	keywords  = lazyregexp.New(`^(?:break|case|catch|class|const|continue|debugger|default|delete|do|else|export|` +
		`extends|false|finally|for|function|if|import|in|instanceof|new|null|return|super|switch|this|throw|true|try|` +
		`typeof|var|void|while|with)$`)
)

// Syntax returns V8's message for a syntax error. engine and parser are what the engine and esbuild say of it: the
// engine does not name the token at fault, and esbuild knows that it is at an offset of code. ended reports that code
// ends too early.
func Syntax(engine, parser, code string, at int, ended bool) string {
	if m := redeclared.FindStringSubmatch(parser); m != nil {
		return "Identifier '" + m[1] + "' has already been declared"
	}
	if m := labelled.FindStringSubmatch(parser); m != nil {
		return "Undefined label '" + m[1] + "'"
	}
	if m := twice.FindStringSubmatch(parser); m != nil {
		return "Label '" + m[1] + "' has already been declared"
	}
	if m := ofClass.FindStringSubmatch(parser); m != nil {
		return "Private field '" + m[1] + "' must be declared in an enclosing class"
	}
	if strings.HasPrefix(parser, `"await" can only be used inside`) {
		return Misplaced
	}
	m := unlike.FindStringSubmatch(parser)
	rest := code[at:]
	if m != nil && m[1] == `")"` {
		if missing := unclosed(code[:at]); missing != "" {
			return missing
		}
	}
	known, _ := ofParser(engine)
	switch {
	case known != "" && engine != "function name expected":
		return known
	case ended:
		return EndOfInput
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
