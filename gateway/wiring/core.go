package wiring

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/functions/process"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/mcp"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
	"github.com/airlock-run/airlock/infra/records"
)

// core holds the parts of every gateway, whether it serves HTTP or one agent.
type core struct {
	in    *Inputs
	hosts []string // open when the gateway started
	store records.Store
	state gateway.State
	fleet *Fleet
	scans *ScanReader
	tools mcp.ToolSource
	cleanup
}

// openCore opens the records, the policy, the state, the fleet, the scan workers and the MCP servers.
func openCore(ctx context.Context, getenv func(string) string, set settings.Settings,
	log *slog.Logger) (_ *core, err error) {
	c := &core{}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if c.store, err = set.Records.Open(ctx, set.AuditStore, log); err != nil {
		return nil, err
	}
	c.onClose(c.store.Close)
	if c.in, err = OpenInputs(ctx, getenv, set, log); err != nil {
		return nil, err
	}
	c.onClose(c.in.Close)
	c.hosts = c.in.Rules.Hosts()
	state, closeState, err := openState(ctx, set, c.in.Rules.Quota)
	if err != nil {
		return nil, err
	}
	c.state = state
	c.onClose(closeState)
	build, err := process.EngineBuild(getenv)
	if err != nil {
		return nil, err
	}
	if others := otherBuilds(ctx, state, build); others != "" {
		log.Warn(others)
	}
	if c.fleet, err = c.in.OpenFleet(ctx); err != nil {
		return nil, err
	}
	c.onClose(func() error {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return c.fleet.Close(closing)
	})
	if c.scans, err = OpenScanReader(gateway.ScansAtOnce(), log); err != nil {
		return nil, err
	}
	c.onClose(c.scans.Close)
	tools, stop := c.in.Tools.open(ctx, c.hosts, log)
	c.tools = tools
	c.onStop(stop)
	return c, nil
}

// deps returns what the gateway uses of the core.
func (c *core) deps() gateway.Deps {
	return gateway.Deps{
		Scanner: c.scans, Records: c.store, State: c.state, RemoteTools: c.tools, Logger: c.in.Log, Now: time.Now,
		NewID: NewID,
	}
}

// ServeMCP serves one agent over stdio with a gateway of its own, until the agent hangs up or ctx ends.
func ServeMCP(ctx context.Context, getenv func(string) string, set settings.Settings, log *slog.Logger,
	stdio sdk.Transport) (err error) {
	limitMemory(set, log)
	c, err := openCore(ctx, getenv, set, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	server, err := c.server(ctx, c.deps())
	if err != nil {
		return settings.Wrong(err)
	}
	defer c.in.reloadOnHangUp(ctx, c.fleet)()
	return server.ServeMCP(ctx, stdio)
}

// cleanup closes what was opened, in the reverse order.
type cleanup struct{ ends []func() error }

func (c *cleanup) onClose(end func() error) { c.ends = append(c.ends, end) }

func (c *cleanup) onStop(stop func()) {
	c.onClose(func() error {
		stop()
		return nil
	})
}

// Close closes everything.
func (c *cleanup) Close() error {
	var errs []error
	for _, end := range slices.Backward(c.ends) {
		errs = append(errs, end())
	}
	c.ends = nil
	return errors.Join(errs...)
}

func logged(end func(*slog.Logger), log *slog.Logger) func() error {
	return func() error {
		end(log)
		return nil
	}
}
