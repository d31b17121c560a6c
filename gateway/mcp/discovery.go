package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/policy/toolname"
)

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

// find returns the tools that a caller may use and that match a query, best first, and the index of all tools.
func (r *RemoteTools) find(
	ctx context.Context, caller authn.Identity, q ToolQuery,
) (found []execution.Tool, index *toolIndex) {
	all := r.all()
	tools := r.Permitted(ctx, all, caller)
	if q.Namespace != "" {
		tools = slices.DeleteFunc(slices.Clone(tools), func(t execution.Tool) bool {
			namespace, _ := execution.ToolGlobal(t.Name)
			return namespace != q.Namespace
		})
	}
	index = r.index.of(all)
	found = index.rank(tools, q.Query)
	return found[:min(len(found), cmp.Or(q.Limit, defaultFound))], index
}

// search returns the tools of find with their declarations.
func (r *RemoteTools) search(ctx context.Context, caller authn.Identity, q ToolQuery) api.List[toolView] {
	found := api.List[toolView]{Items: []toolView{}}
	tools, index := r.find(ctx, caller, q)
	for _, t := range tools {
		found.Items = append(found.Items, toolView{
			Name: t.Name, Call: callName(t), Description: t.Description, InputSchema: t.InputSchema,
			Declaration: index.declaration(t),
		})
	}
	return found
}

// callName returns how code calls a tool: namespace.method.
func callName(t execution.Tool) string {
	namespace, method := execution.ToolGlobal(t.Name)
	return namespace + "." + method
}

// namespaces returns what is attached, as far as a caller may use it.
func (r *RemoteTools) namespaces(ctx context.Context, caller authn.Identity) (found Attached) {
	if r.Source == nil {
		return found
	}
	for _, t := range r.Permitted(ctx, r.all(), caller) {
		name, _ := execution.ToolGlobal(t.Name)
		i := slices.IndexFunc(found.Namespaces, func(n Namespace) bool { return n.Name == name })
		if i < 0 {
			i = len(found.Namespaces)
			found.Namespaces = append(found.Namespaces, Namespace{Name: name})
		}
		found.Namespaces[i].Tools++
	}
	found.Discovery = !r.NoDiscovery && len(found.Namespaces) > 0
	for _, u := range r.Source.Unlisted() {
		found.Namespaces = append(found.Namespaces, Namespace{Name: u.Namespace, Problem: u.Problem})
	}
	return found
}

// discovery is the namespace through which code searches the attached tools.
const discovery = "tools"

// The tools of the gateway by which code searches.
const (
	searchName   = discovery + ":search"
	describeName = discovery + ":describe"
)

// ofGateway is the server of the tools of the gateway itself.
const ofGateway = "gateway"

// oneText is the schema of their parameters.
var oneText = json.RawMessage(`{"type":"string"}`)

// discoveryTools are called like tools of the caller: over the execution's own connection to the gateway.
var discoveryTools = []execution.Tool{
	{Name: searchName, Via: execution.ToolOfCaller, Server: ofGateway, InputSchema: oneText},
	{Name: describeName, Via: execution.ToolOfCaller, Server: ofGateway, InputSchema: oneText},
}

// discoverable adds to a submission the tools by which its code searches, unless they cannot be called. Tools of the
// caller go on to the caller.
func (r *RemoteTools) discoverable(s api.Submission) (api.Submission, []execution.Tool) {
	ofCaller := s.CallTool
	taken := slices.ContainsFunc(r.all(), func(t execution.Tool) bool { return strings.HasPrefix(t.Name, discovery+":") })
	if taken || !r.callable(s) {
		return s, nil
	}
	caller := s.Caller
	s.CallTool = func(ctx context.Context, tool string, params json.RawMessage) (json.RawMessage, error) {
		switch tool {
		case searchName:
			return r.searchFor(ctx, caller, params)
		case describeName:
			return r.describeFor(ctx, caller, params)
		}
		if ofCaller == nil {
			return nil, errors.New("there is no caller")
		}
		return ofCaller(ctx, tool, params)
	}
	return s, discoveryTools
}

// hit is a tool that code found.
type hit struct {
	Call        string `json:"call"`
	Description string `json:"description"`
}

// maxSummary bounds the description of a tool in a list, in bytes.
const maxSummary = 200

// searchFor carries out tools.search(query).
func (r *RemoteTools) searchFor(
	ctx context.Context, caller authn.Identity, params json.RawMessage,
) (json.RawMessage, error) {
	var query string
	if err := json.Unmarshal(params, &query); err != nil {
		return nil, errors.New(`write tools.search("words to find")`)
	}
	hits := []hit{}
	tools, _ := r.find(ctx, caller, ToolQuery{Query: query})
	for _, t := range tools {
		summary, _, _ := strings.Cut(t.Description, "\n")
		if len(summary) > maxSummary {
			summary = strings.ToValidUTF8(summary[:maxSummary], "") + "…"
		}
		hits = append(hits, hit{callName(t), summary})
	}
	return api.Encode(hits)
}

// describeFor carries out tools.describe("namespace.method").
func (r *RemoteTools) describeFor(
	ctx context.Context, caller authn.Identity, params json.RawMessage,
) (json.RawMessage, error) {
	var name string
	if err := json.Unmarshal(params, &name); err != nil {
		return nil, errors.New(`write tools.describe("namespace.method")`)
	}
	all := r.all()
	i := slices.IndexFunc(all, func(t execution.Tool) bool { return t.Name == name || callName(t) == name })
	if i >= 0 && len(r.Permitted(ctx, all[i:i+1:i+1], caller)) == 1 {
		return api.Encode(r.index.of(all).declaration(all[i]))
	}
	return nil, errors.New("there is no tool " + toolname.Plain(name) + "; tools.search lists the available tools")
}

// calledOf returns the tools of a server that has not listed them for the methods that code calls, and the one that
// stands for all others. Calling one tries the server again, and says why it cannot be reached.
func calledOf(u execution.UnlistedServer, methods []string) (tools []execution.Tool) {
	tools = append(tools, execution.Tool{Name: u.Namespace + ":" + execution.AnyMethod, Server: u.Server, Via: u.Via})
	for _, method := range methods {
		t := execution.Tool{Name: u.Namespace + ":" + nameOf(method), Server: u.Server, Via: u.Via}
		if toolname.Check(t.Name) == nil && len(tools) < maxCalled {
			tools = append(tools, t)
		}
	}
	return tools
}

// nameOf returns the name of a tool that is called as a method.
func nameOf(method string) string {
	for _, m := range execution.ServerMethods {
		if _, called := execution.ToolGlobal("_:" + m.Name); called == method {
			return m.Name
		}
	}
	return method
}

// List serves GET /api/tools?query&namespace&limit, for people and programs that write code.
func (r *RemoteTools) List(c *fiber.Ctx) error {
	given, err := api.Query(c, "query", "namespace", "limit")
	if err != nil {
		return err
	}
	q := ToolQuery{Query: given["query"], Namespace: given["namespace"]}
	if q.Limit, err = api.Limit(given, defaultFound, maxFound); err != nil {
		return err
	}
	return api.Send(c, r.search(c.UserContext(), api.CallerOf(c), q))
}

// Declarations serves GET /api/tools.d.ts: the globals of code as TypeScript declarations, the tools included.
func (r *RemoteTools) Declarations(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentType, "application/typescript; charset=utf-8")
	return c.SendString(r.declared.For(r.Permitted(c.UserContext(), r.all(), api.CallerOf(c))))
}
