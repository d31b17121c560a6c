package declarations

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A Package is what an npm package exports, as it was found when it was added. Each export is a name, or a name and the
// names of parameters, such as "chunk(a, b)". An empty name stands for a call of the export itself.
type Package struct {
	Name    string
	Exports []string
	// Default are the members of the default export.
	Default []string
}

// maxPackages bounds the declarations of all packages.
const maxPackages = 1 << 20

// exported matches an export. Code of a package may have chosen the text.
var exported = regexp.MustCompile(`^([A-Za-z_$][\w$]*)?(\(([\w$, ]*)\))?$`)

// Packages returns declarations of modules with the names that packages export. Types are any: the declarations that
// packages ship are for compilers, which find them in node_modules.
func Packages(all []Package) string {
	var out strings.Builder
	for _, p := range all {
		text := module(p)
		if out.Len()+len(text) > maxPackages {
			fmt.Fprintf(&out, "// There are more packages; their declarations are left out beyond %d bytes.\n", maxPackages)
			break
		}
		out.WriteString(text)
	}
	return out.String()
}

func module(p Package) string {
	var out strings.Builder
	fmt.Fprintf(&out, "declare module %q {\n", p.Name)
	if len(p.Default) > 0 {
		out.WriteString("  const $default: {\n")
		for _, text := range p.Default {
			if name, params, ok := parse(text); ok {
				fmt.Fprintf(&out, "    %s%s: any;\n", name, params)
			}
		}
		out.WriteString("  };\n  export default $default;\n")
	}
	renamed := 0
	for _, text := range p.Exports {
		name, params, ok := parse(text)
		switch {
		case !ok || name == "" || name == "default":
		case slices.Contains(reserved, name):
			renamed++
			fmt.Fprintf(&out, "  const $%d: any; export { $%d as %s };\n", renamed, renamed, name)
		case params == "":
			fmt.Fprintf(&out, "  export const %s: any;\n", name)
		default:
			fmt.Fprintf(&out, "  export function %s%s: any;\n", name, params)
		}
	}
	out.WriteString("}\n")
	return out.String()
}

// parse returns the name of an export and its optional parameters in parentheses, as TypeScript declares them.
func parse(text string) (name, params string, ok bool) {
	m := exported.FindStringSubmatch(text)
	if m == nil || text == "" {
		return "", "", false
	}
	if m[2] == "" {
		return m[1], "", true
	}
	var list []string
	for given := range strings.SplitSeq(m[3], ",") {
		given = strings.TrimSpace(given)
		if given == "" || slices.Contains(reserved, given) || slices.Contains(list, given+"?: any") ||
			given[0] >= '0' && given[0] <= '9' {
			continue
		}
		list = append(list, given+"?: any")
	}
	return m[1], "(" + strings.Join(append(list, "...more: any[]"), ", ") + ")", true
}

// reserved are the words that no variable can have as its name.
var reserved = strings.Fields("arguments await break case catch class const continue debugger default delete do else " +
	"enum eval export extends false finally for function if implements import in instanceof interface let more new null " +
	"package private protected public return static super switch this throw true try typeof undefined var void while " +
	"with yield")
