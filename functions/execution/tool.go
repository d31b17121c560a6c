package execution

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

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

// AnyMethod is the name, after the namespace, of the tool that stands for all methods of a server whose tools are not
// known.
const AnyMethod = "*"

// AnyMethod reports whether a tool stands for all methods of a server whose tools are not known.
func (t Tool) AnyMethod() bool { return t.URL == "" && strings.HasSuffix(t.Name, ":"+AnyMethod) }

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

// The methods of attached servers by which code reads their resources and prompts. They are tools of the same names.
const (
	ListResources = "resources/list"
	ListTemplates = "resources/templates/list"
	ReadResource  = "resources/read"
	ListPrompts   = "prompts/list"
	GetPrompt     = "prompts/get"
)

// cursorOnly is the schema of the parameters of a list.
const cursorOnly = `{"type":"object","properties":{"cursor":{"type":"string"}}}`

// ServerMethods describes the methods as tools. InputSchema is JSON.
var ServerMethods = []struct{ Name, Description, InputSchema string }{
	{ListResources, "List the resources of this server: {resources, nextCursor}.", cursorOnly},
	{ListTemplates, "List the templates of resources of this server: {resourceTemplates, nextCursor}.", cursorOnly},
	{
		ReadResource, "Read a resource of this server: {contents: [{uri, mimeType, text or blob}]}.",
		`{"type":"object","properties":{"uri":{"type":"string"}},"required":["uri"]}`,
	},
	{ListPrompts, "List the prompts of this server: {prompts, nextCursor}.", cursorOnly},
	{
		GetPrompt, "Fill in a prompt of this server: {description, messages}.",
		`{"type":"object","properties":{"name":{"type":"string"},` +
			`"arguments":{"type":"object","additionalProperties":{"type":"string"}}},"required":["name"]}`,
	},
}

// Offers are what an attached server has beside tools. All texts are free of invisible characters.
type Offers struct {
	Namespace string
	Resources []Resource
	// Templates are resources whose URI is a template (RFC 6570).
	Templates []Resource
	Prompts   []Prompt
}

// A Resource is something that an attached server lets clients read.
type Resource struct {
	// URI is that of [ResourceURI].
	URI string
	// Name begins with the namespace and a colon.
	Name                         string
	Title, Description, MIMEType string
	Size                         int64 // in bytes; 0 if it is not known
}

// A Prompt is a text of an attached server with places for arguments.
type Prompt struct {
	// Name begins with the namespace and a colon.
	Name               string
	Title, Description string
	Arguments          []PromptArgument
}

// A PromptArgument is the value of one place in a prompt.
type PromptArgument struct {
	Name, Title, Description string
	Required                 bool
}

// resources begins the URIs of resources of attached servers.
const resources = "airlock://"

// ResourceURI returns the URI by which callers of the gateway read a resource of an attached server.
func ResourceURI(namespace, uri string) string { return resources + namespace + "/" + uri }

// SplitResourceURI returns the namespace and the URI of [ResourceURI].
func SplitResourceURI(uri string) (namespace, rest string, ok bool) {
	if uri, ok = strings.CutPrefix(uri, resources); !ok {
		return "", "", false
	}
	return strings.Cut(uri, "/")
}
