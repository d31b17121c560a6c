package wiring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"syscall"
	"time"

	"github.com/airlock-run/airlock/functions/examples"
	"github.com/airlock-run/airlock/gateway"
	"github.com/airlock-run/airlock/gateway/callbacks"
	"github.com/airlock-run/airlock/gateway/wiring/settings"
)

// Patience is how long a shutdown waits for running executions: the longest tier's time and a margin.
const Patience = 65 * time.Second

// A Gateway serves the HTTP API.
type Gateway struct {
	// Settings are the gateway's settings. Hooks.Address holds the port that was picked.
	Settings settings.Settings
	core     *core
	server   *gateway.Server
	listener net.Listener
	hooks    net.Listener // nil unless webhooks have an address of their own
	walls    *WallWatch
	cleanup
}

// Open opens everything that the settings name and listens. The log goes to stderr. The gateway must be closed.
func Open(ctx context.Context, getenv func(string) string, set settings.Settings,
	stderr io.Writer) (_ *Gateway, err error) {
	g := &Gateway{Settings: set, walls: WatchWalls(set.Log.Handler(stderr))}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.Close())
		}
	}()
	log := slog.New(g.walls)
	limitMemory(set, log)
	logTelemetry(log)
	if g.listener, err = net.Listen("tcp", set.Address()); err != nil {
		return nil, ListenError(set, err)
	}
	g.onClose(func() error {
		_ = g.listener.Close() // Serve may have closed it
		return nil
	})
	tracer, flush, err := openTracer(ctx, getenv)
	if err != nil {
		return nil, settings.Wrong(err)
	}
	g.onClose(logged(flush, log))
	if g.core, err = openCore(ctx, getenv, set, log); err != nil {
		return nil, err
	}
	g.onClose(g.core.Close)
	deps := g.core.deps()
	if set.Log.Access {
		deps.AccessLog = log
	}
	deps.Tracer, deps.Functions, deps.Health = tracer, g.core.fleet.functions(), []gateway.Health{g.core.scans.health()}
	deps.Functions.Packages = g.core.in.Packages.states
	deps.Health = append(deps.Health, g.core.in.Tools.health()...)
	if err := g.openRecords(ctx, getenv, &deps); err != nil {
		return nil, err
	}
	g.core.scans.warm(ctx, log)
	if g.server, err = g.core.server(ctx, deps); err != nil {
		return nil, settings.Wrong(err)
	}
	sendRest, err := sendMetrics(ctx, getenv, g.server.Gatherer())
	if err != nil {
		return nil, settings.Wrong(err)
	}
	g.onClose(logged(sendRest, log))
	retention := time.NewTicker(pruneEvery)
	g.onStop(retention.Stop)
	g.onStop(retain(ctx, g.core.store, set.Retention, retention.C, log))
	g.onStop(g.core.in.reloadOnHangUp(ctx, g.core.fleet))
	return g, g.listenForHooks()
}

// openRecords anchors the records in the state and puts an index in front of them.
func (g *Gateway) openRecords(ctx context.Context, getenv func(string) string, deps *gateway.Deps) error {
	set, store, log := g.Settings, g.core.store, g.core.in.Log
	anchor, err := OpenAnchor(ctx, set.State, set.AuditStore, set.Records.ChainKey, set.Records.S3Endpoint)
	if err != nil {
		return settings.Wrong(err)
	}
	if set.OnLambda.Front == "" { // a gateway on Lambda does nothing between requests
		anchoring := time.NewTicker(anchorEvery)
		g.onStop(anchoring.Stop)
		g.onStop(keepAnchored(ctx, store, anchor, anchoring.C, log))
	}
	indexed, release := indexRecords(ctx, store, indexFolder(set, getenv), log)
	g.onClose(release)
	deps.Records, deps.Verify = indexed, verifyAnchored(store, anchor)
	return nil
}

// listenForHooks listens on the address of webhooks if they have one.
func (g *Gateway) listenForHooks() (err error) {
	address := g.Settings.Hooks.Address
	if address == "" {
		return nil
	}
	if g.hooks, err = net.Listen("tcp", address); err != nil {
		return fmt.Errorf("HOOKS_HOST: cannot listen on %s: %w", address, errors.Unwrap(err))
	}
	g.onClose(func() error {
		_ = g.hooks.Close() // the server may have closed it
		return nil
	})
	g.Settings.Hooks.Address = g.hooks.Addr().String()
	return g.server.KeepHooksApart()
}

