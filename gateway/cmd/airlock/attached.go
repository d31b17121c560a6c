package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/egress"
	"github.com/airlock-run/airlock/infra/mcptools"
)

var _ gateway.Attached = (*mcptools.Catalogue)(nil)

const (
	// firstLook is how long a start waits for attached servers to list their tools.
	firstLook = 3 * time.Second
	// longestLook is what one request to them may take.
	longestLook = 10 * time.Second
)

// openAttached asks the servers of MCP_SERVERS for their tools; nil where there are none. The second value stops asking.
func openAttached(ctx context.Context, getenv func(string) string, set settings, log *slog.Logger) (gateway.Attached, func()) {
	if len(set.attached) == 0 {
		return nil, func() {}
	}
	first, cancel := context.WithTimeout(ctx, firstLook)
	defer cancel()
	network := egress.NewClient(set.opened, longestLook).Transport
	catalogue := mcptools.Open(first, mcptools.New(set.attached, process.Secrets(getenv)), network, log)
	return catalogue, catalogue.Close
}

// attachedSecrets are the names of the secrets for attached servers.
func (s settings) attachedSecrets() []string {
	var names []string
	for _, server := range s.attached {
		if server.Secret != "" {
			names = append(names, server.Secret)
		}
	}
	return names
}
