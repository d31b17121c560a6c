package declarations

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

func (w *writer) object(n node, indent string, depth int) typ {
	inner := indent + "  "
	names := sortedNames(n.Properties)
	for _, name := range n.Required {
		if _, described := n.Properties[name]; !described && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var out strings.Builder
	for i, name := range names {
		if i == maxMembers || w.left < 0 {
			fmt.Fprintf(&out, "%s// … %d more\n", inner, len(names)-i)
			break
		}
		mark := "?"
		if slices.Contains(n.Required, name) {
			mark = ""
		}
		schema, described := n.Properties[name]
		t, member := anything, node{}
		if described {
			t = w.of(schema, inner, depth+1)
			_ = json.Unmarshal(schema, &member) // true and false have no description
		}
		out.WriteString(comment(member.Description, inner))
		fmt.Fprintf(&out, "%s%s%s: %s;\n", inner, property(name), mark, t.text)
	}
	if len(names) == 0 {
		return typ{text: "{ [name: string]: " + w.others(n, inner, depth).text + " }"}
	}
	return typ{text: "{\n" + out.String() + indent + "}"}
}

// others returns the type of members that properties do not name.
func (w *writer) others(n node, indent string, depth int) typ {
	if len(n.Patterns) == 0 {
		if len(n.Additional) == 0 {
			return anything
		}
		return w.of(n.Additional, indent, depth+1)
	}
	list := make([]json.RawMessage, 0, len(n.Patterns)+1)
	for _, name := range sortedNames(n.Patterns) {
		list = append(list, n.Patterns[name])
	}
	if !isFalse(n.Additional) {
		list = append(list, n.Additional)
	}
	return union(list, func(s json.RawMessage) typ { return w.of(s, indent, depth+1) })
}

// constant returns a JSON value as a literal type.
func constant(v json.RawMessage) typ {
	if len(v) > maxLiteral {
		return anything
	}
	return literalType(v, 0)
}

func literalType(v json.RawMessage, depth int) typ {
	v = bytes.TrimSpace(v)
	var members map[string]json.RawMessage
	var items []json.RawMessage
	var text string
	switch {
	case depth > maxDepth || len(v) == 0:
	case v[0] == '"' && json.Unmarshal(v, &text) == nil:
		return typ{text: literal(text)}
	case v[0] == '{' && json.Unmarshal(v, &members) == nil:
		if len(members) == 0 {
			return typ{text: "{ [name: string]: never }"}
		}
		var parts []string
		for _, name := range sortedNames(members) {
			parts = append(parts, property(name)+": "+literalType(members[name], depth+1).text)
		}
		return typ{text: "{ " + strings.Join(parts, "; ") + " }"}
	case v[0] == '[' && json.Unmarshal(v, &items) == nil:
		var parts []string
		for _, item := range items {
			parts = append(parts, literalType(item, depth+1).text)
		}
		return typ{text: "[" + strings.Join(parts, ", ") + "]"}
	case v[0] == 't', v[0] == 'f', v[0] == 'n':
		return typ{text: string(v)}
	case v[0] == '-' || v[0] >= '0' && v[0] <= '9':
		var number float64
		if json.Unmarshal(v, &number) == nil { // otherwise it is too large for a number
			return typ{text: string(v)}
		}
		return typ{text: "number"}
	}
	return anything
}

func literal(s string) string {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes; U+2028 and U+2029 are escaped
	return strings.TrimSuffix(out.String(), "\n")
}
