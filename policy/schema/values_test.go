package schema_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/airlock-run/airlock/policy/schema"
)

// Values are compared as JSON Schema says: numbers by their value, objects whatever the order of their members is.
func TestComparisons(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		schema, value string
		good          bool
	}{
		{`{"enum":[1,"a",null,true,{"x":1,"y":[2]}]}`, `1.0`, true},
		{`{"enum":[1,"a",null,true,{"x":1,"y":[2]}]}`, `10e-1`, true},
		{`{"enum":[1,"a",null,true,{"x":1,"y":[2]}]}`, `"1"`, false},
		{`{"enum":[1,"a",null,true,{"x":1,"y":[2]}]}`, `{"y":[2.0],"x":1}`, true},
		{`{"enum":[1,"a",null,true,{"x":1,"y":[2]}]}`, `{"y":[2],"x":1,"z":0}`, false},
		{`{"enum":[1,"a",null,true,{"x":1,"y":[2]}]}`, `null`, true},
		{`{"enum":[1,"a",null,true,{"x":1,"y":[2]}]}`, `"null"`, false},
		{`{"enum":[1,"a",null,true,{"x":1,"y":[2]}]}`, `false`, false},
		{`{"enum":[]}`, `1`, false},
		{`{"const":["a,b"]}`, `["a","b"]`, false},
		{`{"const":["a,b"]}`, `["a,b"]`, true},
		{`{"const":{"a\":1,\"b":2}}`, `{"a":1,"b":2}`, false},
		{`{"const":null}`, `null`, true},
		{`{"const":null}`, `0`, false},
		{`{"uniqueItems":true}`, `[1,"1",true,null,[],{}]`, true},
		{`{"uniqueItems":true}`, `[1,2,1.00]`, false},
		{`{"uniqueItems":true}`, `[{"a":1,"b":2},{"b":2,"a":1}]`, false},
		{`{"uniqueItems":false}`, `[1,1]`, true},
		{`{"uniqueItems":true}`, `"aa"`, true},
		{`{"items":{"$ref":"#/$defs/a"},"$defs":{"a":{"enum":[1]}}}`, `[1,2]`, false},
		{`{"not":{"enum":[1]}}`, `1`, false},
		{`{"prefixItems":[{"const":1}],"items":{"enum":[2]},"contains":{"const":2}}`, `[1,2]`, true},
		{`{"prefixItems":[{"const":1}],"items":{"enum":[2]},"contains":{"const":2}}`, `[1,3]`, false},
		{`{"patternProperties":{"a":{"const":1}},"propertyNames":{"enum":["a"]}}`, `{"a":2}`, false},
		{`{"unevaluatedProperties":{"const":1},"anyOf":[{"const":0},{"type":"object"}]}`, `{"a":1}`, true},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":{"properties":{"b":{"const":1}}}},` +
			`"items":[{"const":1}],"additionalItems":{"const":2}}`, `[1,3]`, false},
		{`{"additionalProperties":{"const":1},"dependentSchemas":{"a":{"properties":{"b":{"const":1}}}}}`,
			`{"a":1,"b":1}`, true},
		{`{"if":{"const":1},"then":false,"else":{"enum":[2]}}`, `2`, true},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a","enum":[2],` +
			`"definitions":{"a":{"const":1}}}`, `1`, true},
		{`{"$dynamicAnchor":"n","items":{"$dynamicRef":"#n"},"enum":[[],[[]]]}`, `[[]]`, true},
		{`{"$dynamicAnchor":"n","items":{"$dynamicRef":"#n"},"enum":[[],[[]]]}`, `[[[]]]`, false},
	} {
		if err := schema.Fits(t.Context(), json.RawMessage(c.schema), json.RawMessage(c.value)); (err == nil) != c.good {
			t.Errorf("%s with %s: %v", c.schema, c.value, err)
		}
	}
}

// No schema of 64 KiB keeps a check busy with comparisons: some took minutes.
func TestComparisonsAreBounded(t *testing.T) {
	t.Parallel()
	list := func(text string, n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(text+",", n), ",") + "]"
	}
	var numbers []string
	for i := range 11_000 {
		numbers = append(numbers, fmt.Sprint(i))
	}
	all := "[" + strings.Join(numbers, ",") + "]"
	hidden := `{"$id":"a:b","$ref":"c","$defs":{"c":{"$id":"c","$dynamicRef":"#d","$defs":{"d":{"$dynamicAnchor":"d"}}},` +
		`"e":{"$dynamicAnchor":"d","items":{"enum":` + all + `}}}}`
	for name, c := range map[string][2]string{
		"numbers in an enum": {`{"items":{"enum":` + all + `}}`, list("-1", 20_000)},
		"objects in an enum": {`{"items":{"enum":` + list(`{"a":[1]}`, 6000) + `}}`, list(`{"a":[2]}`, 10_000)},
		"one list, often": {`{"$defs":{"a":{"const":` + list("1", 20_000) + `}},"allOf":` +
			list(`{"$ref":"#/$defs/a"}`, 700) + `}`, list("1", 20_000)},
		"unique, often":         {`{"allOf":` + list(`{"uniqueItems":true}`, 2000) + `}`, all},
		"found by a dynamicRef": {hidden, list("-1", 20_000)},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			began := time.Now()
			if err := schema.Fits(ctx, json.RawMessage(c[0]), json.RawMessage(c[1])); err == nil {
				t.Error("it fits")
			}
			if took := time.Since(began); took > 15*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}
