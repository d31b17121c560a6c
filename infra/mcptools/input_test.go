package mcptools_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/infra/mcptools"
)

// serveAsking returns the URL of a server whose tool, resource and prompt need input.
func serveAsking(t *testing.T, asked sdk.InputRequestMap) string {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "upstream", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "pay", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{InputRequests: asked, RequestState: "s"}, nil
		})
	s.AddResource(&sdk.Resource{Name: "r", URI: "file:///r"},
		func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{InputRequests: asked}, nil
		})
	s.AddPrompt(&sdk.Prompt{Name: "p"}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{InputRequests: asked}, nil
	})
	get := func(*http.Request) *sdk.Server { return s }
	served := httptest.NewServer(sdk.NewStreamableHTTPHandler(get, &sdk.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(served.Close)
	return served.URL
}

func TestServerAsksForInput(t *testing.T) {
	t.Parallel()
	form := func(message string) *sdk.ElicitParams {
		return &sdk.ElicitParams{Mode: "form", Message: message, RequestedSchema: map[string]any{"type": "object"}}
	}
	const cannot = "crm asked for input, which this execution cannot wait for: "
	for _, c := range []struct {
		name  string
		asked sdk.InputRequestMap
		want  string
	}{
		{"a form", sdk.InputRequestMap{"a": form("Which account?")}, cannot + "Which account?"},
		{"two forms", sdk.InputRequestMap{"a": form("When?"), "b": form("How much?")}, cannot + "How much?; When?"},
		{"the secret", sdk.InputRequestMap{"a": form("Is it " + token + "?")}, cannot + "Is it [secret]?"},
		{"invisible characters", sdk.InputRequestMap{"a": form("a\u202eb")}, cannot + `a\u{202e}b`},
		{
			"something else", sdk.InputRequestMap{"a": &sdk.ListRootsParams{}}, //lint:ignore SA1019 servers still use it
			cannot + "it wants more than a form can ask for",
		},
		{"nothing", sdk.InputRequestMap{}, "crm is busy: call it again later"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url := serveAsking(t, c.asked)
			list, err := mcptools.Parse([]byte(`[{"namespace":"crm","url":"` + url + `","secret":"TOKEN"}]`))
			if err != nil {
				t.Fatal(err)
			}
			e := mcptools.New(list, func(string) string { return token }).Begin()
			defer e.Close()
			for tool, params := range map[string]string{
				"crm:pay": `{}`, "crm:resources/read": `{"uri":"file:///r"}`, "crm:prompts/get": `{"name":"p"}`,
			} {
				over, _, _ := e.Tool(tool)
				out, err := over(http.DefaultTransport)(t.Context(), json.RawMessage(params))
				if err == nil || err.Error() != c.want {
					t.Errorf("%s: got %s and %v, want %s", tool, out, err, c.want)
				}
			}
		})
	}
}
