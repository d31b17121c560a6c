package openapi

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
)

//go:embed page.html
var pageSource string

//go:embed page.css
var pageStyle string

// Page returns the document as one HTML page. It loads nothing and has no script. It must not be changed.
func (d *Document) Page() []byte { return d.page }

// PagePolicy returns the Content-Security-Policy of the page: its own style by digest, and nothing else.
func (d *Document) PagePolicy() string { return d.policy }

// group, operation, example and field are the data of the page.
type (
	group struct {
		Name, About string
		Operations  []operation
	}
	operation struct {
		Method, Path, Summary, About, Anchor string
		Parameters                           []field
		Examples                             []example
		Answers                              []field
	}
	field   struct{ Name, Kind, About string }
	example struct{ Name, Body string }
	schema  struct {
		Name, About string
		Fields      []field
	}
)

func (d *Document) render() error {
	page, err := template.New("page").Parse(pageSource)
	if err != nil {
		return fmt.Errorf("openapi: the page: %w", err)
	}
	info, _ := d.root["info"].(map[string]any)
	var b bytes.Buffer
	err = page.Execute(&b, map[string]any{
		"Info": info, "Groups": d.groups(), "Schemas": d.schemas(),
		"Style": template.CSS(pageStyle), // our own file
	})
	if err != nil {
		return fmt.Errorf("openapi: the page: %w", err)
	}
	sum := sha256.Sum256([]byte(pageStyle))
	d.page = b.Bytes()
	d.policy = "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return nil
}

// groups returns the operations by their tags, in the order of the tags.
func (d *Document) groups() []group {
	var groups []group
	for _, tag := range listOf(d.root["tags"]) {
		g := group{Name: text(tag, "name"), About: text(tag, "description")}
		for _, path := range slices.Sorted(maps.Keys(objectOf(d.root["paths"]))) {
			item := objectOf(objectOf(d.root["paths"])[path])
			for _, method := range []string{"get", "post", "put", "delete"} {
				op := objectOf(item[method])
				if tags, _ := op["tags"].([]any); len(tags) == 0 || tags[0] != g.Name {
					continue
				}
				g.Operations = append(g.Operations, d.operation(method, path, op))
			}
		}
		groups = append(groups, g)
	}
	return groups
}

func (d *Document) operation(method, path string, op map[string]any) operation {
	o := operation{
		Method: strings.ToUpper(method), Path: path, Summary: text(op, "summary"), About: text(op, "description"),
		Anchor: text(op, "operationId"),
	}
	for _, p := range listOf(op["parameters"]) {
		p = d.resolved(p)
		o.Parameters = append(o.Parameters, field{text(p, "name"), text(p, "in"), text(p, "description")})
	}
	media := objectOf(objectOf(objectOf(op["requestBody"])["content"])["application/json"])
	if ref := text(objectOf(media["schema"]), "$ref"); ref != "" {
		o.Parameters = append(o.Parameters, field{ref[strings.LastIndexByte(ref, '/')+1:], "body", "JSON, described below."})
	}
	examples := objectOf(media["examples"])
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		e := objectOf(examples[name])
		var body strings.Builder
		enc := json.NewEncoder(&body)
		enc.SetEscapeHTML(false) // the template escapes
		enc.SetIndent("", "  ")
		if enc.Encode(e["value"]) == nil {
			o.Examples = append(o.Examples, example{text(e, "summary"), body.String()})
		}
	}
	answers := objectOf(op["responses"])
	for _, status := range slices.Sorted(maps.Keys(answers)) {
		a := d.resolved(objectOf(answers[status]))
		types := slices.Sorted(maps.Keys(objectOf(a["content"])))
		o.Answers = append(o.Answers, field{status, strings.Join(types, ", "), text(a, "description")})
	}
	return o
}

// schemas returns the objects with their members.
func (d *Document) schemas() []schema {
	var all []schema
	components := objectOf(objectOf(d.root["components"])["schemas"])
	for _, name := range slices.Sorted(maps.Keys(components)) {
		c := objectOf(components[name])
		s := schema{Name: name, About: text(c, "description")}
		members := objectOf(c["properties"])
		for _, member := range slices.Sorted(maps.Keys(members)) {
			m := objectOf(members[member])
			s.Fields = append(s.Fields, field{member, kind(m), text(m, "description")})
		}
		all = append(all, s)
	}
	return all
}

// kind describes in a word or two what a member holds.
func kind(m map[string]any) string {
	if ref := text(m, "$ref"); ref != "" {
		return ref[strings.LastIndexByte(ref, '/')+1:]
	}
	if names, ok := m["enum"].([]any); ok {
		words := make([]string, len(names))
		for i, n := range names {
			words[i] = fmt.Sprint(n)
			if n == nil {
				words[i] = "null"
			}
		}
		return strings.Join(words, " | ")
	}
	switch t := m["type"].(type) {
	case string:
		if t == "array" {
			return "array of " + kind(objectOf(m["items"]))
		}
		return t
	case []any:
		words := make([]string, len(t))
		for i, n := range t {
			words[i] = fmt.Sprint(n)
		}
		return strings.Join(words, " | ")
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		var words []string
		for _, option := range listOf(m[word]) {
			words = append(words, kind(option))
		}
		if len(words) > 0 {
			return strings.Join(words, " | ")
		}
	}
	return "any JSON"
}

func (d *Document) resolved(v map[string]any) map[string]any {
	if ref := text(v, "$ref"); ref != "" {
		return objectOf(d.component(ref))
	}
	return v
}

func objectOf(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func listOf(v any) []map[string]any {
	items, _ := v.([]any)
	out := make([]map[string]any, 0, len(items))
	for _, item := range items {
		out = append(out, objectOf(item))
	}
	return out
}

func text(m map[string]any, name string) string {
	s, _ := m[name].(string)
	return s
}
