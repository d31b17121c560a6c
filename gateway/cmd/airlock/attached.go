package main

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/infra/mcptools"
	"github.com/airlock-run/airlock/policy/address"
	"github.com/airlock-run/airlock/policy/outbound"
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
	dialer := address.Dialer{Opened: opened, Timeout: longestLook}
	network := mcptools.Limits().Transport(outbound.Options{Dial: dialer.DialContext})
	a.catalogue = mcptools.Open(first, a.known(), network, log)
	return a.catalogue, a.catalogue.Close
}

// servers are those that are attached now.
func (a *attachments) servers() []mcptools.Server {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.list
}

func (a *attachments) known() *mcptools.Servers {
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
		a.catalogue.Replace(first, a.known())
	}
	return nil
}

// environment is what function processes are told: the list that is in force, whatever has become of its file since. The
// secrets that it names they ask for, one execution at a time.
func (a *attachments) environment() []string {
	if !a.named() {
		return nil
	}
	return []string{process.AttachedVariable + "=" + mcptools.Format(a.servers())}
}
