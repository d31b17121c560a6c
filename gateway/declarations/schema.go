package declarations

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	unknown  = "any"
	maxDepth = 8
	// maxMembers bounds what one object or union is written out to; a schema is a caller's.
	maxMembers = 64
)

// node is what a JSON Schema says that a type can say.
type node struct {
	Type        json.RawMessage            `json:"type"`
	Description string                     `json:"description"`
	Enum        []json.RawMessage          `json:"enum"`
	Const       json.RawMessage            `json:"const"`
	Properties  map[string]json.RawMessage `json:"properties"`
	Required    []string                   `json:"required"`
	Additional  json.RawMessage            `json:"additionalProperties"`
	Items       json.RawMessage            `json:"items"`
	PrefixItems []json.RawMessage          `json:"prefixItems"`
	AnyOf       []json.RawMessage          `json:"anyOf"`
	OneOf       []json.RawMessage          `json:"oneOf"`
	AllOf       []json.RawMessage          `json:"allOf"`
	Ref         string                     `json:"$ref"`
}

// writer turns one schema into a type. What it does not understand is any: a declaration helps, the host checks.
type writer struct {
	root json.RawMessage
	left int // members to be written
}

// typeOf gives the TypeScript type of a schema, its lines after the first indented by indent.
func typeOf(schema json.RawMessage, indent string) string {
	if len(schema) == 0 {
		return unknown
	}
	w := &writer{root: schema, left: 512}
	return w.of(schema, indent, 0)
}

// optionalObject reports a schema of an object of which nothing is required.
func optionalObject(schema json.RawMessage) bool {
	var n node
	return len(schema) > 0 && json.Unmarshal(schema, &n) == nil && n.Ref == "" && len(n.Required) == 0 && len(n.AnyOf)+len(n.OneOf)+len(n.AllOf) == 0
}

func (w *writer) of(schema json.RawMessage, indent string, depth int) string {
	var n node
	w.left--
	if depth > maxDepth || w.left < 0 || json.Unmarshal(schema, &n) != nil {
		if bytes.Equal(bytes.TrimSpace(schema), []byte("false")) {
			return "never"
		}
		return unknown
	}
	switch {
	case n.Ref != "":
		if target, ok := w.find(n.Ref); ok {
			return w.of(target, indent, depth+1)
		}
		return unknown
	case len(n.Const) > 0:
		return constant(n.Const)
	case len(n.Enum) > 0:
		return union(n.Enum, constant)
	case len(n.AnyOf) > 0:
		return union(n.AnyOf, func(s json.RawMessage) string { return w.of(s, indent, depth+1) })
	case len(n.OneOf) > 0:
		return union(n.OneOf, func(s json.RawMessage) string { return w.of(s, indent, depth+1) })
	case len(n.AllOf) > 0:
		return strings.ReplaceAll(union(n.AllOf, func(s json.RawMessage) string { return w.of(s, indent, depth+1) }), " | ", " & ")
	}
	var types []string
	var one string
	if json.Unmarshal(n.Type, &one) == nil {
		types = []string{one}
	} else if json.Unmarshal(n.Type, &types) != nil && len(n.Properties) > 0 {
		types = []string{"object"}
	}
	if len(types) == 0 {
		return unknown
	}
	var out []string
	for _, t := range types {
		out = append(out, w.simple(t, n, indent, depth))
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " | ")
}

func (w *writer) simple(t string, n node, indent string, depth int) string {
	switch t {
	case "string", "boolean", "null":
		return t
	case "number", "integer":
		return "number"
	case "array":
		if len(n.PrefixItems) > 0 {
			var items []string
			for _, s := range n.PrefixItems[:min(len(n.PrefixItems), maxMembers)] {
				items = append(items, w.of(s, indent, depth+1))
			}
			return "[" + strings.Join(items, ", ") + "]"
		}
		if len(n.Items) == 0 {
			return unknown + "[]"
		}
		item := w.of(n.Items, indent, depth+1)
		if strings.ContainsAny(item, " |&") && !strings.HasPrefix(item, "{") {
			item = "(" + item + ")"
		}
		return item + "[]"
	case "object":
		return w.object(n, indent, depth)
	}
	return unknown
}

func (w *writer) object(n node, indent string, depth int) string {
	inner := indent + "  "
	var out strings.Builder
	names := slices.Sorted(maps.Keys(n.Properties))
	for i, name := range names {
		if i == maxMembers || w.left < 0 {
			fmt.Fprintf(&out, "%s// … %d more\n", inner, len(names)-i)
			break
		}
		mark := "?"
		if slices.Contains(n.Required, name) {
			mark = ""
		}
		var member node
		_ = json.Unmarshal(n.Properties[name], &member) // true and false have no description
		out.WriteString(comment(member.Description, inner))
		fmt.Fprintf(&out, "%s%s%s: %s;\n", inner, property(name), mark, w.of(n.Properties[name], inner, depth+1))
	}
	switch {
	case bytes.Equal(bytes.TrimSpace(n.Additional), []byte("false")):
	case len(n.Additional) > 0 && len(names) == 0:
		fmt.Fprintf(&out, "%s[name: string]: %s;\n", inner, w.of(n.Additional, inner, depth+1))
	case len(names) == 0:
		return "{ [name: string]: " + unknown + " }"
	}
	if out.Len() == 0 {
		return "{}"
	}
	return "{\n" + out.String() + indent + "}"
}

// find follows a reference within the schema.
func (w *writer) find(ref string) (json.RawMessage, bool) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, false
	}
	at := w.root
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if part == "" {
			continue
		}
		var members map[string]json.RawMessage
		name := strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		if json.Unmarshal(at, &members) != nil || members[name] == nil {
			return nil, false
		}
		at = members[name]
	}
	return at, true
}

func union(list []json.RawMessage, of func(json.RawMessage) string) string {
	var out []string
	for i, s := range list {
		if i == maxMembers {
			return unknown
		}
		if t := of(s); !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return strings.Join(out, " | ")
}

// constant writes a JSON value as a literal type.
func constant(v json.RawMessage) string {
	var x any
	if json.Unmarshal(v, &x) != nil {
		return unknown
	}
	switch x := x.(type) {
	case nil:
		return "null"
	case bool, float64:
		return strings.TrimSpace(string(v))
	case string:
		return literal(x)
	}
	return unknown
}

func literal(s string) string {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes; U+2028 and U+2029 come out escaped
	return strings.TrimSuffix(out.String(), "\n")
}
