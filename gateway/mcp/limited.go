package mcp

import (
	"encoding/json"
	"errors"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/gateway/api"
)

// maxRefusedBytes bounds a message that is read although it is refused.
const maxRefusedBytes = 64 << 10

// Limited returns the middleware that limits requests, for messages: a call of a tool that limit refuses is answered
// with a result of the tool that says when to call again. An agent reads that; most clients turn a status into an
// exception of the transport. Messages that call no tool, and long ones, are refused as limit does.
func (h *Handlers) Limited(limit fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		err := limit(c)
		var p *api.Problem
		if !errors.As(err, &p) || p.Status != fiber.StatusTooManyRequests {
			return err
		}
		id, ok := callOf(c.Request().Body())
		if !ok {
			return err
		}
		problem := h.Server.cfg.Explain(err)
		text, failed := json.Marshal(problem)
		if failed != nil {
			return err
		}
		return c.JSON(map[string]any{"jsonrpc": "2.0", "id": id, "result": map[string]any{
			"isError": true, "structuredContent": problem,
			"content": []any{map[string]any{"type": "text", "text": string(text)}},
		}})
	}
}

// callOf returns the ID of a message that calls a tool.
func callOf(message []byte) (id json.RawMessage, ok bool) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if len(message) > maxRefusedBytes || json.Unmarshal(message, &m) != nil || m.Method != "tools/call" || len(m.ID) == 0 {
		return nil, false
	}
	switch m.ID[0] {
	case '"', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return m.ID, true
	}
	return nil, false
}
