package wiring

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/mcp"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
	"github.com/airlock-run/airlock/infra/mcptools"
	"github.com/airlock-run/airlock/policy/address"
	"github.com/airlock-run/airlock/policy/outbound"
)

var _ mcp.ToolSource = (*mcptools.Catalogue)(nil)

const (
	// startTimeout is how long a start waits for the servers to list their tools.
	startTimeout = 3 * time.Second
	// connectTimeout bounds the connection to one server.
	connectTimeout = 10 * time.Second
)

// RemoteTools holds the MCP servers of MCP_SERVERS, whose tools code may call. It is safe for concurrent use.
type RemoteTools struct {
	getenv func(string) string

	mu        sync.Mutex
	list      []mcptools.Server
	catalogue *mcptools.Catalogue // nil before open, and if the variable is not set
}

// isSet reports whether MCP_SERVERS is set.
func (t *RemoteTools) isSet() bool {
	return strings.TrimSpace(t.getenv(process.RemoteToolsVariable)) != ""
}

// open starts listing the servers' tools. It returns nil if the variable is not set. The second result stops it.
func (t *RemoteTools) open(ctx context.Context, opened []string, log *slog.Logger) (mcp.ToolSource, func()) {
	if !t.isSet() {
		return nil, func() {}
	}
	first, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	t.mu.Lock()
	defer t.mu.Unlock()
	dialer := address.Dialer{Opened: opened, Timeout: connectTimeout}
	network := mcptools.Limits().Transport(outbound.Options{Dial: dialer.DialContext})
	t.catalogue = mcptools.Open(first, t.known(), network, log)
	return t.catalogue, t.catalogue.Close
}

// health returns whether the servers list their tools, if there are any. The gateway serves without them.
func (t *RemoteTools) health() []gateway.Health {
	if t.catalogue == nil {
		return nil
	}
	return []gateway.Health{{Name: "mcp", Optional: true, Ready: t.catalogue.Ready}}
}

// CheckRemoteTools returns the number of attached servers, and an error for each that does not list its tools.
func CheckRemoteTools(ctx context.Context, getenv func(string) string, set settings.Settings) (int, error) {
	log := slog.New(slog.DiscardHandler)
	in, err := OpenInputs(ctx, getenv, set, log)
	if err != nil {
		return 0, err
	}
	source, stop := in.Tools.open(ctx, in.Rules.Hosts(), log)
	var wrong []error
	if source != nil {
		for _, u := range source.Unlisted() {
			wrong = append(wrong, fmt.Errorf("MCP_SERVERS: %s: %s", u.Namespace, u.Problem))
		}
	}
	stop()
	return len(in.Tools.servers()), errors.Join(append(wrong, in.Close())...)
}

// servers returns the current servers.
func (t *RemoteTools) servers() []mcptools.Server {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.list
}

// remote returns the current servers that functions call themselves.
func (t *RemoteTools) remote() []mcptools.Server { return mcptools.Remote(t.servers()) }

func (t *RemoteTools) known() *mcptools.Servers {
	return mcptools.New(t.list, process.Secrets(t.getenv))
}

// reload reads MCP_SERVERS again. An error means that nothing has changed.
func (t *RemoteTools) reload(ctx context.Context) error {
	list, err := process.ReadRemoteTools(t.getenv)
	if err != nil {
		return err
	}
	first, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.list = list; t.catalogue != nil {
		t.catalogue.Replace(first, t.known())
	}
	return nil
}

// environment returns the variable that gives function processes the list in force, even if its file has changed since.
// They ask for the secrets that it names, one execution at a time.
func (t *RemoteTools) environment() []string {
	if !t.isSet() {
		return nil
	}
	return []string{process.RemoteToolsVariable + "=" + mcptools.Format(t.remote())}
}
