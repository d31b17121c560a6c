package declarations

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
)

const (
	unknown  = "any"
	maxDepth = 8
	// maxMembers bounds how many members of one object, union or tuple are written, and maxNodes a whole schema, because
	// callers write schemas.
	maxMembers = 64
	maxNodes   = 512
	// maxLiteral bounds a constant, in bytes of JSON.
	maxLiteral = 1 << 10
)

// node is the part of a JSON Schema (2020-12, and the items of earlier drafts) that a type can express.
type node struct {
	Type        json.RawMessage            `json:"type"`
	Description string                     `json:"description"`
	Enum        []json.RawMessage          `json:"enum"`
	Const       json.RawMessage            `json:"const"`
	Properties  map[string]json.RawMessage `json:"properties"`
	Patterns    map[string]json.RawMessage `json:"patternProperties"`
	Required    []string                   `json:"required"`
	Additional  json.RawMessage            `json:"additionalProperties"`
	Items       json.RawMessage            `json:"items"`
	PrefixItems []json.RawMessage          `json:"prefixItems"`
	MoreItems   json.RawMessage            `json:"additionalItems"`
	MinItems    float64                    `json:"minItems"`
	AnyOf       []json.RawMessage          `json:"anyOf"`
	OneOf       []json.RawMessage          `json:"oneOf"`
	AllOf       []json.RawMessage          `json:"allOf"`
	Ref         string                     `json:"$ref"`
}

// writer turns one schema into a type that every value of the schema has. It leaves out what a type cannot express: a
// declaration helps, and the host checks.
type writer struct {
	root json.RawMessage
	left int // nodes that may still be written
	// nodes and members are parts of the schema that have been decoded, by their first bytes: references may lead to the
	// same parts again and again.
	nodes   map[*byte]*node
	members map[*byte]map[string]json.RawMessage
}

func newWriter(schema json.RawMessage) *writer {
	return &writer{schema, maxNodes, map[*byte]*node{}, map[*byte]map[string]json.RawMessage{}}
}

// node decodes a part of the schema; nil if it is none.
func (w *writer) node(schema json.RawMessage) *node {
	if len(schema) == 0 {
		return nil
	}
	n, ok := w.nodes[&schema[0]]
	if !ok {
		if n = new(node); json.Unmarshal(schema, n) != nil {
			n = nil
		}
		w.nodes[&schema[0]] = n
	}
	return n
}

// membersOf returns the members of a part of the schema; nil if it is no object.
func (w *writer) membersOf(object json.RawMessage) (members map[string]json.RawMessage) {
	if len(object) == 0 {
		return nil
	}
	members, ok := w.members[&object[0]]
	if !ok {
		if json.Unmarshal(object, &members) != nil {
			members = nil
		}
		w.members[&object[0]] = members
	}
	return members
}

// typ is a type as text, and how loosely it binds.
type typ struct {
	text string
	rank int // 0 needs no parentheses, 1 is an intersection, 2 a union
}

var anything = typ{text: unknown}

// within returns the type as an operand that must bind at least as tightly as rank.
func (t typ) within(rank int) string {
	if t.rank > rank {
		return "(" + t.text + ")"
	}
	return t.text
}

// typeOf returns the TypeScript type of a schema, with its lines after the first indented by indent.
func typeOf(schema json.RawMessage, indent string) string {
	if len(schema) == 0 {
		return unknown
	}
	w := newWriter(schema)
	return w.of(schema, indent, 0).text
}

// optionalObject reports whether a schema is that of an object without required members.
func optionalObject(schema json.RawMessage) bool {
	var n node
	return len(schema) > 0 && json.Unmarshal(schema, &n) == nil && n.Ref == "" && len(n.Required) == 0 &&
		len(n.AnyOf)+len(n.OneOf)+len(n.AllOf) == 0
}

func isFalse(schema json.RawMessage) bool {
	return bytes.Equal(bytes.TrimSpace(schema), []byte("false"))
}

