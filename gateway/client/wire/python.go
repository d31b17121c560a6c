package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// schema is the part of a JSON Schema that types are made of.
type schema struct {
	Ref         string             `json:"$ref"`
	Type        any                `json:"type"` // a name, or a list of names
	Description string             `json:"description"`
	Enum        []any              `json:"enum"`
	Items       *schema            `json:"items"`
	Properties  map[string]*schema `json:"properties"`
	Required    []string           `json:"required"`
	More        json.RawMessage    `json:"additionalProperties"`
	AnyOf       []*schema          `json:"anyOf"`
	OneOf       []*schema          `json:"oneOf"`
	AllOf       []*schema          `json:"allOf"`
}

// python writes typed dictionaries, each after those that it contains.
type python struct {
	out  bytes.Buffer
	done map[string]bool
	all  map[string]*schema
}

// pythonTypes returns a module with a typed dictionary for each schema of the document.
func pythonTypes(text []byte, line string) ([]byte, error) {
	all, err := schemas(text)
	if err != nil {
		return nil, err
	}
	p := &python{done: map[string]bool{}, all: all}
	fmt.Fprintf(&p.out, "# %s\n\"\"\"The types of requests and answers.\"\"\"\n\nfrom __future__ import annotations\n\n"+
		"from typing import Any, Literal, TypedDict, Union\n", line)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p.named(name)
	}
	return p.out.Bytes(), nil
}

// merged returns a schema with the members of all that it must fit.
func (p *python) merged(s *schema) *schema {
	if len(s.AllOf) == 0 {
		return s
	}
	whole := &schema{Type: "object", Description: s.Description, Properties: map[string]*schema{}}
	for _, part := range s.AllOf {
		if part.Ref != "" {
			part = p.all[part.Ref[strings.LastIndexByte(part.Ref, '/')+1:]]
		}
		part = p.merged(part)
		maps.Copy(whole.Properties, part.Properties)
		whole.Required = append(whole.Required, part.Required...)
	}
	return whole
}

// named writes a schema of the document, once.
func (p *python) named(name string) {
	if p.done[name] {
		return
	}
	p.done[name] = true
	s := p.merged(p.all[name])
	if len(s.Properties) > 0 {
		p.class(name, s)
		return
	}
	fmt.Fprintf(&p.out, "\n%s = %s\n", name, p.expression(name, s))
}

var identifier = regexp.MustCompile(`^[a-z_][A-Za-z0-9_]*$`)

// keywords are those of Python that could be members.
var keywords = [...]string{"and", "as", "async", "await", "class", "def", "from", "global", "import", "in", "is", "not",
	"or", "pass", "return", "with", "yield"}

// class writes the class of an object, in two parts if some members may be absent.
func (p *python) class(name string, s *schema) {
	types := map[string]string{}
	for _, member := range slices.Sorted(maps.Keys(s.Properties)) {
		types[member] = p.expression(name+strings.ToUpper(member[:1])+member[1:], s.Properties[member])
	}
	var required, optional, odd []string
	for _, member := range slices.Sorted(maps.Keys(types)) {
		switch {
		case !identifier.MatchString(member) || slices.Contains(keywords[:], member):
			odd = append(odd, fmt.Sprintf("%q: %s", member, types[member]))
		case slices.Contains(s.Required, member):
			required = append(required, member)
		default:
			optional = append(optional, member)
		}
	}
	base := "TypedDict"
	write := func(class, rule string, members []string) {
		fmt.Fprintf(&p.out, "\n\nclass %s(%s%s):\n", class, base, rule)
		if class == name && s.Description != "" {
			fmt.Fprintf(&p.out, "    %s\n\n", quoted(s.Description))
		}
		for _, member := range members {
			fmt.Fprintf(&p.out, "    %s: %s\n", member, types[member])
		}
		if len(members) == 0 {
			p.out.WriteString("    pass\n")
		}
	}
	if len(odd) > 0 {
		base = "_" + name + "More"
		fmt.Fprintf(&p.out, "\n\n%s = TypedDict(%q, {%s}, total=False)\n", base, base, strings.Join(odd, ", "))
	}
	if len(optional) == 0 {
		write(name, "", required)
		return
	}
	if len(required) > 0 {
		write("_"+name, "", required)
		base = "_" + name
	}
	write(name, ", total=False", optional)
}

// quoted returns a docstring.
func quoted(text string) string {
	return `"""` + strings.NewReplacer(`\`, `\\`, `"`, `'`).Replace(text) + `"""`
}

// expression returns the type of a schema. path names the class that it needs, if it does.
func (p *python) expression(path string, s *schema) string {
	if s.Ref != "" {
		name := s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
		p.named(name)
		return name
	}
	if len(s.Enum) > 0 {
		return enumeration(s.Enum)
	}
	if choices := append(slices.Clone(s.AnyOf), s.OneOf...); len(choices) > 0 && len(s.Properties) == 0 {
		var types []string
		for i, c := range choices {
			types = append(types, p.expression(fmt.Sprint(path, i+1), c))
		}
		return union(types)
	}
	if names, ok := s.Type.([]any); ok {
		var types []string
		for _, name := range names {
			one := *s
			one.Type = name
			types = append(types, p.expression(path, &one))
		}
		return union(types)
	}
	switch s.Type {
	case "string":
		return "str"
	case "integer":
		return "int"
	case "number":
		return "float"
	case "boolean":
		return "bool"
	case "null":
		return "None"
	case "array":
		if s.Items == nil {
			return "list[Any]"
		}
		return "list[" + p.expression(path+"Item", s.Items) + "]"
	case "object":
		if len(s.Properties) > 0 {
			p.class(path, s)
			return path
		}
		var values schema
		if json.Unmarshal(s.More, &values) == nil && (values.Ref != "" || values.Type != nil) {
			return "dict[str, " + p.expression(path+"Value", &values) + "]"
		}
		return "dict[str, Any]"
	}
	return "Any"
}

// enumeration returns a type of literals.
func enumeration(values []any) string {
	var literals []string
	for _, v := range values {
		switch v := v.(type) {
		case string:
			literals = append(literals, fmt.Sprintf("%q", v))
		case nil:
			literals = append(literals, "None")
		default:
			literals = append(literals, fmt.Sprint(v))
		}
	}
	return "Literal[" + strings.Join(literals, ", ") + "]"
}

func union(types []string) string {
	types = slices.Compact(types)
	if len(types) == 1 {
		return types[0]
	}
	if slices.Contains(types, "Any") {
		return "Any"
	}
	return "Union[" + strings.Join(types, ", ") + "]"
}
