package declarations_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/declarations"
)

func TestTools(t *testing.T) {
	got := declarations.Tools([]execution.Tool{
		{
			Name: "weather:get", Description: "Today's weather.\nSays */ so.",
			InputSchema: json.RawMessage(
				`{"type":"object","properties":{"city":{"type":"string","description":"where"},"days":{"type":"integer"},` +
					`"unit":{"enum":["c","f"]},"x-y":{"type":["string","null"]}},"required":["city"],"additionalProperties":false}`,
			),
			OutputSchema: json.RawMessage(
				`{"type":"array","items":{"$ref":"#/$defs/day"},"$defs":{"day":{"type":"object",` +
					`"properties":{"high":{"type":"number"}},"required":["high"]}}}`,
			),
		},
		{Name: "weather.delete"},
		{Name: "search", InputSchema: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}}}`)},
	})
	want := `declare const weather: {
  /**
   * Today's weather.
   * Says * / so.
   */
  get(params: {
    /** where */
    city: string;
    days?: number;
    unit?: "c" | "f";
    "x-y"?: null | string;
  }): Promise<{
    high: number;
  }[]>;
  delete(params?: any): Promise<any>;
};

declare const search: {
  call(params?: {
    q?: string;
  }): Promise<any>;
};
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Whatever a schema says, the declarations are valid TypeScript.
func TestHostileSchemas(t *testing.T) {
	wide := `{"type":"object","properties":{`
	for i := range 2000 {
		wide += fmt.Sprintf(`"p%d":{"type":"string"},`, i)
	}
	for _, schema := range []string{
		`true`, `false`, `{}`, `7`, `{"$ref":"#"}`, `{"type":"object","properties":{"x":{"$ref":"#"},"y":{"$ref":"#"}}}`,
		`{"$ref":"https://x/y"}`,
		`{"type":"object","properties":{"a\"b\n*/ }; evil":{"description":"*/ } \u2028 x"}}}`, `{"const":"\u2028*/"}`,
		`{"enum":[{"a":1},[1],null,true,1e5]}`,
		`{"anyOf":[{"type":"string"},{"type":"number"}]}`,
		`{"allOf":[{"type":"object","properties":{"a":{}}},{"type":"object"}]}`,
		`{"type":"array","prefixItems":[{"type":"string"},{}]}`,
		strings.TrimSuffix(wide, ",") + "}}", strings.Repeat(`{"type":"array","items":`, 50) + "{}" + strings.Repeat("}", 50),
	} {
		text := declarations.For(
			[]execution.Tool{
				{
					Name: "a:b", Description: "x\u2028*/", InputSchema: json.RawMessage(schema), OutputSchema: json.RawMessage(schema),
				},
			},
		)
		if out := api.Transform(
			text, api.TransformOptions{Loader: api.LoaderTS, LogLevel: api.LogLevelSilent},
		); len(out.Errors) > 0 {
			t.Errorf("%.80s: %s\n%.500s", schema, out.Errors[0].Text, text)
		}
		if len(text) > 64<<10 {
			t.Errorf("%.80s gives %d bytes", schema, len(text))
		}
	}
}

// Characters that a reader would not see, or would see elsewhere, are escaped wherever a server puts them.
func TestInvisibleCharacters(t *testing.T) {
	const evil = "safe\u202e\u2066\u200b\U000e0041\x1b[2J\u2028\u0085end"
	quoted, err := json.Marshal(evil)
	if err != nil {
		t.Fatal(err)
	}
	schema := json.RawMessage(
		fmt.Sprintf(
			`{"type":"object","description":%[1]s,"properties":{%[1]s:{"description":%[1]s,"enum":[%[1]s,{%[1]s:%[1]s}]}},`+
				`"required":[%[1]s]}`,
			quoted,
		),
	)
	text := declarations.For([]execution.Tool{{Name: "a:b", Description: evil, InputSchema: schema, OutputSchema: schema}})
	if strings.ContainsAny(text, "\u202e\u2066\u200b\U000e0041\x1b\u2028\u0085") ||
		!strings.Contains(text, `safe\u{202e}`) || !strings.Contains(text, `"safe\u202e`) {
		t.Errorf("%q", text[len(declarations.Globals()):])
	}
	if out := api.Transform(
		text, api.TransformOptions{Loader: api.LoaderTS, LogLevel: api.LogLevelSilent},
	); len(out.Errors) > 0 {
		t.Error(out.Errors[0].Text)
	}
}

// A type accepts every value that its schema accepts, and excludes as much more as a type can.
func TestTypes(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{
			`{"type":"array","items":{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"string"}]}}`,
			"({\n    a?: string;\n  } | string)[]",
		},
		{`{"type":"array","items":{"enum":["a","b"]}}`, `("a" | "b")[]`},
		{`{"type":"array","items":{"type":["integer","null"]}}`, "(number | null)[]"},
		{`{"type":"array"}`, "any[]"},
		{`{"items":{"type":"boolean"}}`, "boolean[]"},
		{
			`{"type":"array","prefixItems":[{"type":"string"},{"type":["number","null"]}],"items":false,"minItems":1}`,
			"[string, (null | number)?]",
		},
		{`{"type":"array","prefixItems":[{"type":"string"}],"minItems":1}`, "[string, ...any[]]"},
		{`{"type":"array","items":[{"type":"string"}],"additionalItems":{"type":"number"}}`, "[string?, ...number[]]"},
		{`{"allOf":[{"type":"string"},{"enum":["a | b","c"]}]}`, `string & ("a | b" | "c")`},
		{`{"allOf":[{"anyOf":[{"const":1},{"const":2}]},{"type":"number"}]}`, "(1 | 2) & number"},
		{`{"anyOf":[{"allOf":[{"const":1},{"type":"number"}]},{"const":"x"}]}`, `1 & number | "x"`},
		{
			`{"type":"object","properties":{"a":{"type":"string"}},"oneOf":[{"required":["a"]},{"required":["b"]}]}`,
			"{\n    a?: string;\n  } & ({\n    a: any;\n  } | {\n    b: any;\n  })",
		},
		{`{"anyOf":[{"type":"string"},{}]}`, "any"},
		{`{"oneOf":[{"type":"string"},{"type":"string","minLength":3}]}`, "string"},
		{`{"$ref":"#/$defs/a%20b","$defs":{"a b":{"type":"string"}}}`, "string"},
		{`{"$ref":"#/definitions/x~1y","definitions":{"x/y":{"const":null}}}`, "null"},
		{`{"$ref":"#missing"}`, "any"},
		{`{"type":"object","additionalProperties":{"type":"number"}}`, "{ [name: string]: number }"},
		{`{"type":"object","additionalProperties":false}`, "{ [name: string]: never }"},
		{
			`{"type":"object","patternProperties":{"^x":{"type":"string"}},"additionalProperties":false}`,
			"{ [name: string]: string }",
		},
		{`{"type":"object","patternProperties":{"^x":{"type":"string"}}}`, "{ [name: string]: any }"},
		{`{"type":"object","required":["a"]}`, "{\n    a: any;\n  }"},
		{`{"const":{"a":[1,"x",null],"b":{}}}`, `{ a: [1, "x", null]; b: { [name: string]: never } }`},
		{`{"enum":[1e400,true,-1.5]}`, "number | true | -1.5"},
		{`{"type":["object","array"]}`, "any[] | { [name: string]: any }"},
		{`{"type":"object","properties":{"a":false,"b":true}}`, "{\n    a?: never;\n    b?: any;\n  }"},
	} {
		got := declarations.Tools(
			[]execution.Tool{
				{Name: "n:m", InputSchema: json.RawMessage(`{"required":["x"]}`), OutputSchema: json.RawMessage(c.schema)},
			},
		)
		_, got, _ = strings.Cut(got, "): Promise<")
		if got = strings.TrimSuffix(got, ">;\n};\n"); got != c.want {
			t.Errorf("%s\ngives %s\nwant  %s", c.schema, got, c.want)
		}
	}
}

