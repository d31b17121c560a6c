package source

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/airlock-run/airlock/sandbox/internal/lazyregexp"
)

// renamedClass matches the head of a class as esbuild prints it if it gives the class a name that no other binding has.
var renamedClass = lazyregexp.New(`(?m)\b(?:var|let|const) (\w+) = class _([\pL_$][\pL\pN_$]*)(?: extends .*)? \{$`)

// nameClasses returns printed, in which the classes that esbuild has renamed have their own names. written reports
// whether a name is the caller's own.
func nameClasses(printed string, written func(name string) bool) string {
	return renamedClass.ReplaceAllStringFunc(printed, func(head string) string {
		m := renamedClass.FindStringSubmatch(head)
		number, same := strings.CutPrefix(m[1], m[2]) // the variable may have a number, too
		same = same && strings.Trim(number, "0123456789") == ""
		if !same && m[1] != "_"+m[2] || written("_"+m[2]) {
			return head
		}
		return head + ` static { this.name === "_` + m[2] + `" && Object.defineProperty(this, "name", { value: "` + m[2] +
			`", configurable: true }); }`
	})
}

// renamedFunction matches the head of a function declaration that esbuild may have given a number, behind the end of a
// statement or the beginning of a block.
var renamedFunction = lazyregexp.New(
	`(?m)([;{}]\n|^//.*\n)( *)((?:async )?function\*? )([\pL_$][\pL\pN_$]*?)([2-9]|[1-9]\d+)\(`)

// nameFunctions returns printed, in which functions that esbuild has renamed have their own names: those at the top,
// and constructors, whose names are printed with their objects. For others, which are declared again and again, it
// would cost too much.
func nameFunctions(printed string, written func(name string) bool) string {
	return renamedFunction.ReplaceAllStringFunc(printed, func(head string) string {
		m := renamedFunction.FindStringSubmatch(head)
		before, indent, keywords, name, number := m[1], m[2], m[3], m[4], m[5]
		if first, _ := utf8.DecodeRuneInString(name); indent != "" && !unicode.IsUpper(first) || written(name+number) {
			return head
		}
		return before + indent + "Object.defineProperty(" + name + number + `, "name", { value: "` + name +
			`", configurable: true }); ` + keywords + name + number + "("
	})
}

// renamedValue matches a top-level variable that esbuild has given a number and whose value is a function or a class
// without a name of its own: the whole line, which ends with the statement or begins a body. renamedDeclaration matches
// the head of such a class declaration.
var (
	renamedValue = lazyregexp.New(`(?m)^((?:var|let|const) ([\pL_$][\pL\pN_$]*?)([2-9]|[1-9]\d+) = )` +
		`((?:async )?(?:function\*? ?\(|\([^()\n]*\) =>|[\pL_$][\pL\pN_$]* =>)` + "[^\n`]*[{;]|" +
		`class(?: extends [^\n]*)? \{)$`)
	renamedDeclaration = lazyregexp.New(
		`(?m)^( *class ([\pL_$][\pL\pN_$]*?)([2-9]|[1-9]\d+)(?: extends [^\n]*)? \{)$`)
)

// renamedExpression matches the line of an assignment whose value is a function with a name of its own, to which
// esbuild has given a number.
var renamedExpression = lazyregexp.New(`(?m)^( *(?:(?:var|let|const) )?[\pL_$][\pL\pN_$.]* = )` +
	"((?:async )?function\\*? ([\\pL_$][\\pL\\pN_$]*?)([2-9]|[1-9]\\d+)\\([^\n`]*[{;])$")

// topIndent is the most that the top of a module is indented: that of a CommonJS module is in a function.
const topIndent = 4

// nameExpressions returns printed, in which the values of such assignments have their own names: those at the top, and
// constructors, as in nameFunctions.
func nameExpressions(printed string, written func(name string) bool) string {
	return renamedExpression.ReplaceAllStringFunc(printed, func(line string) string {
		m := renamedExpression.FindStringSubmatch(line)
		head, value, name, number := m[1], m[2], m[3], m[4]
		deep := len(head)-len(strings.TrimLeft(head, " ")) > topIndent
		if first, _ := utf8.DecodeRuneInString(name); deep && !unicode.IsUpper(first) || written(name+number) {
			return line
		}
		for i := 1; i < len(number); i++ { // the name may end with a digit itself
			if written(name + number[:len(number)-i]) {
				name += number[:len(number)-i]
				break
			}
		}
		return head + "({ set f(f) { Object.defineProperty(f, \"name\", { value: \"" + name +
			`", configurable: true }); } }).f = ` + value
	})
}

// nameValues returns printed, in which the values of variables that esbuild has renamed, and classes, have their own
// names. What it inserts is behind a line of code or in front of a body on lines of its own, so no position changes.
func nameValues(printed string, written func(name string) bool) string {
	printed = renamedDeclaration.ReplaceAllStringFunc(printed, func(head string) string {
		m := renamedDeclaration.FindStringSubmatch(head)
		if written(m[2] + m[3]) {
			return head
		}
		return head + ` static { this.name === "` + m[2] + m[3] + `" && Object.defineProperty(this, "name", { value: "` +
			m[2] + `", configurable: true }); }`
	})
	return renamedValue.ReplaceAllStringFunc(printed, func(line string) string {
		m := renamedValue.FindStringSubmatch(line)
		head, name, number, value := m[1], m[2], m[3], m[4]
		named := func(f, now string) string {
			return "typeof " + f + ` === "function" && ` + f + `.name === "` + now + `" && Object.defineProperty(` + f +
				`, "name", { value: "` + name + `", configurable: true });`
		}
		switch {
		case written(name + number):
			return line
		case value[len(value)-1] == ';':
			return line + " " + named(name+number, name+number)
		}
		return head + "({ set " + name + "(f) { " + named("f", "") + " } })." + name + " = " + value
	})
}
