package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/declarations"
	"github.com/airlock-run/airlock/gateway/semaphore"
)

// A ToolSource has the tools of the MCP servers that the deployment attaches. They are named "namespace:name" and
// have no URL. A server is a program that the gateway runs, or has a URL of its own. It is safe for concurrent use.
type ToolSource interface {
	// Tools returns the tools without waiting. They must not be changed.
	Tools() []execution.Tool
	// Call calls a tool whose Via is execution.ToolOfCaller: the gateway has the connection to its server. The text of
	// an error is for guests.
	Call(ctx context.Context, tool string, params json.RawMessage) (json.RawMessage, error)
	// Unlisted returns the servers whose tools are not known.
	Unlisted() []execution.UnlistedServer
	// Offers returns what each server with anything beside tools has, without waiting. It must not be changed.
	Offers() []execution.Offers
}

// RemoteTools offers the tools of attached MCP servers to executions. It is safe for concurrent use.
type RemoteTools struct {
	// Source may be nil: then there are no tools.
	Source ToolSource
	// Permitted returns the tools that the policy lets a caller use.
	Permitted func(ctx context.Context, tools []execution.Tool, caller authn.Identity) []execution.Tool
	// NoDiscovery says that functions cannot call the gateway while they run, so that code has no tools.search.
	NoDiscovery bool
	// Calls are the turns of executions at the tools that Source calls. A server that hangs holds only the turns of those
	// who call it. Required with a Source.
	Calls *semaphore.Fair

	declared declarations.Cache
}

// CallsOfOne is how many tools of servers that are commands one caller may call at once.
const CallsOfOne = 32

// all returns every tool.
func (r *RemoteTools) all() []execution.Tool {
	if r.Source == nil {
		return nil
	}
	return r.Source.Tools()
}

// AddTo adds to a submission the tools whose namespace its code names, and those by which it searches. A tool of the
// request itself, or an entry of its context, hides a namespace of the same name. If there are more tools than an
// execution may have, those whose method the code also names come first.
func (r *RemoteTools) AddTo(ctx context.Context, s api.Submission) api.Submission {
	all := r.all()
	if r.Source == nil {
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
	for _, u := range r.Source.Unlisted() {
		if !hidden[u.Namespace] && names(u.Namespace) {
			likely = append(likely, calledOf(u, s.Request)...)
		}
	}
	if len(all) > 0 && !hidden[discovery] && (names("tools.search") || names("tools.describe")) {
		var tools []execution.Tool
		s, tools = r.discoverable(s)
		likely = slices.Concat(tools, likely)
	}
	permitted := r.Permitted(ctx, append(likely, others...), s.Caller)
	room := max(execution.MaxTools-len(s.Request.Tools), 0)
	return r.withCalls(s, permitted[:min(len(permitted), room)])
}

// withCalls adds tools to a submission, and the way to those that the gateway calls, unless they cannot be called.
// Their servers check their input themselves.
func (r *RemoteTools) withCalls(s api.Submission, tools []execution.Tool) api.Submission {
	ours := map[string]bool{}
	tools = slices.Clone(tools)
	for i, t := range tools {
		if t.Via == execution.ToolOfCaller && t.Server != ofGateway {
			ours[t.Name], tools[i].InputSchema, tools[i].OutputSchema = true, nil, nil
		}
	}
	if len(ours) > 0 && !r.callable(s) {
		tools = slices.DeleteFunc(tools, func(t execution.Tool) bool { return ours[t.Name] })
		ours = nil
	}
	s.Request.Tools = slices.Concat(s.Request.Tools, tools)
	if next := s.CallTool; len(ours) > 0 {
		s.CallTool = func(ctx context.Context, tool string, params json.RawMessage) (json.RawMessage, error) {
			if ours[tool] {
				release, err := r.Calls.Acquire(ctx, s.Caller.Tenant, s.Caller.Subject)
				if err != nil {
					return nil, errors.New("the execution ended before its turn to call " + tool)
				}
				defer release()
				return r.Source.Call(ctx, tool, params)
			}
			if next == nil {
				return nil, errors.New("there is no caller")
			}
			return next(ctx, tool, params)
		}
	}
	return s
}

// callable reports whether code can call tools of the gateway. It must not look as if there were a way to the caller.
func (r *RemoteTools) callable(s api.Submission) bool {
	return !r.NoDiscovery && (s.CallTool != nil ||
		!slices.ContainsFunc(s.Request.Tools, func(t execution.Tool) bool { return t.Via == execution.ToolOfCaller }))
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
