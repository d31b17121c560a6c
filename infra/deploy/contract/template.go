package contract

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// object is a JSON-like object of the template. Short forms of intrinsic functions are expanded: !Ref x is {"Ref":
// "x"}.
type object = map[string]any

// template is a parsed template with SAM's Globals merged into each function.
type template struct {
	root      object
	resources map[string]resource
}

type resource struct {
	kind  string
	attrs object // DeletionPolicy and the like
	props object
}

func parse(data []byte) (*template, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("parse template: %w", err)
	}
	value, err := spell(&doc)
	if err != nil {
		return nil, fmt.Errorf("parse template: %w", err)
	}
	root := asObject(value)
	t := &template{root: root, resources: map[string]resource{}}
	globals := asObject(get(root, "Globals", "Function"))
	for name, raw := range asObject(root["Resources"]) {
		attrs := asObject(raw)
		r := resource{kind: text(attrs["Type"]), attrs: attrs, props: asObject(attrs["Properties"])}
		if r.kind == "AWS::Serverless::Function" {
			r.props = merge(globals, r.props)
		}
		t.resources[name] = r
	}
	if len(t.resources) == 0 {
		return nil, fmt.Errorf("parse template: it has no Resources")
	}
	return t, nil
}

// spell returns a node as plain values, with CloudFormation's tags in their long form.
func spell(n *yaml.Node) (any, error) {
	plain, err := untagged(n)
	if err != nil {
		return nil, err
	}
	name, tagged := strings.CutPrefix(n.Tag, "!")
	if !tagged || strings.HasPrefix(name, "!") {
		return plain, nil
	}
	switch name {
	case "Ref", "Condition":
		return object{name: plain}, nil
	case "GetAtt":
		if s, ok := plain.(string); ok {
			before, after, _ := strings.Cut(s, ".")
			plain = []any{before, after}
		}
	}
	return object{"Fn::" + name: plain}, nil
}

func untagged(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.DocumentNode:
		return spell(n.Content[0])
	case yaml.MappingNode:
		out := object{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			if _, twice := out[key]; twice {
				return nil, fmt.Errorf("line %d: %q is there twice", n.Content[i].Line, key)
			}
			value, err := spell(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			out[key] = value
		}
		return out, nil
	case yaml.SequenceNode:
		out := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			value, err := spell(item)
			if err != nil {
				return nil, err
			}
			out = append(out, value)
		}
		return out, nil
	case yaml.AliasNode:
		return nil, fmt.Errorf("line %d: CloudFormation reads no YAML aliases", n.Line)
	}
	if strings.HasPrefix(n.Tag, "!!") {
		var v any
		err := n.Decode(&v)
		return v, err
	}
	return n.Value, nil
}

// merge returns a function's properties merged over the globals as SAM does: objects are merged, everything else is
// replaced.
func merge(under, over object) object {
	out := maps.Clone(under)
	if out == nil {
		out = object{}
	}
	for name, value := range over {
		if below, ok := out[name].(object); ok && !isIntrinsic(below) {
			if above, ok := value.(object); ok && !isIntrinsic(above) {
				out[name] = merge(below, above)
				continue
			}
		}
		out[name] = value
	}
	return out
}

func isIntrinsic(o object) bool {
	for name := range o {
		if len(o) == 1 && (name == "Ref" || strings.HasPrefix(name, "Fn::")) {
			return true
		}
	}
	return false
}

// branches returns every value that v can have: both sides of each Fn::If, without AWS::NoValue.
func branches(v any) []any {
	o := asObject(v)
	if text(o["Ref"]) == "AWS::NoValue" {
		return nil
	}
	sides, ok := o["Fn::If"].([]any)
	if !ok || len(sides) != 3 {
		if v == nil {
			return nil
		}
		return []any{v}
	}
	return append(branches(sides[1]), branches(sides[2])...)
}

// list returns every item that v, a list or a single value, can have.
func list(v any) []any {
	var out []any
	for _, branch := range branches(v) {
		items, ok := branch.([]any)
		if !ok {
			out = append(out, branch)
			continue
		}
		for _, item := range items {
			out = append(out, branches(item)...)
		}
	}
	return out
}

func get(v any, path ...string) any {
	for _, name := range path {
		v = asObject(v)[name]
	}
	return v
}

func asObject(v any) object {
	o, _ := v.(object)
	return o
}

// text returns a string, or the text of a Fn::Sub.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	switch sub := asObject(v)["Fn::Sub"].(type) {
	case string:
		return sub
	case []any:
		if len(sub) > 0 {
			return text(sub[0])
		}
	}
	return ""
}

// target returns the resource that v refers to: by Ref, GetAtt or the first ${…} of a Sub.
func target(v any) string {
	o := asObject(v)
	if name := text(o["Ref"]); name != "" {
		return name
	}
	if att, ok := o["Fn::GetAtt"].([]any); ok && len(att) > 0 {
		return text(att[0])
	}
	_, after, found := strings.Cut(text(v), "${")
	if !found {
		return ""
	}
	name, _, _ := strings.Cut(after, "}")
	name, _, _ = strings.Cut(name, ".")
	return name
}

// each returns the resources of the given kinds in the order of their names.
func (t *template) each(kinds ...string) []string {
	var names []string
	for name, r := range t.resources {
		if slices.Contains(kinds, r.kind) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
