package openapi

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"strings"
)

//go:embed document
var source embed.FS

// Document is a whole OpenAPI document. It never changes, and is safe for concurrent use.
type Document struct {
	root map[string]any
	json []byte
}

// New assembles the document. version is that of the build that serves it.
func New(version string) (*Document, error) {
	root, err := read("document/document.json")
	if err != nil {
		return nil, err
	}
	paths, err := gather("document/paths")
	if err != nil {
		return nil, err
	}
	schemas, err := gather("document/schemas")
	if err != nil {
		return nil, err
	}
	info, _ := root["info"].(map[string]any)
	components, _ := root["components"].(map[string]any)
	if info == nil || components == nil {
		return nil, fmt.Errorf("openapi: document.json has no info or no components")
	}
	info["version"] = version
	components["schemas"] = schemas
	root["paths"] = paths
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(root); err != nil {
		return nil, fmt.Errorf("openapi: encode the document: %w", err)
	}
	return &Document{root: root, json: b.Bytes()}, nil
}

// JSON returns the document as it is served. It must not be changed.
func (d *Document) JSON() []byte { return d.json }

// Schema returns one of the document's schemas with its references resolved. The caller owns it.
func (d *Document) Schema(name string) (map[string]any, error) {
	schema, ok := d.component("#/components/schemas/" + name).(map[string]any)
	if !ok {
		return nil, fmt.Errorf("openapi: there is no schema %s", name)
	}
	whole, _ := d.inline(schema, 0).(map[string]any)
	if whole == nil {
		return nil, fmt.Errorf("openapi: the schema %s refers to itself, or to nothing", name)
	}
	return whole, nil
}

// component returns what a reference within the document names.
func (d *Document) component(ref string) any {
	var at any = d.root
	for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		object, _ := at.(map[string]any)
		at = object[part]
	}
	return at
}

// inline returns a copy of a schema without its references, or nil if one cannot be resolved.
func (d *Document) inline(v any, depth int) any {
	const deepest = 32 // far beyond any real schema; only a cycle gets there
	if depth > deepest {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			return d.inline(d.component(ref), depth+1)
		}
		out := make(map[string]any, len(v))
		for name, member := range v {
			if out[name] = d.inline(member, depth+1); out[name] == nil && member != nil {
				return nil
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			if out[i] = d.inline(item, depth+1); out[i] == nil && item != nil {
				return nil
			}
		}
		return out
	}
	return v
}

func read(name string) (map[string]any, error) {
	b, err := source.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	var v map[string]any
	if err := json.Unmarshal(b, &v); err != nil {
		return nil, fmt.Errorf("openapi: %s: %w", name, err)
	}
	return v, nil
}

// gather joins the files of a folder. No member may be in two of them.
func gather(folder string) (map[string]any, error) {
	all := map[string]any{}
	files, err := fs.Glob(source, folder+"/*.json")
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	for _, name := range files {
		part, err := read(name)
		if err != nil {
			return nil, err
		}
		for member := range part {
			if _, twice := all[member]; twice {
				return nil, fmt.Errorf("openapi: %s: %s is described twice", name, member)
			}
		}
		maps.Copy(all, part)
	}
	return all, nil
}
