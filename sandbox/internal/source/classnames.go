package source

import (
	"regexp"
	"unicode"
	"unicode/utf8"
)

// renamedClass matches the head of a class as esbuild prints it if it gives the class a name that no other binding has.
var renamedClass = regexp.MustCompile(`(?m)\b(?:var|let|const) (\w+) = class _([\pL_$][\pL\pN_$]*)(?: extends .*)? \{$`)

// nameClasses returns printed, in which the classes that esbuild has renamed have their own names. written reports
// whether the caller's code contains a text.
func nameClasses(printed string, written func(text string) bool) string {
	return renamedClass.ReplaceAllStringFunc(printed, func(head string) string {
		m := renamedClass.FindStringSubmatch(head)
		if m[1] != m[2] && m[1] != "_"+m[2] || written("class _"+m[2]) {
			return head
		}
		return head + ` static { this.name === "_` + m[2] + `" && Object.defineProperty(this, "name", { value: "` + m[2] +
			`", configurable: true }); }`
	})
}

// renamedFunction matches the head of a function declaration that esbuild may have given a number, behind the end of a
// statement or the beginning of a block.
var renamedFunction = regexp.MustCompile(
	`(?m)([;{}]\n|^//.*\n)( *)((?:async )?function\*? )([\pL_$][\pL\pN_$]*?)([2-9]|[1-9]\d+)\(`)

// nameFunctions returns printed, in which functions that esbuild has renamed have their own names: those at the top,
// and constructors, whose names are printed with their objects. Others are declared too often for what it costs.
func nameFunctions(printed string, written func(text string) bool) string {
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
