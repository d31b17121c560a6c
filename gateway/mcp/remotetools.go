package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/declarations"
)

// A ToolSource has the tools of the MCP servers that the deployment attaches. They are named "namespace:name" and
// have no URL. It is safe for concurrent use.
type ToolSource interface {
	// Tools returns the tools without waiting. They must not be changed.
	Tools() []execution.Tool
}

// RemoteTools offers the tools of attached MCP servers to executions. It is safe for concurrent use.
type RemoteTools struct {
	// Source may be nil: then there are no tools.
	Source ToolSource
	// Permitted returns the tools that the policy lets a caller use.
	Permitted func(ctx context.Context, tools []execution.Tool, caller authn.Identity) []execution.Tool
}

// all returns every tool.
func (r *RemoteTools) all() []execution.Tool {
	if r.Source == nil {
		return nil
	}
	return r.Source.Tools()
}

// AddTo adds to a submission the tools whose namespace its code names. A tool of the request itself, or an entry of
// its context, hides a namespace of the same name. If there are more tools than an execution may have, those whose
// method the code names, too, come first.
func (r *RemoteTools) AddTo(ctx context.Context, s api.Submission) api.Submission {
	all := r.all()
	if len(all) == 0 {
		return s
	}
	hidden := map[string]bool{}
	for name := range s.Request.Context {
		hidden[name] = true
	}
	for _, t := range s.Request.Tools {
		namespace, _ := execution.ToolGlobal(t.Name)
		hidden[namespace] = true
	}
	var likely, others []execution.Tool
	names := namedBy(s.Request)
	for _, t := range all {
		namespace, method := execution.ToolGlobal(t.Name)
		switch {
		case hidden[namespace] || !names(namespace):
		case names(method):
			likely = append(likely, t)
		default:
			others = append(others, t)
		}
	}
	permitted := r.Permitted(ctx, append(likely, others...), s.Caller)
	room := max(execution.MaxTools-len(s.Request.Tools), 0)
	s.Request.Tools = slices.Concat(s.Request.Tools, permitted[:min(len(permitted), room)])
	return s
}

// namedBy returns a func that reports whether the sources of a request contain a word. It searches for each word once.
func namedBy(request execution.Request) func(word string) bool {
	known := map[string]bool{}
	return func(word string) bool {
		found, ok := known[word]
		if ok {
			return found
		}
		found = strings.Contains(request.Code, word)
		for _, content := range request.Files {
			found = found || bytes.Contains(content, []byte(word))
		}
		known[word] = found
		return found
	}
}

// toolView is a tool as responses show it.
type toolView struct {
	Name        string          `json:"name"`
	Call        string          `json:"call"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	// Declaration is in TypeScript.
	Declaration string `json:"declaration"`
}

// A search returns at most maxFound tools, and defaultFound if the query has no limit.
const (
	maxFound     = 100
	defaultFound = 20
)

// search returns the tools that a caller may use and that match the words of a query, best first. Without words, all
// match. A word in the name counts more than one in the description, and more words count more than fewer.
func (r *RemoteTools) search(ctx context.Context, caller authn.Identity, q ToolQuery) api.List[toolView] {
	words := strings.FieldsFunc(strings.ToLower(q.Query), func(r rune) bool { return strings.ContainsRune(" ,:._-", r) })
	type hit struct {
		tool  execution.Tool
		score int
	}
	var hits []hit
	for _, t := range r.Permitted(ctx, r.all(), caller) {
		if namespace, _ := execution.ToolGlobal(t.Name); q.Namespace != "" && namespace != q.Namespace {
			continue
		}
		h, name, description := hit{tool: t}, strings.ToLower(t.Name), strings.ToLower(t.Description)
		for _, w := range words {
			switch {
			case strings.Contains(name, w):
				h.score += 3
			case strings.Contains(description, w):
				h.score++
			}
		}
		if h.score > 0 || len(words) == 0 {
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	found := api.List[toolView]{Items: []toolView{}}
	for _, h := range hits[:min(len(hits), cmp.Or(q.Limit, defaultFound))] {
		namespace, method := execution.ToolGlobal(h.tool.Name)
		found.Items = append(found.Items, toolView{
			Name: h.tool.Name, Call: namespace + "." + method, Description: h.tool.Description,
			InputSchema: h.tool.InputSchema, Declaration: declarations.Tools([]execution.Tool{h.tool}),
		})
	}
	return found
}

// List serves GET /api/tools?query&namespace&limit, for people and programs that write code.
func (r *RemoteTools) List(c *fiber.Ctx) error {
	given, err := api.Query(c, "query", "namespace", "limit")
	if err != nil {
		return err
	}
	q := ToolQuery{Query: given["query"], Namespace: given["namespace"]}
	if text, ok := given["limit"]; ok {
		if q.Limit, err = strconv.Atoi(text); err != nil || q.Limit < 1 || q.Limit > maxFound {
			return api.Invalid("limit", "must be a whole number from 1 to 100")
		}
	}
	return api.Send(c, r.search(c.UserContext(), api.CallerOf(c), q))
}

// Declarations serves GET /api/tools.d.ts: the globals of code as TypeScript declarations, the tools included.
func (r *RemoteTools) Declarations(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentType, "application/typescript; charset=utf-8")
	return c.SendString(declarations.For(r.Permitted(c.UserContext(), r.all(), api.CallerOf(c))))
}
