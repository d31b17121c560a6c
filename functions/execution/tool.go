package execution

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/airlock-run/airlock/policy/toolname"
)

// ToolGlobal returns the global and the method by which the guest calls a tool; see [toolname.Global].
func ToolGlobal(name string) (namespace, method string) { return toolname.Global(name) }

// CallTool calls a tool of the caller. It returns the JSON of the value, or an error whose text is for the guest.
type CallTool func(ctx context.Context, tool string, params json.RawMessage) (json.RawMessage, error)

// CheckCallerTools refuses tools of the caller that nobody could call. reason says why not.
func CheckCallerTools(tools []Tool, reason string) error {
	for i, t := range tools {
		if t.Via == ToolOfCaller {
			return invalid(fmt.Sprintf("tools[%d].via", i), "%s", reason)
		}
	}
	return nil
}

// An UnlistedServer is an attached server whose tools are not known.
type UnlistedServer struct {
	Namespace string
	// Server identifies the server; see [Tool.Server].
	Server string
	// Via is how its tools are called; see [Tool.Via].
	Via string
	// Problem says why the tools are not known, for callers and guests.
	Problem string
}

// ServersOf returns the servers of remote tools by namespace; nil if there are none.
func ServersOf(tools []Tool) map[string]string {
	var servers map[string]string
	for _, t := range tools {
		if t.Server == "" {
			continue
		}
		if servers == nil {
			servers = map[string]string{}
		}
		namespace, _ := ToolGlobal(t.Name)
		servers[namespace] = t.Server
	}
	return servers
}
