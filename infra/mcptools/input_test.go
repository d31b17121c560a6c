package mcptools_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/infra/mcptools"
	"github.com/airlock-run/airlock/policy/toolinput"
)

// serveAsking returns the URL of a server whose tool, resource and prompt need input.
func serveAsking(t *testing.T, asked sdk.InputRequestMap, state string) string {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "upstream", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "pay", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{InputRequests: asked, RequestState: state}, nil
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
			url := serveAsking(t, c.asked, "s")
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

// The form that a person sees has no secret and is bounded, and there is one form for all questions.
func TestHostileForms(t *testing.T) {
	t.Parallel()
	form := func(message string, schema any) sdk.InputRequestMap {
		return sdk.InputRequestMap{"__proto__": &sdk.ElicitParams{Mode: "form", Message: message, RequestedSchema: schema}}
	}
	object := map[string]any{"type": "object"}
	for _, c := range []struct {
		name          string
		asked         sdk.InputRequestMap
		state         string
		detail, wrong string // the refusal; "" if the person is asked
	}{
		{"markup", form("<img src=x onerror=alert(1)>", object), "s", "<img src=x onerror=alert(1)>", ""},
		{"invisible characters", form("a\u202eb\x1b[2J", object), "s", `a\u{202e}b\u{1b}[2J`, ""},
		{"the secret in the question", form("Is it "+token+"?", object), "s", "Is it [secret]?", ""},
		{
			"the secret in the schema", form("q", map[string]any{"type": "object", "title": token, "description": "a" + token}),
			"s", "q", "",
		},
		{"the secret in the state", form("q", object), "x" + token, "", "with its secret in the state"},
		{
			"the secret in a key",
			sdk.InputRequestMap{token: form("1", object)["__proto__"], "b": form("2", object)["__proto__"]},
			"s", "", "with its secret in the state",
		},
		{
			"a page", sdk.InputRequestMap{"a": &sdk.ElicitParams{
				Mode: "url", Message: "Log in", URL: "https://evil.example", ElicitationID: "1",
			}}, "s", "", "cannot wait for: Log in",
		},
		{
			"two forms", sdk.InputRequestMap{"a": form("1", object)["__proto__"], "b": form("2", object)["__proto__"]},
			"s", "a: 1\nb: 2", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url := serveAsking(t, c.asked, c.state)
			list, err := mcptools.Parse([]byte(`[{"namespace":"crm","url":"` + url + `","secret":"TOKEN"}]`))
			if err != nil {
				t.Fatal(err)
			}
			e := mcptools.New(list, func(string) string { return token }).Begin()
			defer e.Close()
			over, _, _ := e.Tool("crm:pay")
			ctx := toolinput.With(t.Context(), toolinput.Round{})
			_, err = over(http.DefaultTransport)(ctx, json.RawMessage(`{}`))
			request := (*toolinput.Request)(nil)
			if asked := errors.As(err, &request); asked != (c.wrong == "") {
				t.Fatalf("got %v, want %q", err, c.wrong)
			}
			if request == nil {
				if !strings.Contains(err.Error(), c.wrong) || strings.Contains(err.Error(), token) {
					t.Errorf("got %v, want %q", err, c.wrong)
				}
				return
			}
			if request.Detail != c.detail || request.Title != "crm:pay asks for input" {
				t.Errorf("asks %q: %q, want %q", request.Title, request.Detail, c.detail)
			}
			if strings.Contains(string(request.Schema)+string(request.State), token) {
				t.Errorf("shows the secret: %s %s", request.Schema, request.State)
			}
		})
	}
}
