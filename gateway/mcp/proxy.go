package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Proxy serves the tools of the server behind remote to the one client behind local, until that leaves or ctx ends.
// Progress, cancellation and failures pass through as they are.
func Proxy(ctx context.Context, remote, local sdk.Transport, version string) error {
	p := &proxy{waiting: map[string]func(*sdk.ProgressNotificationParams){}}
	about := &sdk.Implementation{Name: "airlock", Title: "Airlock", Version: version}
	client := sdk.NewClient(about, &sdk.ClientOptions{ProgressNotificationHandler: p.progressed})
	session, err := client.Connect(ctx, remote, nil)
	if err != nil {
		return fmt.Errorf("connect to the gateway: %w", err)
	}
	defer func() { _ = session.Close() }() // the gateway forgets a session by itself
	p.session = session
	server := sdk.NewServer(about, &sdk.ServerOptions{Instructions: instructions, Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}})
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return fmt.Errorf("list the gateway's tools: %w", err)
		}
		server.AddTool(tool, p.call)
	}
	if err := server.Run(ctx, local); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve the model context protocol: %w", err)
	}
	return nil
}

// proxy passes calls on. Its own progress tokens stand for the clients'.
type proxy struct {
	session *sdk.ClientSession
	tokens  atomic.Int64

	mu      sync.Mutex
	waiting map[string]func(*sdk.ProgressNotificationParams)
}

func (p *proxy) call(ctx context.Context, request *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	arguments := request.Params.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	params := &sdk.CallToolParams{Name: request.Params.Name, Arguments: arguments}
	if token := request.Params.GetProgressToken(); token != nil {
		ours := "p" + strconv.FormatInt(p.tokens.Add(1), 10)
		params.SetProgressToken(ours)
		p.mu.Lock()
		p.waiting[ours] = func(told *sdk.ProgressNotificationParams) {
			// When it cannot be told, its answer cannot either.
			_ = request.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
				ProgressToken: token, Progress: told.Progress, Total: told.Total, Message: told.Message,
			})
		}
		p.mu.Unlock()
		defer func() {
			p.mu.Lock()
			delete(p.waiting, ours)
			p.mu.Unlock()
		}()
	}
	return p.session.CallTool(ctx, params)
}

func (p *proxy) progressed(_ context.Context, n *sdk.ProgressNotificationClientRequest) {
	token, ok := n.Params.ProgressToken.(string)
	if !ok {
		return
	}
	p.mu.Lock()
	tell := p.waiting[token]
	p.mu.Unlock()
	if tell != nil {
		tell(n.Params)
	}
}
