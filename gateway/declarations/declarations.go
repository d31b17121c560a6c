package declarations

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy/toolname"
)

//go:embed guest.d.ts
var globals string

// Globals returns the declarations of what every execution has. It leaves out what the declarations of the web and of
// Node say, which editors have.
func Globals() string { return globals }

// For returns the declarations of the globals and of the given tools, grouped by namespace in the order of first
// occurrence.
func For(tools []execution.Tool) string {
	var out strings.Builder
	out.WriteString(globals)
	if text := Tools(tools); text != "" {
		out.WriteString("\n" + text)
	}
	return out.String()
}

// Tools returns the declarations of the given tools alone, and "" for none.
func Tools(tools []execution.Tool) string {
	var order []string
	methods := map[string][]string{}
	for _, t := range tools {
		namespace, method := execution.ToolGlobal(t.Name)
		if methods[namespace] == nil {
			order = append(order, namespace)
		}
		methods[namespace] = append(methods[namespace], declare(t, method))
	}
	var out strings.Builder
	for i, namespace := range order {
		if i > 0 {
			out.WriteString("\n")
		}
		fmt.Fprintf(&out, "declare const %s: {\n%s};\n", namespace, strings.Join(methods[namespace], ""))
	}
	return string(toolname.PlainJSON([]byte(out.String()))) // names and constants in quotes
}

func declare(t execution.Tool, method string) string {
	params := typeOf(t.InputSchema, "  ")
	optional := ""
	if params == unknown || optionalObject(t.InputSchema) {
		optional = "?"
	}
	return comment(t.Description, "  ") + fmt.Sprintf(
		"  %s(params%s: %s): Promise<%s>;\n", property(method), optional, params, typeOf(t.OutputSchema, "  "),
	)
}

// comment writes a doc comment. The text cannot end it, and contains nothing invisible.
func comment(text, indent string) string {
	text = strings.TrimSpace(strings.ReplaceAll(toolname.Plain(text), "*/", "* /"))
	if text == "" {
		return ""
	}
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
	if len(lines) == 1 {
		return indent + "/** " + lines[0] + " */\n"
	}
	var out strings.Builder
	out.WriteString(indent + "/**\n")
	for _, l := range lines {
		out.WriteString(strings.TrimRight(indent+" * "+l, " ") + "\n")
	}
	out.WriteString(indent + " */\n")
	return out.String()
}

// property returns the name of a member, in quotes if it is not an identifier.
func property(name string) string {
	plain := name != "" && !(name[0] >= '0' && name[0] <= '9') && !slices.ContainsFunc([]byte(name), func(c byte) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$')
	})
	if plain {
		return name
	}
	return literal(name)
}
