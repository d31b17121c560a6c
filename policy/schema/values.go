package schema

import (
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// A step counts the applications of a schema object to values. It also does the comparisons of the object: enum, const
// and uniqueItems. The library compares each value with each other one, which is not charged: 20,000 numbers with an
// enum of 11,000 take it three minutes.
type step struct {
	of       *Schema
	enum     []any
	among    map[string]bool // the keys of enum
	constant *any
	only     string // the key of constant
	unique   bool
}

// Validate implements jsonschema.SchemaExt.
func (s *step) Validate(ctx *jsonschema.ValidatorContext, value any) {
	s.of.charge(1)
	if text, ok := value.(string); ok {
		s.of.charge(len(text) / 200) // its characters may be counted
	}
	if s.among != nil || s.constant != nil {
		key := s.of.key(value)
		if s.constant != nil && key != s.only {
			ctx.AddError(&kind.Const{Got: value, Want: *s.constant})
		}
		if s.among != nil && !s.among[key] {
			ctx.AddError(&kind.Enum{Got: value, Want: s.enum})
		}
	}
	list, ok := value.([]any)
	if !s.unique || !ok {
		return
	}
	first := make(map[string]int, len(list))
	for i, entry := range list {
		key := s.of.key(entry)
		if j, twice := first[key]; twice {
			ctx.AddError(&kind.UniqueItems{Duplicates: [2]int{j, i}})
			return
		}
		first[key] = i
	}
}

// key returns a text that equal values have in common, and no others. It is charged.
func (s *Schema) key(value any) string {
	var b strings.Builder
	s.writeKey(&b, value)
	return b.String()
}

func (s *Schema) writeKey(b *strings.Builder, value any) {
	s.charge(1)
	switch v := value.(type) {
	case json.Number:
		number, ok := new(big.Rat).SetString(v.String())
		if !ok {
			number = new(big.Rat)
		}
		b.WriteString(number.RatString())
	case string:
		s.charge(len(v) / 1000)
		b.WriteString(strconv.Quote(v))
	case []any:
		b.WriteByte('[')
		for _, entry := range v {
			s.writeKey(b, entry)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case map[string]any:
		b.WriteByte('{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			b.WriteString(strconv.Quote(name))
			s.writeKey(b, v[name])
		}
		b.WriteByte('}')
	case bool:
		b.WriteString(strconv.FormatBool(v))
	default:
		b.WriteString("null")
	}
}

// takeOver moves the comparisons of the compiled schema to its steps.
func (s *Schema) takeOver() error {
	seen := map[*jsonschema.Schema]bool{}
	var walk func(*jsonschema.Schema)
	walk = func(object *jsonschema.Schema) {
		if object != nil && !seen[object] {
			seen[object] = true
			s.move(object)
			parts(object, walk)
		}
	}
	walk(s.compiled)
	if s.steps > 0 {
		return errors.New("a part of it is found by $dynamicRef or $recursiveRef only, which is not accepted")
	}
	return nil
}

// parts visits the schemas that a schema object refers to.
func parts(o *jsonschema.Schema, visit func(*jsonschema.Schema)) {
	for _, one := range [...]*jsonschema.Schema{
		o.Ref, o.RecursiveRef, o.Not, o.If, o.Then, o.Else, o.PropertyNames, o.UnevaluatedProperties, o.Contains,
		o.Items2020, o.UnevaluatedItems, o.ContentSchema,
	} {
		visit(one)
	}
	if o.DynamicRef != nil {
		visit(o.DynamicRef.Ref)
	}
	for _, list := range [...][]*jsonschema.Schema{o.AllOf, o.AnyOf, o.OneOf, o.PrefixItems} {
		for _, one := range list {
			visit(one)
		}
	}
	for _, members := range [...]map[string]*jsonschema.Schema{o.Properties, o.DependentSchemas} {
		for _, one := range members {
			visit(one)
		}
	}
	for _, one := range o.PatternProperties {
		visit(one)
	}
	some := func(value any) {
		switch v := value.(type) {
		case *jsonschema.Schema:
			visit(v)
		case []*jsonschema.Schema:
			for _, one := range v {
				visit(one)
			}
		}
	}
	some(o.AdditionalProperties)
	some(o.Items)
	some(o.AdditionalItems)
	for _, value := range o.Dependencies {
		some(value)
	}
}

// move moves the comparisons of a schema object to its step.
func (s *Schema) move(object *jsonschema.Schema) {
	for _, extension := range object.Extensions {
		own, ok := extension.(*step)
		if !ok {
			continue
		}
		s.steps--
		if object.Enum != nil {
			own.enum, own.among = object.Enum.Values, map[string]bool{}
			for _, value := range own.enum {
				own.among[s.key(value)] = true
			}
		}
		if object.Const != nil {
			own.constant, own.only = object.Const, s.key(*object.Const)
		}
		own.unique = object.UniqueItems
		object.Enum, object.Const, object.UniqueItems = nil, nil, false
	}
}