// Whatever a tool's schemas and description are, the output is TypeScript, of a bounded size, and always the same.
func FuzzSchema(f *testing.F) {
	for _, s := range []string{`{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"]}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"enum":["x",1,{"y":[2]}]}}}`,
		`{"type":"array","prefixItems":[{"const":"*/"}],"items":{"anyOf":[true,false]}}`,
		`{"allOf":[{"type":"object","additionalProperties":{"type":"number"}},{"$ref":"#"}]}`, `[`, `"x"`} {
		f.Add(s, "what */ it does")
	}
	f.Fuzz(func(t *testing.T, schema, description string) {
		tools := []execution.Tool{
			{
				Name: "name:space", Description: description, InputSchema: json.RawMessage(schema),
				OutputSchema: json.RawMessage(schema),
			},
		}
		text := declarations.For(tools)
		if len(text) > 256<<10+2*len(description)+16*len(schema) {
			t.Fatalf("%d bytes of a schema of %d", len(text), len(schema))
		}
		if text != declarations.For(tools) {
			t.Fatal("another text the second time")
		}
		if out := api.Transform(
			text, api.TransformOptions{Loader: api.LoaderTS, LogLevel: api.LogLevelSilent},
		); len(out.Errors) > 0 {
			t.Fatalf("%s: %s", out.Errors[0].Text, text[len(declarations.Globals()):])
		}
	})
}

// The declarations name what an execution has, including fetch and its types.
func TestGlobals(t *testing.T) {
	for _, name := range []string{
		"input", "output", "console", "fetch", "api", "secrets", "require", "crypto", "AbortSignal", "Response",
	} {
		if !strings.Contains(declarations.Globals(), " "+name) {
			t.Errorf("%s is not declared", name)
		}
	}
}

// References that lead to large parts of a schema again and again take no more time than one of them.
func TestRepeatedReferences(t *testing.T) {
	var chain, wide strings.Builder
	for i := range 700 {
		fmt.Fprintf(&chain, `"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]},`, i, i+1, i+1)
		fmt.Fprintf(&wide, `"p%d":{"$ref":"#"},`, i)
	}
	for name, schema := range map[string]string{
		"a chain":  `{"$defs":{` + chain.String() + `"a700":{}},"$ref":"#/$defs/a0"}`,
		"the root": `{"properties":{` + wide.String() + `"q":{}},"$comment":"` + strings.Repeat("x", 40_000) + `"}`,
		"another part": `{"$defs":{"b":{"properties":{` + strings.ReplaceAll(wide.String(), "#", "#/$defs/b") +
			`"q":{}}}},"$ref":"#/$defs/b"}`,
	} {
		tools := []execution.Tool{{Name: "a:b", InputSchema: json.RawMessage(schema)}}
		allocated := testing.AllocsPerRun(1, func() { declarations.Tools(tools) })
		if allocated > 20_000 {
			t.Errorf("%s: %v allocations", name, allocated)
		}
	}
}
