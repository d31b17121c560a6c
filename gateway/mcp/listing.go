package mcp

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/policy"
)

// executeTool is the tool whose description lists what its caller can use now.
const executeTool = "execute_code"

//go:embed guest.txt
var guest string

// The part of the description of execute_code that is the same for everybody, without and with sessions.
var (
	executeDescription = describeExecute("")
	sessionDescription = describeExecute(", except in a session")
)

func describeExecute(except string) string {
	return "Run JavaScript or TypeScript (ES2023) in a fresh sandbox and wait for its result. One script can compute, " +
		"transform data and call several tools; return only what you need. Nothing is kept between calls" + except +
		".\n\nBeside the web's globals (URL, crypto, timers, TextEncoder, streams, AbortSignal, …) code has:\n\n" +
		"```ts\n" + guest + "```"
}

// listed completes a list of tools for its caller. The description of execute_code gets the limits in force and the
// attached tools, and the tools that the caller may not use are left out.
func (s *Server) listed(callerOf func(sdk.Request) (call, error)) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
			result, err := next(ctx, method, request)
			list, ok := result.(*sdk.ListToolsResult)
			if err != nil || !ok {
				return result, err
			}
			c, err := callerOf(request)
			if err != nil {
				return nil, err
			}
			out := *list
			out.Cacheable = private
			out.Tools = slices.Clone(list.Tools)
			if !c.caller.Identity.May(authn.Approve) {
				out.Tools = slices.DeleteFunc(out.Tools, func(t *sdk.Tool) bool {
					return t.Name == listPausedTool || t.Name == resumeTool
				})
			}
			i := slices.IndexFunc(out.Tools, func(t *sdk.Tool) bool { return t.Name == executeTool })
			if i < 0 {
				return &out, nil
			}
			execute := *out.Tools[i]
			execute.Description += s.limits()
			if s.cfg.Tools != nil {
				execute.Description += attached(s.cfg.Tools.Namespaces(ctx, c.caller))
			}
			out.Tools[i] = &execute
			return &out, nil
		}
	}
}

// limits describes the tiers.
func (s *Server) limits() string {
	if s.cfg.Tiers == nil {
		return ""
	}
	tiers, hosts := s.cfg.Tiers()
	var out strings.Builder
	out.WriteString("\n\nLimits by policy:\n")
	for _, t := range tiers {
		name := t.Name
		if name == policy.DefaultTier {
			name += " (default)"
		}
		fmt.Fprintf(&out, "- %s: %g s, %d MB, %d console lines, %d calls, fetch: %s", name, t.Timeout.Seconds(),
			t.MemoryBytes>>20, t.LogEntries, t.APICalls, reach(t.Network, hosts))
		if len(t.Packages) > 0 {
			fmt.Fprintf(&out, ", npm packages: %s", listed(t.Packages))
		}
		out.WriteByte('\n')
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// maxNamed bounds how many hosts, packages or namespaces a description names.
const maxNamed = 20

// maxProblem bounds what a description says about a server that does not list its tools. Code that calls it gets all.
const maxProblem = 100

// reach describes the hosts that fetch may call.
func reach(network string, hosts []string) string {
	switch {
	case network == policy.NetworkNone:
		return "none"
	case network == policy.NetworkPublic:
		return "public hosts"
	case len(hosts) == 0:
		return "no host is opened"
	}
	return listed(hosts)
}

// listed joins the first names, and counts the others.
func listed(names []string) string {
	if len(names) > maxNamed {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), len(names)-maxNamed)
	}
	return strings.Join(names, ", ")
}

// A Namespace is a global of code whose methods are the tools of an attached server.
type Namespace struct {
	Name  string
	Tools int
	// Problem says why the tools are not known; empty if they are.
	Problem string
}

// Attached describes the attached servers that a caller may use.
type Attached struct {
	Namespaces []Namespace
	// Discovery reports whether code has tools.search and tools.describe.
	Discovery bool
}

// attached describes the tools of attached servers, and how to find them.
func attached(found Attached) string {
	if len(found.Namespaces) == 0 {
		return ""
	}
	var names []string
	for _, n := range found.Namespaces[:min(len(found.Namespaces), maxNamed)] {
		if n.Problem != "" {
			names = append(names, fmt.Sprintf("%s (%s)", n.Name, api.Clip(n.Problem, maxProblem)))
		} else {
			names = append(names, fmt.Sprintf("%s (%d)", n.Name, n.Tools))
		}
	}
	if more := len(found.Namespaces) - maxNamed; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	text := "\n\nAttached tools, called as await namespace.method(params): " + strings.Join(names, ", ") + ". "
	if found.Discovery {
		return text + `In code, await tools.search("refund") lists [{call, description}], best first, and ` +
			`await tools.describe("payments.refund") returns the declaration.`
	}
	return text + "search_tools finds them."
}
