package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/mcp"
	"github.com/airlock-run/airlock/gateway/openapi"
	"github.com/airlock-run/airlock/policy"
)

// catalogue is a source of tools.
type catalogue struct {
	tools    []execution.Tool
	unlisted []execution.UnlistedServer
}

func (c catalogue) Tools() []execution.Tool { return c.tools }
func (catalogue) Call(context.Context, string, json.RawMessage, func(int) error) (json.RawMessage, error) {
	return nil, errors.New("nothing is called")
}

func (c catalogue) Unlisted() []execution.UnlistedServer { return c.unlisted }

func (catalogue) Offers() []execution.Offers { return nil }

// listSize returns the size of tools/list with the tools of attached servers.
func listSize(t *testing.T, source mcp.ToolSource) int {
	t.Helper()
	schemas, err := openapi.New("test")
	if err != nil {
		t.Fatal(err)
	}
	permitted := func(_ context.Context, tools []execution.Tool, _ authn.Identity) []execution.Tool { return tools }
	s, err := mcp.New(mcp.Config{
		Executor: gateway{}, Functions: gateway{}, Approvals: gateway{}, Sessions: gateway{},
		Tools:   &mcp.Agents{RemoteTools: &mcp.RemoteTools{Source: source, Permitted: permitted}},
		Explain: explain, Schemas: schemas, Version: "test", MaxBodyBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler),
		Tiers: func() ([]policy.Tier, []string) { return policy.Default().Tiers(), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	list, err := localOf(t, s).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return len(text)
}

// However many tools and servers are attached, and however long their texts are, a list of all tools stays short.
func TestListWithManyToolsIsShort(t *testing.T) {
	t.Parallel()
	const tools = 1000
	long := strings.Repeat("x", 300)
	schema := json.RawMessage(`{"type":"object","description":"` + long + `"}`)
	with := func(namespaces int) (c catalogue) {
		for i := range tools {
			c.tools = append(c.tools, execution.Tool{
				Name:        fmt.Sprintf("%s%d:%s%d", long[:60], i%namespaces, long[:60], i),
				Description: long, InputSchema: schema, OutputSchema: schema,
			})
		}
		return c
	}
	var lost catalogue
	for i := range tools {
		lost.unlisted = append(lost.unlisted, execution.UnlistedServer{Namespace: fmt.Sprint(long[:60], i), Problem: long})
	}
	one := listSize(t, catalogue{tools: with(1).tools[:1]})
	for name, source := range map[string]catalogue{
		"one server": with(1), "ten servers": with(10), "a server for each tool": with(tools), "servers that are lost": lost,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			size := listSize(t, source)
			if more := size - one; more > 4<<10 {
				t.Errorf("%d bytes, %d more than with one tool", size, more)
			}
			t.Log(size)
		})
	}
}
