package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy/outbound"
	"github.com/airlock-run/airlock/policy/toolname"
)

const (
	maxAnswer = 4 << 20  // bytes of one answer, and of all descriptions and schemas that are kept of one server
	maxPages  = 50       // of one list
	maxTools  = 1000     // of one server
	maxText   = 4096     // bytes of a description
	maxJSON   = 64 << 10 // bytes of one schema
	atOnce    = 4        // lists that are read at the same time
)

// Limits returns the limits on reading from a server. A stream of changes lasts an hour, or as many bytes as any
// answer; the next look opens another. Connections to a host are not limited: each of its servers, 64 at most, keeps
// one for its stream.
func Limits() outbound.Limits {
	return outbound.Limits{Body: maxAnswer, Total: listing, Stream: time.Hour}
}

// list lists what a server has, and keeps it.
func (c *Catalogue) list(ctx context.Context, f *followed, session *sdk.ClientSession) error {
	select {
	case c.reading <- struct{}{}:
		defer func() { <-c.reading }()
	case <-ctx.Done():
		return ctx.Err()
	}
	tools, err := c.tools(ctx, f, session)
	if err != nil {
		return err
	}
	offers, err := c.offers(ctx, f, session)
	if err != nil && ctx.Err() == nil {
		c.log.Debug("the resources and prompts of an MCP server cannot all be listed", "namespace", f.server.Namespace,
			"error", err)
	}
	c.keep(f, tools, offers)
	return nil
}

// tools lists the tools of a server.
func (c *Catalogue) tools(ctx context.Context, f *followed, session *sdk.ClientSession) ([]execution.Tool, error) {
	caps := session.InitializeResult().Capabilities
	l := &list{server: &f.server, secret: f.secret, log: c.log, called: map[string]bool{}}
	if caps != nil && caps.Tools == nil && (caps.Resources != nil || caps.Prompts != nil) {
		l.withMethods(caps) // it has no tools of its own, and no list of them
		return l.tools, nil
	}
	params := &sdk.ListToolsParams{}
	for range maxPages {
		page, err := session.ListTools(ctx, params)
		if err == nil {
			page, err = filled(f.contents, page, page.Meta)
		}
		if err != nil {
			return nil, fmt.Errorf("list the tools: %w", err)
		}
		for _, t := range page.Tools {
			if t != nil && !offered(caps, t.Name) && !l.add(t) {
				return l.tools, nil
			}
		}
		if page.NextCursor == "" {
			l.withMethods(caps)
			return l.tools, nil
		}
		params.Cursor = page.NextCursor
	}
	l.full("pages", maxPages)
	return l.tools, nil
}

// list is the accepted part of one server's tools.
type list struct {
	server *Server
	secret string
	log    *slog.Logger
	tools  []execution.Tool
	called map[string]bool // methods
	bytes  int
	left   int // tools left out
}

// add adds a tool, or skips it. It reports whether there is room for more.
func (l *list) add(t *sdk.Tool) bool {
	if len(l.tools)+l.left == maxTools {
		l.full("tools", maxTools)
		return false
	}
	tool, err := toolOf(l.server, t, l.secret)
	if err == nil {
		if _, method := execution.ToolGlobal(tool.Name); l.called[method] {
			err = fmt.Errorf("another of its tools is also called as .%s", method)
		} else {
			l.called[method] = true
		}
	}
	if err != nil {
		l.left++
		l.log.Warn("a tool of an MCP server is left out", "namespace", l.server.Namespace, "tool",
			toolname.Plain(clip(hide(t.Name, l.secret))), "reason", err)
		return true
	}
	l.bytes += len(tool.Name) + len(tool.Description) + len(tool.InputSchema) + len(tool.OutputSchema)
	if l.bytes > maxAnswer {
		l.full("bytes", maxAnswer)
		return false
	}
	l.tools = append(l.tools, tool)
	return true
}

func (l *list) full(what string, most int) {
	l.log.Warn("an MCP server has more tools than are taken", "namespace", l.server.Namespace, "taken", len(l.tools),
		what, most)
}

// toolOf returns a server's tool as a guest's. It escapes invisible characters in its description and schemas, and
// replaces the server's secret there.
func toolOf(server *Server, t *sdk.Tool, secret string) (execution.Tool, error) {
	tool := execution.Tool{
		Name: server.Namespace + ":" + t.Name, Description: toolname.Plain(clipTo(hide(t.Description, secret), maxText)),
		Server: server.ID(),
	}
	if server.Command != "" {
		tool.Via = execution.ToolOfCaller // the gateway has the process
	}
	if t.Name == "" || t.Name == execution.AnyMethod || len(tool.Name) > 128 {
		return tool, errors.New("its name is empty, too long or *")
	}
	if strings.ContainsAny(t.Name, "\n\t") || hide(t.Name, secret) != t.Name {
		return tool, errors.New("its name has a line break, a tab or the server's secret")
	}
	if err := toolname.Check(tool.Name); err != nil {
		return tool, err
	}
	tool.Description = clipTo(tool.Description, maxText)
	var err error
	if tool.InputSchema, err = schemaOf(t.InputSchema, secret); err != nil {
		return tool, err
	}
	tool.OutputSchema, err = schemaOf(t.OutputSchema, secret)
	return tool, err
}

// schemaOf returns a schema as JSON. It omits one that is too large to help; the server checks its input itself.
func schemaOf(schema any, secret string) (json.RawMessage, error) {
	if schema == nil {
		return nil, nil
	}
	b, err := hiddenJSON(schema, secret)
	if err != nil {
		return nil, fmt.Errorf("its schema is not JSON: %w", err)
	}
	if len(b) > maxJSON || string(b) == "null" {
		return nil, nil
	}
	return toolname.PlainJSON(b), nil
}
