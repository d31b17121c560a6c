package main

import (
	"context"
	"log/slog"
	"strings"
	"sync"
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
	// longestLook is how long one of them may take to be connected to.
	longestLook = 10 * time.Second
)

// attachments are the servers of MCP_SERVERS as they were read last. It is safe for concurrent use.
type attachments struct {
	getenv func(string) string

	mu        sync.Mutex
	list      []mcptools.Server
	catalogue *mcptools.Catalogue // nil before open, and where the variable is not set
}

func readAttachments(getenv func(string) string) (*attachments, error) {
	list, err := process.ReadAttached(getenv)
	return &attachments{getenv: getenv, list: list}, err
}

// named reports whether there is a variable that may be read again.
func (a *attachments) named() bool {
	return strings.TrimSpace(a.getenv(process.AttachedVariable)) != ""
}

// open asks the servers for their tools; nil where the variable is not set. The second value stops asking.
func (a *attachments) open(ctx context.Context, opened []string, log *slog.Logger) (gateway.Attached, func()) {
	if !a.named() {
		return nil, func() {}
	}
	first, cancel := context.WithTimeout(ctx, firstLook)
	defer cancel()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.catalogue = mcptools.Open(first, a.servers(), egress.NewClient(opened, longestLook).Transport, log)
	return a.catalogue, a.catalogue.Close
}

func (a *attachments) servers() *mcptools.Servers {
	return mcptools.New(a.list, process.Secrets(a.getenv))
}

// reload reads the list again. An error means that nothing has changed.
func (a *attachments) reload(ctx context.Context) error {
	list, err := process.ReadAttached(a.getenv)
	if err != nil {
		return err
	}
	first, cancel := context.WithTimeout(ctx, firstLook)
	defer cancel()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.list = list; a.catalogue != nil {
		a.catalogue.Replace(first, a.servers())
	}
	return nil
}

// environment is what function processes are told: the list that is in force, whatever has become of its file since, and
// the secrets that it names.
func (a *attachments) environment() []string {
	if !a.named() {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	environment := []string{process.AttachedVariable + "=" + mcptools.Format(a.list)}
	for _, server := range a.list {
		if name := process.SecretPrefix + server.Secret; server.Secret != "" && a.getenv(name) != "" {
			environment = append(environment, name+"="+a.getenv(name))
		}
	}
	return environment
}