// Address returns the address that the gateway listens on.
func (g *Gateway) Address() string { return g.listener.Addr().String() }

// Tiers returns the names of the tiers in force.
func (g *Gateway) Tiers() (names []string) {
	for _, t := range g.core.in.Rules.Tiers() {
		names = append(names, t.Name)
	}
	return names
}

// Functions describes where executions run and, once the first process has reported, behind which walls.
func (g *Gateway) Functions() string { return g.core.fleet.described(g.walls) }

// Run serves until ctx ends and then lets running executions finish. It calls started once it serves, and
// restoreSignals when ctx has ended, so that a second signal ends the process.
func (g *Gateway) Run(ctx context.Context, started, restoreSignals func()) error {
	failed := make(chan error, 2)
	if g.hooks != nil {
		go func() { failed <- fmt.Errorf("serve webhooks: %w", g.server.ServeHooks(g.hooks)) }()
	}
	go func() { failed <- fmt.Errorf("serve: %w", g.server.Serve(g.listener)) }()
	started()
	if g.Settings.OnLambda.Front != "" {
		go g.serveFront()
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	restoreSignals()
	if drain := g.Settings.Drain; drain > 0 {
		g.core.in.Log.Info("draining; /readyz returns 503 while requests are still served", "for", drain)
		g.server.Drain()
		select {
		case err := <-failed:
			return err
		case <-time.After(drain):
		}
	}
	g.core.in.Log.Info("shutting down; running executions may finish", "patience", Patience)
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), Patience)
	defer cancel()
	return g.server.Shutdown(ending)
}

// keptBytes returns how large a request may be that records keep, and 0 if they keep none.
func keptBytes(set settings.Settings) int {
	if !set.Records.KeepCode {
		return 0
	}
	return set.Bodies.Recorded
}

// ListenError returns why the gateway's address is not available and what to do.
func ListenError(set settings.Settings, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("PORT: %s is in use; stop what listens there, or set PORT to another", set.Address())
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("PORT: this user may not listen on %s; set PORT to one above 1023", set.Address())
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("HOST: %s is not an address of this machine", set.Host)
	}
	return fmt.Errorf("HOST, PORT: cannot listen on %s: %w", set.Address(), err)
}

// server builds the gateway over deps, with what the settings decide.
func (c *core) server(ctx context.Context, deps gateway.Deps) (*gateway.Server, error) {
	set := c.in.Settings
	var err error
	if deps.Auth, err = authenticator(ctx, set, c.hosts, deps.Logger); err != nil {
		return nil, err
	}
	if err := limits(set, c.in.Rules, &deps); err != nil {
		return nil, err
	}
	redactor, err := set.Records.Redactor(set.Auth.Credentials...)
	if err != nil {
		return nil, err
	}
	deps.Invoker, deps.Policy, deps.Redact = c.fleet, c.in.Rules, redactor.Apply
	deps.Examples = examples.Files()
	if err := wakeJobsFunction(ctx, set, &deps); err != nil {
		return nil, err
	}
	if deps.Wake.Queues, err = openQueues(ctx, set, deps.Logger); err != nil {
		return nil, err
	}
	keys, err := snapshotKeys(set)
	if err != nil {
		return nil, err
	}
	return gateway.New(gateway.Config{
		MaxBodyBytes: set.Bodies.Most, MaxDataBytes: set.Bodies.Data, CORSOrigins: set.CORSOrigins,
		Places: c.fleet.places, SparePlaces: c.fleet.spare,
		Callbacks: callbacks.Rules{OpenedHosts: c.hosts, Secret: set.CallbackSecret},
		Hooks: gateway.HooksConfig{
			Host: set.Hooks.Host, Rate: set.Hooks.PerMinute, AnswerHeaders: set.Hooks.AnswerHeaders,
		},
		KeepCode: keptBytes(set), Proxies: set.Proxies, SnapshotKeys: keys,
		Streams:       gateway.StreamsConfig{NoCallerTools: set.Invoker == "lambda", ToolAnswers: set.Bodies.Answers},
		MultiInstance: set.OnLambda.Front != "" || settings.IsShared(set.State), NoBackgroundWork: set.OnLambda.Front != "",
	}, deps)
}
