package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/policy/mcpguard"
)

// Proxy serves the tools, resources and prompts of the server behind remote to the one client behind local, until the
// client leaves or ctx ends. Progress, cancellation and failures pass through unchanged.
func Proxy(ctx context.Context, remote, local sdk.Transport, version string) error {
	p := &proxy{waiting: map[string]*listener{}}
	about := &sdk.Implementation{Name: "airlock", Title: "Airlock", Version: version}
	client := sdk.NewClient(about, &sdk.ClientOptions{ProgressNotificationHandler: p.progressed})
	mcpguard.Client(client)
	session, err := client.Connect(ctx, remote, nil)
	if err != nil {
		return fmt.Errorf("connect to the gateway: %w", err)
	}
	defer func() { _ = session.Close() }() // the gateway ends sessions by itself
	p.session = session
	caps := &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}
	if has := session.InitializeResult().Capabilities; has != nil && has.Resources != nil {
		caps.Resources, caps.Prompts = &sdk.ResourceCapabilities{}, &sdk.PromptCapabilities{}
	}
	server := sdk.NewServer(about, &sdk.ServerOptions{Instructions: instructions, Capabilities: caps})
	if caps.Resources != nil {
		server.AddReceivingMiddleware(p.offering)
	}
	if err := p.tools(ctx, server); err != nil {
		return fmt.Errorf("list the gateway's tools: %w", err)
	}
	if err := server.Run(ctx, local); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve the model context protocol: %w", err)
	}
	return nil
}

const (
	maxToolPages = 50   // of the gateway's list of tools
	maxTools     = 2000 // of the gateway: its own, and those of attached servers
)

// tools makes server offer the tools of the gateway.
func (p *proxy) tools(ctx context.Context, server *sdk.Server) error {
	params, n := &sdk.ListToolsParams{}, 0
	for range maxToolPages {
		page, err := p.session.ListTools(ctx, params)
		if err != nil {
			return err
		}
		for _, tool := range page.Tools {
			if n++; n > maxTools {
				return fmt.Errorf("there are more than %d tools", maxTools)
			}
			if err := p.add(server, tool); err != nil {
				return err
			}
		}
		if page.NextCursor == "" {
			return nil
		}
		params.Cursor = page.NextCursor
	}
	return fmt.Errorf("the list has more than %d pages", maxToolPages)
}

// add makes server offer a tool. The SDK panics at a tool without an input schema, or whose schema is not of an object.
func (p *proxy) add(server *sdk.Server, tool *sdk.Tool) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("a tool cannot be offered: %v", r)
		}
	}()
	server.AddTool(tool, p.call)
	return nil
}

// proxy passes calls on. Its own progress tokens stand for the clients'.
type proxy struct {
	session *sdk.ClientSession
	tokens  atomic.Int64

	mu      sync.Mutex
	waiting map[string]*listener
}

// listener is a call whose client asked for progress.
type listener struct {
	tell func(*sdk.ProgressNotificationParams)
	told chan struct{} // one for each notification that was passed on
}

// lateProgress is how long the proxy waits for the next notification that was sent before a result and is handled
// after it.
const lateProgress = 5 * time.Second

func (p *proxy) call(ctx context.Context, request *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	arguments := request.Params.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	params := &sdk.CallToolParams{Name: request.Params.Name, Arguments: arguments}
	token := request.Params.GetProgressToken()
	if token == nil {
		return p.session.CallTool(ctx, params)
	}
	ours := "p" + strconv.FormatInt(p.tokens.Add(1), 10)
	params.SetProgressToken(ours)
	l := &listener{told: make(chan struct{}, maxProgress), tell: func(told *sdk.ProgressNotificationParams) {
		// If it cannot be sent, neither can the answer.
		_ = request.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
			ProgressToken: token, Progress: told.Progress, Total: told.Total, Message: told.Message,
		})
	}}
	p.mu.Lock()
	p.waiting[ours] = l
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.waiting, ours)
		p.mu.Unlock()
	}()
	result, err := p.session.CallTool(ctx, params)
	if err == nil {
		l.wait(ctx, result)
	}
	return result, err
}

// offering passes on what clients ask about resources and prompts.
func (p *proxy) offering(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
		switch params := given(request.GetParams()).(type) {
		case *sdk.ListResourcesParams:
			return p.session.ListResources(ctx, &sdk.ListResourcesParams{Cursor: params.Cursor})
		case *sdk.ListResourceTemplatesParams:
			return p.session.ListResourceTemplates(ctx, &sdk.ListResourceTemplatesParams{Cursor: params.Cursor})
		case *sdk.ReadResourceParams:
			return p.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: params.URI})
		case *sdk.ListPromptsParams:
			return p.session.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: params.Cursor})
		case *sdk.GetPromptParams:
			return p.session.GetPrompt(ctx, &sdk.GetPromptParams{Name: params.Name, Arguments: params.Arguments})
		}
		return next(ctx, method, request)
	}
}

// maxProgress is more than the number of logs of one execution.
const maxProgress = 1 << 16

// wait passes on what the server sent before the result.
func (l *listener) wait(ctx context.Context, result *sdk.CallToolResult) {
	sent, _ := result.Meta[progressMeta].(float64)
	enough := time.NewTimer(lateProgress)
	defer enough.Stop()
	for range min(int(sent), maxProgress) {
		select {
		case <-l.told:
			enough.Reset(lateProgress)
		case <-ctx.Done():
			return
		case <-enough.C:
			return
		}
	}
}

func (p *proxy) progressed(_ context.Context, n *sdk.ProgressNotificationClientRequest) {
	token, ok := n.Params.ProgressToken.(string)
	if !ok {
		return
	}
	p.mu.Lock()
	l := p.waiting[token]
	p.mu.Unlock()
	if l == nil {
		return
	}
	l.tell(n.Params)
	select {
	case l.told <- struct{}{}:
	default:
	}
}
