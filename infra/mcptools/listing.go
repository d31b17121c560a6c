package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/functions/execution"
)

const (
	maxTools = 1000     // of one server
	maxText  = 4096     // bytes of a description
	maxJSON  = 64 << 10 // bytes of one schema
)

// list asks one server.
func (c *Catalogue) list(ctx context.Context, f *followed, session *sdk.ClientSession) ([]execution.Tool, error) {
	var tools []execution.Tool
	called := map[string]bool{}
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("list the tools: %w", err)
		}
		if len(tools) == maxTools {
			c.log.Warn("an attached server has more tools than are taken", "namespace", f.server.Namespace, "taken", maxTools)
			break
		}
		tool, err := toolOf(&f.server, t)
		if err != nil {
			c.log.Warn("a tool of an attached server is left out", "namespace", f.server.Namespace, "tool", t.Name, "reason", err)
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
