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

// Globals declares what every execution has, as far as code needs to be told: the web's and Node's own declarations say
// more, where an editor has them.
func Globals() string { return globals }

// For declares the globals and the given tools, grouped by namespace in the order in which these come first.
func For(tools []execution.Tool) string {
	var out strings.Builder
	out.WriteString(globals)
	if text := Tools(tools); text != "" {
		out.WriteString("\n" + text)
	}
	return out.String()
}

// Tools declares the given tools alone; "" for none.
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
	return string(toolname.PlainJSON([]byte(out.String()))) // names and constants, which stand in quotes
}

func declare(t execution.Tool, method string) string {
	params := typeOf(t.InputSchema, "  ")
	optional := ""
	if params == unknown || optionalObject(t.InputSchema) {
		optional = "?"
	}
	return comment(t.Description, "  ") + fmt.Sprintf("  %s(params%s: %s): Promise<%s>;\n", property(method), optional, params, typeOf(t.OutputSchema, "  "))
}

// comment writes a doc comment; the text cannot end it, and has nothing that a reader would not see.
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

// property writes a name as a member's, in quotes where it is no identifier.
func property(name string) string {
	plain := name != "" && !(name[0] >= '0' && name[0] <= '9') && !slices.ContainsFunc([]byte(name), func(c byte) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$')
	})
	if plain {
		return name
	}
	return literal(name)
}
