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

// Whatever the name of a tool, a namespace or a parameter, and whatever a description says, the file only declares:
// it compiles to no JavaScript at all.
func TestNamesDoNotInject(t *testing.T) {
	for _, name := range []string{
		`'`, `"`, "`", `\`, "${hit()}", "*/ hit(); /*", "*/ }; hit(); declare const x: {", "}; hit(); //",
		"(): void }; hit(); ({ a", "//", "\nhit()\n", "\rhit()\r", "\u2028hit()", "\u2029hit()",
		"\x00", "\x07", "\u202e", "\ufeff", "\U000e0041", "a b", "a-b", "0", "", "__proto__", "constructor", "new", "delete",
		"get x", "readonly", "[Symbol.iterator]", "a?", "a: any; hit(); b", "<T>", "//# sourceMappingURL=x",
		"/// <reference path='x' />", "@ts-ignore",
	} {
		quoted, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		schema := json.RawMessage(
			fmt.Sprintf(
				`{"type":"object","description":%[1]s,"properties":{%[1]s:{"description":%[1]s,`+
					`"enum":[%[1]s,[%[1]s],{%[1]s:1}]},"b":{"const":%[1]s},"c":{"$ref":%[1]s},"d":{"type":%[1]s},`+
					`"e":{"format":%[1]s,"pattern":%[1]s}},"required":[%[1]s],"patternProperties":{%[1]s:{"const":%[1]s}}}`,
				quoted,
			),
		)
		for _, tool := range []execution.Tool{
			{Name: "n:" + name}, {Name: name + ":m"}, {Name: name + "." + name}, {Name: "n" + name},
			{Name: "n:m", Description: name}, {Name: "n:m", Description: "a\n" + name + "\n" + name},
			{Name: "n:m", InputSchema: schema}, {Name: "n:m", OutputSchema: schema},
			{Name: "n:" + name, Description: name, InputSchema: schema, OutputSchema: schema},
		} {
			if namespace, _ := execution.ToolGlobal(tool.Name); namespace == "" || namespace[0] >= '0' &&
				namespace[0] <= '9' || namespace == "new" || namespace == "delete" {
				continue // such a tool is refused before it is declared (package toolname)
			}
			text := declarations.For([]execution.Tool{tool, {Name: "last:one"}})
			out := api.Transform(text, api.TransformOptions{Loader: api.LoaderTS, LogLevel: api.LogLevelSilent})
			if len(out.Errors) > 0 || strings.TrimSpace(string(out.Code)) != "" {
				t.Errorf("%q of %+v: %v\n%s", name, tool, out.Errors, out.Code)
			}
			if !strings.HasSuffix(text, "declare const last: {\n  one(params?: any): Promise<any>;\n};\n") {
				t.Errorf("%q of %+v hides what is declared next", name, tool)
			}
		}
	}
}
