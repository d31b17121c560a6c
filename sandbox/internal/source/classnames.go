package source

import "regexp"

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
