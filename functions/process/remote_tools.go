package process

import (
	"fmt"
	"strings"

	"github.com/airlock-run/airlock/functions/process/smallfile"
	"github.com/airlock-run/airlock/functions/runner"
	"github.com/airlock-run/airlock/infra/mcptools"
)

// RemoteToolsVariable is the variable with the MCP servers whose tools guests may call: a JSON list of {"namespace",
// "url", "secret", "header", "timeoutMs"}, or with "command", "args" and "env" instead of "url" and "header", or the
// path of a file with such a list.
const RemoteToolsVariable = "MCP_SERVERS"

// maxServersBytes bounds the file with the list of servers.
const maxServersBytes = 1 << 20

// ReadRemoteTools reads MCP_SERVERS. The error names the variable, the entry and the field.
func ReadRemoteTools(getenv func(string) string) ([]mcptools.Server, error) {
	text := strings.TrimSpace(getenv(RemoteToolsVariable))
	if text == "" {
		return nil, nil
	}
	list := []byte(text)
	if text[0] != '[' {
		var err error
		if list, err = smallfile.Read(text, maxServersBytes); err != nil {
			return nil, fmt.Errorf("%s: must be a JSON list of servers, or the path of a file that holds one: %w",
				RemoteToolsVariable, err)
		}
	}
	servers, err := mcptools.Parse(list)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", RemoteToolsVariable, err)
	}
	return servers, nil
}

// Secrets returns a func that returns the value of a secret by its name.
func Secrets(getenv func(string) string) func(name string) string {
	return func(name string) string {
		if name == "" {
			return ""
		}
		return getenv(SecretPrefix + name)
	}
}

// servers adapts the MCP servers to the runner.
type servers struct{ *mcptools.Servers }

// Begin implements runner.RemoteTools.
func (s servers) Begin() runner.ToolCalls { return s.Servers.Begin() }

func remoteTools(set Settings) runner.RemoteTools {
	if len(set.RemoteTools) == 0 {
		return nil
	}
	return servers{mcptools.New(set.RemoteTools, set.Secret)}
}
