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
		{Name: "weather:get", Description: "Today's weather.\nSays */ so.", InputSchema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string","description":"where"},"days":{"type":"integer"},"unit":{"enum":["c","f"]},"x-y":{"type":["string","null"]}},"required":["city"],"additionalProperties":false}`), OutputSchema: json.RawMessage(`{"type":"array","items":{"$ref":"#/$defs/day"},"$defs":{"day":{"type":"object","properties":{"high":{"type":"number"}},"required":["high"]}}}`)},
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

// TestHostileSchemas: whatever a schema says, the declarations are TypeScript.
func TestHostileSchemas(t *testing.T) {
	wide := `{"type":"object","properties":{`
	for i := range 2000 {
		wide += fmt.Sprintf(`"p%d":{"type":"string"},`, i)
	}
	for _, schema := range []string{
		`true`, `false`, `{}`, `7`, `{"$ref":"#"}`, `{"type":"object","properties":{"x":{"$ref":"#"},"y":{"$ref":"#"}}}`, `{"$ref":"https://x/y"}`,
		`{"type":"object","properties":{"a\"b\n*/ }; evil":{"description":"*/ } \u2028 x"}}}`, `{"const":"\u2028*/"}`, `{"enum":[{"a":1},[1],null,true,1e5]}`,
		`{"anyOf":[{"type":"string"},{"type":"number"}]}`, `{"allOf":[{"type":"object","properties":{"a":{}}},{"type":"object"}]}`, `{"type":"array","prefixItems":[{"type":"string"},{}]}`,
		strings.TrimSuffix(wide, ",") + "}}", strings.Repeat(`{"type":"array","items":`, 50) + "{}" + strings.Repeat("}", 50),
	} {
		text := declarations.For([]execution.Tool{{Name: "a:b", Description: "x\u2028*/", InputSchema: json.RawMessage(schema), OutputSchema: json.RawMessage(schema)}})
		if out := api.Transform(text, api.TransformOptions{Loader: api.LoaderTS, LogLevel: api.LogLevelSilent}); len(out.Errors) > 0 {
			t.Errorf("%.80s: %s\n%.500s", schema, out.Errors[0].Text, text)
		}
		if len(text) > 64<<10 {
			t.Errorf("%.80s gives %d bytes", schema, len(text))
		}
	}
}
