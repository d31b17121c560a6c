package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/functions/execution"
)

const (
	every    = time.Minute // between two looks at a server's tools
	listing  = 10 * time.Second
	maxTools = 1000     // of one server
	maxText  = 4096     // bytes of a description
	maxJSON  = 64 << 10 // bytes of one schema
)

// Catalogue knows the tools that the attached servers have. It is safe for concurrent use.
type Catalogue struct {
	servers *Servers
	network http.RoundTripper
	log     *slog.Logger
	stop    context.CancelFunc
	done    sync.WaitGroup

	mu    sync.Mutex
	known map[string][]execution.Tool // by namespace
}

// Open asks every server for its tools, waits no longer than ctx for the answers, and asks again every minute until Close.
// A server that does not answer keeps the tools it had.
func Open(ctx context.Context, servers *Servers, network http.RoundTripper, log *slog.Logger) *Catalogue {
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	c := &Catalogue{servers: servers, network: network, log: log, stop: stop, known: map[string][]execution.Tool{}}
	var first sync.WaitGroup
	for i := range servers.list {
		first.Add(1)
		c.done.Go(func() { c.follow(running, &servers.list[i], first.Done) })
	}
	asked := make(chan struct{})
	go func() { first.Wait(); close(asked) }()
	select {
	case <-asked:
	case <-ctx.Done():
	}
	return c
}

// Close asks no more.
func (c *Catalogue) Close() {
	c.stop()
	c.done.Wait()
}

// Tools gives what is known, by server in their order. It never waits for a server. What it gives must not be changed.
func (c *Catalogue) Tools() []execution.Tool {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []execution.Tool
	for _, s := range c.servers.list {
		all = append(all, c.known[s.Namespace]...)
	}
	return all
}

func (c *Catalogue) follow(ctx context.Context, server *Server, asked func()) {
	again := time.NewTicker(every)
	defer again.Stop()
	for failing := false; ; {
		tools, err := c.list(ctx, server)
		switch {
		case err == nil:
			c.mu.Lock()
			c.known[server.Namespace] = tools
			c.mu.Unlock()
		case ctx.Err() == nil && !failing:
			c.log.Warn("the tools of an attached server cannot be listed; it is asked again every minute", "namespace", server.Namespace, "error", err)
		}
		failing = err != nil
		asked()
		asked = func() {}
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
	}
}

// list asks one server.
func (c *Catalogue) list(ctx context.Context, server *Server) ([]execution.Tool, error) {
	ctx, cancel := context.WithTimeout(ctx, min(listing, server.Timeout))
	defer cancel()
	session, err := connect(ctx, server, &authorized{c.network, server, c.servers.hidden(server)})
	if err != nil {
		return nil, err
	}
	defer func() { _ = session.Close() }() // the server forgets a session by itself
	var tools []execution.Tool
	called := map[string]bool{}
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("list the tools: %w", err)
		}
		if len(tools) == maxTools {
			c.log.Warn("an attached server has more tools than are taken", "namespace", server.Namespace, "taken", maxTools)
			break
		}
		tool, err := toolOf(server, t)
		if err != nil {
			c.log.Warn("a tool of an attached server is left out", "namespace", server.Namespace, "tool", t.Name, "reason", err)
			continue
		}
		if _, method := execution.ToolGlobal(tool.Name); !called[method] {
			called[method] = true
			tools = append(tools, tool)
		}
	}
	return tools, nil
}

// toolOf makes a server's tool a guest's.
func toolOf(server *Server, t *sdk.Tool) (execution.Tool, error) {
	tool := execution.Tool{Name: server.Namespace + ":" + t.Name, Description: t.Description}
	if t.Name == "" || len(tool.Name) > 128 {
		return tool, errors.New("its name is empty or too long")
	}
	if len(tool.Description) > maxText {
		tool.Description = clip(tool.Description)
	}
	var err error
	if tool.InputSchema, err = schemaOf(t.InputSchema); err != nil {
		return tool, err
	}
	tool.OutputSchema, err = schemaOf(t.OutputSchema)
	return tool, err
}

// schemaOf writes a schema; one that is larger than any that helps is left out, and the server checks by itself.
func schemaOf(schema any) (json.RawMessage, error) {
	if schema == nil {
		return nil, nil
	}
	b, err := json.Marshal(schema)
	if err != nil {
		return nil, fmt.Errorf("its schema is no JSON: %w", err)
	}
	if len(b) > maxJSON || string(b) == "null" {
		return nil, nil
	}
	return b, nil
}
