package events

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// fields is a JSON object, parsed one level deep.
type fields map[string]jsontext.Value

// has reports whether every name is present, whatever its value.
func (f fields) has(names ...string) bool {
	for _, name := range names {
		if _, ok := f[name]; !ok {
			return false
		}
	}
	return true
}

// only reports whether the object has a name and none but the given ones.
func (f fields) only(names []string) bool {
	for name := range f {
		if !slices.Contains(names, name) {
			return false
		}
	}
	return len(f) > 0
}

// text returns a string field, or "" if it is absent or not a string.
func (f fields) text(name string) string {
	var s string
	if f[name].Kind() != jsontext.KindString || json.Unmarshal(f[name], &s) != nil {
		return ""
	}
	return s
}

// object returns an object field, or nil if it is absent or not an object.
func (f fields) object(name string) fields {
	var o fields
	if f[name].Kind() != jsontext.KindBeginObject || json.Unmarshal(f[name], &o) != nil {
		return nil
	}
	return o
}

// names returns the object's names for a message: sorted, quoted, and only a few.
func (f fields) names() string {
	if len(f) == 0 {
		return "no fields"
	}
	names := make([]string, 0, len(f))
	for name := range f {
		names = append(names, fmt.Sprintf("%q", clip(name)))
	}
	slices.Sort(names)
	const most = 5
	if len(names) > most {
		return fmt.Sprintf("the fields %s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	if len(names) == 1 {
		return "the field " + names[0]
	}
	return "the fields " + strings.Join(names, ", ")
}

// clip shortens text of an event to fit one line.
func clip(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

func kindName(kind jsontext.Kind) string {
	switch kind {
	case jsontext.KindBeginArray:
		return "array"
	case jsontext.KindString:
		return "string"
	case jsontext.KindNumber:
		return "number"
	case jsontext.KindNull:
		return "null"
	}
	return "boolean"
}

// jsonProblem returns a decoder's syntax error as one line for a caller.
func jsonProblem(err error) string {
	var syntax *jsontext.SyntacticError
	if !errors.As(err, &syntax) {
		return "is not a JSON object"
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return fmt.Sprintf("is not acceptable JSON: the name at %q is there twice", clip(string(syntax.JSONPointer)))
	}
	cause := strings.TrimPrefix(syntax.Err.Error(), "jsontext: ")
	return fmt.Sprintf("is not valid JSON: %s at byte %d", clip(cause), syntax.ByteOffset)
}