func (w *writer) of(schema json.RawMessage, indent string, depth int) typ {
	w.left--
	if isFalse(schema) {
		return typ{text: "never"}
	}
	if depth > maxDepth || w.left < 0 || w.node(schema) == nil {
		return anything
	}
	n := *w.node(schema)
	switch {
	case len(n.Const) > 0:
		return constant(n.Const)
	case len(n.Enum) > 0:
		return union(n.Enum, constant)
	}
	inner := func(s json.RawMessage) typ { return w.of(s, indent, depth+1) }
	parts := []typ{w.plain(n, indent, depth)}
	if n.Ref != "" {
		if target, ok := w.find(n.Ref); ok {
			parts = append(parts, inner(target))
		}
	}
	for _, list := range [][]json.RawMessage{n.AnyOf, n.OneOf} {
		if len(list) > 0 {
			parts = append(parts, union(list, inner))
		}
	}
	for _, s := range n.AllOf[:min(len(n.AllOf), maxMembers)] {
		parts = append(parts, inner(s))
	}
	return intersection(parts)
}

// plain returns what the keywords say that are not about other schemas.
func (w *writer) plain(n node, indent string, depth int) typ {
	var types []string
	var one string
	switch {
	case json.Unmarshal(n.Type, &one) == nil:
		types = []string{one}
	case json.Unmarshal(n.Type, &types) == nil:
	case len(n.Properties) > 0 || len(n.Required) > 0:
		types = []string{"object"}
	case len(n.PrefixItems) > 0 || len(n.Items) > 0:
		types = []string{"array"}
	}
	if len(types) == 0 {
		return anything
	}
	slices.Sort(types)
	return joined(
		slices.Compact(types)[:min(len(types), maxMembers)], " | ", 2,
		func(t string) typ { return w.simple(t, n, indent, depth) },
	)
}

func (w *writer) simple(t string, n node, indent string, depth int) typ {
	switch t {
	case "string", "boolean", "null":
		return typ{text: t}
	case "number", "integer":
		return typ{text: "number"}
	case "array":
		return w.array(n, indent, depth)
	case "object":
		return w.object(n, indent, depth)
	}
	return anything
}

func (w *writer) array(n node, indent string, depth int) typ {
	first, rest := n.PrefixItems, n.Items
	if len(first) == 0 && json.Unmarshal(n.Items, &first) == nil { // as schemas before 2020-12 write it
		rest = n.MoreItems
	}
	more := anything
	if len(rest) > 0 {
		more = w.of(rest, indent, depth+1)
	}
	if len(first) == 0 {
		return typ{text: more.within(0) + "[]"}
	}
	var items []string
	for i, s := range first[:min(len(first), maxMembers)] {
		item := w.of(s, indent, depth+1)
		if float64(i) < n.MinItems {
			items = append(items, item.text)
		} else {
			items = append(items, item.within(0)+"?")
		}
	}
	if !isFalse(rest) || len(first) > maxMembers {
		items = append(items, "..."+more.within(0)+"[]")
	}
	return typ{text: "[" + strings.Join(items, ", ") + "]"}
}

// unescape reads the escapes of a JSON pointer.
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// find returns the target of a reference within the schema.
func (w *writer) find(ref string) (json.RawMessage, bool) {
	path, ok := strings.CutPrefix(ref, "#")
	if decoded, err := url.PathUnescape(path); err == nil {
		path = decoded
	}
	if !ok || path != "" && path[0] != '/' {
		return nil, false
	}
	at := w.root
	for i, part := range strings.Split(path, "/") {
		if i == 0 {
			continue
		}
		at = w.membersOf(at)[unescape.Replace(part)]
		if at == nil {
			return nil, false
		}
	}
	return at, true
}

// union returns the type of what any of the schemas accepts.
func union(list []json.RawMessage, of func(json.RawMessage) typ) typ {
	if len(list) > maxMembers {
		return anything
	}
	return joined(list, " | ", 2, of)
}

// intersection returns the type of what all of the types accept.
func intersection(parts []typ) typ {
	parts = slices.DeleteFunc(parts, func(t typ) bool { return t == anything })
	if len(parts) == 0 {
		return anything
	}
	return joined(parts, " & ", 1, func(t typ) typ { return t })
}

// joined returns operands without duplicates. An operand that accepts anything makes a union accept anything.
func joined[T any](list []T, operator string, rank int, of func(T) typ) typ {
	var kept []typ
	for _, x := range list {
		t := of(x)
		if t == anything && rank == 2 {
			return anything
		}
		if !slices.Contains(kept, t) {
			kept = append(kept, t)
		}
	}
	if len(kept) == 1 {
		return kept[0]
	}
	texts := make([]string, len(kept))
	for i, t := range kept {
		texts[i] = t.within(rank)
	}
	return typ{strings.Join(texts, operator), rank}
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
