package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// handbook is a server with resources and a prompt, and no tools.
func handbook(t *testing.T) *httptest.Server {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "handbook", Version: "1"}, nil)
	page := func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{
			{URI: r.Params.URI, MIMEType: "text/plain", Text: "about " + r.Params.URI},
		}}, nil
	}
	s.AddResource(&sdk.Resource{URI: "book:///start", Name: "start", Description: "How to\u202e begin."}, page)
	s.AddResource(&sdk.Resource{URI: "book:///hidden\u202e", Name: "left out"}, page)
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "book:///pages/{name}", Name: "page"}, page)
	s.AddPrompt(
		&sdk.Prompt{Name: "greet", Description: "Greets.", Arguments: []*sdk.PromptArgument{{Name: "who", Required: true}}},
		func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			if r.Params.Arguments["who"] == "nobody" {
				return nil, errors.New("nobody is here")
			}
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{
				{Role: "user", Content: &sdk.TextContent{Text: "Greet\u202e " + r.Params.Arguments["who"]}},
			}}, nil
		})
	server := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server
}

// The resources and prompts of an attached server reach clients over each transport, and code.
func TestResourcesAndPrompts(t *testing.T) {
	t.Parallel()
	environment := []string{`MCP_SERVERS=[{"namespace":"book","url":"` + handbook(t).URL + `"}]`,
		"EGRESS_ALLOW=127.0.0.1", "RATE_LIMIT_MAX_REQUESTS=1000"}
	p := start(t, environment...)
	overHTTP, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: p.url + "/mcp"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = overHTTP.Close() })
	for name, session := range map[string]*sdk.ClientSession{
		"http": overHTTP, "stdio": agent(t, nil, environment), "proxy": agent(t, nil, nil, "--server", p.url),
	} {
		t.Run(name, func(t *testing.T) { readHandbook(t, session) })
	}
	sendIncomplete(t, p.url+"/mcp")
	for code, want := range map[string]any{
		`(await book.resources_list()).resources.length`:                                      2.0,
		`(await book.resources_read({uri: "book:///start"})).contents[0].text`:                "about book:///start",
		`(await book.resources_templates_list()).resourceTemplates[0].uriTemplate`:            "book:///pages/{name}",
		`(await book.prompts_list({})).prompts[0].name`:                                       "greet",
		`(await book.prompts_get({name: "greet", arguments: {who: "Ada"}})).messages[0].role`: "user",
		`await book.prompts_get({name: "greet", arguments: {who: "nobody"}}).catch(e => e.message)`: "tool " +
			"book:prompts/get: nobody is here",
		`await book.prompts_get({name: "greet", arguments: {who: 7}}).catch(e => e.name)`: "TypeError",
		`(await tools.search("read a resource"))[0].call`:                                 "book.resources_read",
	} {
		if _, v := p.post(t.Context(), t, "/api/execute", `{"code":`+quoted(code)+`}`); !gocmp.Equal(v["result"], want) {
			t.Errorf("%s: %v %v", code, v["result"], v["error"])
		}
	}
}

// sendIncomplete sends messages whose parameters are missing or wrong, in a session. Each has a response.
func sendIncomplete(t *testing.T, url string) {
	t.Helper()
	session := ""
	send := func(message string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(message))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			request.Header.Set("Mcp-Session-Id", session)
		}
		res, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(message, err)
		}
		defer res.Body.Close()
		if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode >= 500 {
			t.Error(message, res.StatusCode, err)
		}
		session = cmp.Or(session, res.Header.Get("Mcp-Session-Id"))
	}
	send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"test","version":"1"}}}`)
	send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for _, method := range []string{
		"resources/list", "resources/templates/list", "prompts/list", "resources/read", "prompts/get", "resources/subscribe",
	} {
		for _, params := range []string{"", `,"params":null`, `,"params":{}`, `,"params":[]`, `,"params":{"uri":7}`} {
			send(`{"jsonrpc":"2.0","id":2,"method":"` + method + `"` + params + `}`)
		}
	}
}

// readHandbook reads everything of the handbook.
func readHandbook(t *testing.T, session *sdk.ClientSession) {
	ctx := t.Context()
	resources, err := session.ListResources(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff([]*sdk.Resource{
		{URI: "airlock://book/book:///start", Name: "book:start", Description: `How to\u{202e} begin.`},
	}, resources.Resources); diff != "" {
		t.Error(diff)
	}
	templates, err := session.ListResourceTemplates(ctx, nil)
	if err != nil || len(templates.ResourceTemplates) != 1 ||
		templates.ResourceTemplates[0].URITemplate != "airlock://book/book:///pages/{name}" {
		t.Error(templates, err)
	}
	read, err := session.ReadResource(ctx, &sdk.ReadResourceParams{URI: "airlock://book/book:///pages/one"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff([]*sdk.ResourceContents{
		{URI: "airlock://book/book:///pages/one", MIMEType: "text/plain", Text: "about book:///pages/one"},
	}, read.Contents); diff != "" {
		t.Error(diff)
	}
	for _, uri := range []string{"airlock://none/book:///start", "book:///start", "airlock://book/book:///none"} {
		if _, err := session.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri}); err == nil ||
			!strings.Contains(err.Error(), "not found") {
			t.Errorf("%s: %v", uri, err)
		}
	}
	prompts, err := session.ListPrompts(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff([]*sdk.Prompt{
		{Name: "book:greet", Description: "Greets.", Arguments: []*sdk.PromptArgument{{Name: "who", Required: true}}},
	}, prompts.Prompts); diff != "" {
		t.Error(diff)
	}
	filled, err := session.GetPrompt(ctx, &sdk.GetPromptParams{
		Name: "book:greet", Arguments: map[string]string{"who": "Ada"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff([]*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: `Greet\u{202e} Ada`}}},
		filled.Messages); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{
		"book:greet": "nobody is here", "book:none": "none", "none:greet": "no prompt",
	} {
		params := &sdk.GetPromptParams{Name: name, Arguments: map[string]string{"who": "nobody"}}
		if _, err := session.GetPrompt(ctx, params); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := session.ListResources(ctx, &sdk.ListResourcesParams{Cursor: "-1"}); err == nil {
		t.Error("an invented cursor was taken")
	}
}

// A server and a client of the official SDK in npm, over each transport.
func TestResourcesOfNPMServer(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	modules, err := filepath.Abs(filepath.Join(repository, "gateway/client/typescript/node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(modules, "@modelcontextprotocol/sdk")); err != nil {
		t.Skip("the SDK is not installed; make clients installs it")
	}
	published, err := filepath.Abs(filepath.Join(repository, "gateway/client/published"))
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, fmt.Sprintf(`MCP_SERVERS=[{"namespace":"notes","command":%q,"args":[%q],"env":["MCP_MODULES"]}]`, node,
		filepath.Join(published, "mcp-server.mjs")), "MCP_MODULES="+modules, "RATE_LIMIT_MAX_REQUESTS=1000",
		"PATH="+os.Getenv("PATH"))
	cmd := exec.CommandContext(t.Context(), node, filepath.Join(published, "mcp-client.mjs"))
	cmd.Env = []string{"AIRLOCK_TEST_AS_PROGRAM=1", "AIRLOCK_PROGRAM=" + os.Args[0], "AIRLOCK_URL=" + p.url,
		"MCP_MODULES=" + modules, "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
