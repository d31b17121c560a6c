package execution

import "github.com/airlock-run/airlock/policy/toolname"

// ToolGlobal returns the global and the method by which the guest calls a tool; see [toolname.Global].
func ToolGlobal(name string) (namespace, method string) { return toolname.Global(name) }

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
