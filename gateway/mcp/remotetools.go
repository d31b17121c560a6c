package gateway

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/declarations"
	"github.com/airlock-run/airlock/gateway/mcp"
	"github.com/airlock-run/airlock/policy"
)

// Attached are the tools of servers that the deployment attaches: named "namespace:name", without a URL. It is safe for
// concurrent use.
type Attached interface {
	// Tools gives them, at once. They must not be changed.
	Tools() []execution.Tool
}

// attachedTo gives the attached tools that a caller may use.
func (s *Server) attachedTo(caller authn.Identity) []execution.Tool {
	if s.deps.Attached == nil {
		return nil
	}
	return s.permitted(s.deps.Attached.Tools(), caller)
}

// permitted leaves out the tools that the policy denies to a caller.
func (s *Server) permitted(tools []execution.Tool, caller authn.Identity) []execution.Tool {
	if len(tools) == 0 {
		return nil
	}
	ask := policy.Request{Code: "0", Subject: caller.Subject, Tenant: caller.Tenant, Scopes: caller.Scopes}
	for _, t := range tools {
		ask.Tools = append(ask.Tools, t.Name)
	}
	denied := map[string]bool{}
	decision, err := s.decider.decide(s.base, ask)
	if err != nil {
		return nil // the gateway is being stopped
	}
	for _, r := range decision.Reasons {
		if r.Rule == "tools" && r.Effect == policy.Deny {
			denied[r.Field] = true
		}
	}
	if len(denied) == 0 {
		return tools
	}
	var out []execution.Tool
	for i, t := range tools {
		if !denied[fmt.Sprintf("tools[%d]", i)] {
			out = append(out, t)
		}
	}
	return out
}

// attach gives a job the attached tools whose namespace its code names. A tool of the request's own, or an entry of its
// context, comes before a namespace of the same name. Where there are more than an execution may have, those are given
// whose method the code names too.
func (s *Server) attach(job Job) Job {
	if s.deps.Attached == nil {
		return job
	}
	all := s.deps.Attached.Tools()
	if len(all) == 0 {
		return job
	}
	taken := map[string]bool{}
	for name := range job.Request.Context {
		taken[name] = true
	}
	for _, t := range job.Request.Tools {
		namespace, _ := execution.ToolGlobal(t.Name)
		taken[namespace] = true
	}
	var likely, others []execution.Tool
	names := job.named()
	for _, t := range all {
		namespace, method := execution.ToolGlobal(t.Name)
		switch {
		case taken[namespace] || !names(namespace):
		case names(method):
			likely = append(likely, t)
		default:
			others = append(others, t)
		}
	}
	given := s.permitted(append(likely, others...), job.Caller)
	room := max(execution.MaxTools-len(job.Request.Tools), 0)
	job.Request.Tools = slices.Concat(job.Request.Tools, given[:min(len(given), room)])
	return job
}

// named returns a func that reports whether the text of what a job runs has a word in it. It looks for each word once.
func (j Job) named() func(word string) bool {
	known := map[string]bool{}
	return func(word string) bool {
		found, ok := known[word]
		if ok {
			return found
		}
		found = strings.Contains(j.Request.Code, word)
		for _, content := range j.Request.Files {
			found = found || bytes.Contains(content, []byte(word))
		}
		known[word] = found
		return found
	}
}

// toolView is an attached tool as it is shown.
type toolView struct {
	Name        string          `json:"name"`
	Call        string          `json:"call"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	// Declaration is TypeScript's.
	Declaration string `json:"declaration"`
}

// maxFound is how many tools a search gives at most; defaultFound when it does not say.
const (
	maxFound     = 100
	defaultFound = 20
)

// searchTools finds the attached tools that a caller may use, by words of their names and descriptions, best first; no word
// finds all. A name counts more than a description, and more words more than fewer.
func (s *Server) searchTools(caller authn.Identity, q mcp.ToolQuery) list[toolView] {
	words := strings.FieldsFunc(strings.ToLower(q.Query), func(r rune) bool { return r == ' ' || r == ',' || r == ':' || r == '.' || r == '_' || r == '-' })
	type hit struct {
		tool  execution.Tool
		score int
	}
	var hits []hit
	for _, t := range s.attachedTo(caller) {
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
	found := list[toolView]{Items: []toolView{}}
	for _, h := range hits[:min(len(hits), cmp.Or(q.Limit, defaultFound))] {
		namespace, method := execution.ToolGlobal(h.tool.Name)
		found.Items = append(found.Items, toolView{
			Name: h.tool.Name, Call: namespace + "." + method, Description: h.tool.Description, InputSchema: h.tool.InputSchema,
			Declaration: declarations.Tools([]execution.Tool{h.tool}),
		})
	}
	return found
}

// listTools is GET /api/tools?query&namespace&limit: the attached tools, for people and programs that write code.
func (s *Server) listTools(c *fiber.Ctx) error {
	given, err := query(c, "query", "namespace", "limit")
	if err != nil {
		return err
	}
	q := mcp.ToolQuery{Query: given["query"], Namespace: given["namespace"]}
	if text, ok := given["limit"]; ok {
		if q.Limit, err = strconv.Atoi(text); err != nil || q.Limit < 1 || q.Limit > maxFound {
			return bad("limit", "must be a whole number from 1 to 100")
		}
	}
	return s.send(c, s.searchTools(callerOf(c), q))
}

// declareTools is GET /api/tools.d.ts: what code finds, as TypeScript declares it, the attached tools included.
func (s *Server) declareTools(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentType, "application/typescript; charset=utf-8")
	return c.SendString(declarations.For(s.attachedTo(callerOf(c))))
}

// SearchTools implements mcp.Tools.
func (a agents) SearchTools(_ context.Context, caller mcp.Caller, q mcp.ToolQuery) (json.RawMessage, error) {
	if !caller.Identity.May(authn.Execute) {
		return nil, lacks(authn.Execute)
	}
	if q.Limit < 0 || q.Limit > maxFound {
		return nil, bad("limit", "must be a whole number from 1 to 100")
	}
	return encode(a.s.searchTools(caller.Identity, q))
}
