package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/airlock-run/airlock/functions/examples"
	"github.com/airlock-run/airlock/gateway"
)

// patience is how long a shutdown waits for what runs: the longest tier's time and some more.
const patience = 65 * time.Second

func serveCommand(con console) *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Serve the HTTP API",
		Long: "Serve the HTTP API with a pool of local function processes.\n\n" +
			"All settings are environment variables, checked at start. With none set it serves on 127.0.0.1:3000 without\n" +
			"credentials, records into ./audit and keeps functions and jobs in ./state.\n\n" + settingsHelp() +
			"SIGHUP reads the files of AIRLOCK_POLICY_FILE and MCP_SERVERS again. SIGTERM or Ctrl-C lets what runs finish; a second one ends it at once.",
		Example: "  airlock serve\n" +
			"  PORT=8080 RATE_LIMIT_MAX_REQUESTS=1000 airlock serve\n" +
			"  HOST=0.0.0.0 API_KEY=$(openssl rand -hex 32) AUDIT_STORE=s3://bucket/records airlock serve",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, err := readSettings(con.getenv, time.Now)
			if err != nil {
				return exit(exitUsage, err)
			}
			con.warnOf(misspelt(os.Environ()))
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return serve(ctx, stop, con, set)
		},
	}
}

// serve runs until ctx ends, and then until what runs has finished. A second signal ends it at once.
func serve(ctx context.Context, restoreSignals func(), con console, set settings) (err error) {
	confined := watchWalls(slog.NewTextHandler(con.stderr, nil))
	log := slog.New(confined)
	limitMemory(set, log)
	listener, err := net.Listen("tcp", set.address())
	if err != nil {
		return exit(exitPlatform, listening(set, err))
	}
	defer func() { _ = listener.Close() }() // closed by Serve already, or never used
	store, err := set.keeping.Open(ctx, set.auditStore, log)
	if err != nil {
		return exit(exitPlatform, err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	tracer, flush, err := openTracer(ctx, con.getenv)
	if err != nil {
		return exit(exitUsage, err)
	}
	defer flush(log)
	policy, err := openRules(con.getenv)
	if err != nil {
		return exit(exitUsage, err)
	}
	defer func() { err = errors.Join(err, policy.close()) }()
	set.opened = policy.Hosts()
	state, closeState, err := openState(ctx, set, policy.Quota)
	if err != nil {
		return exit(exitPlatform, err)
	}
	defer func() { err = errors.Join(err, closeState()) }()
	anchor, err := stateAnchor(ctx, set.state, set.auditStore, set.keeping.ChainKey, set.keeping.S3Endpoint)
	if err != nil {
		return exit(exitUsage, err)
	}
	if set.front == "" { // a gateway on Lambda does nothing between requests
		anchoring := time.NewTicker(anchorEvery)
		defer anchoring.Stop()
		defer keepAnchored(ctx, store, anchor, anchoring.C, log)()
	}
	indexed, release := indexRecords(ctx, store, indexFolder(set, con.getenv), log)
	defer func() { err = errors.Join(err, release()) }()
	functions, err := openFleet(ctx, con.getenv, set, policy, log)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = errors.Join(err, functions.close(closing))
	}()
	reader, err := openReader(gateway.ReadersAtOnce(), log)
	if err != nil {
		return exit(exitPlatform, err)
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	reader.warm(ctx, log)
	attached, detach := set.attached.open(ctx, set.opened, log)
	defer detach()
	server, err := newServer(ctx, set, functions, policy, gateway.Deps{
		Reader: reader, Records: indexed, Verify: verifyAnchored(store, anchor), State: state, Attached: attached, Tracer: tracer,
		Logger: log, Now: time.Now, NewID: newID, Health: []gateway.Health{reader.health()},
	})
	if err != nil {
		return exit(exitUsage, err)
	}
	sendRest, err := sendMetrics(ctx, con.getenv, server.Gatherer())
	if err != nil {
		return exit(exitUsage, err)
	}
	defer sendRest(log)
	looked := time.NewTicker(pruneEvery)
	defer looked.Stop()
	defer retain(ctx, store, set.retention, looked.C, log)()
	defer reloadOnHangUp(ctx, policy, set.attached, functions, log)()
	closeHooks, hooksFailed, err := serveHooks(server, &set)
	if err != nil {
		return exit(exitPlatform, err)
	}
	defer closeHooks()
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	greet(con.stdout, set, listener.Addr().String(), policy, functions.described(confined))
	if set.front != "" {
		go serveFront(set.front, server, listener.Addr())
	}
	select {
	case err := <-failed:
		return exit(exitPlatform, fmt.Errorf("serve: %w", err))
	case err := <-hooksFailed:
		return exit(exitPlatform, fmt.Errorf("serve webhooks: %w", err))
	case <-ctx.Done():
	}
	restoreSignals()
	log.Info("shutting down; executions that run may finish", "patience", patience)
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := server.Shutdown(ending); err != nil {
		return exit(exitPlatform, err)
	}
	return nil
}

// listening words why the address cannot be had.
func listening(set settings, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("PORT: %s is in use; stop what listens there, or set PORT to another", set.address())
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("PORT: %s may not be listened on by this user; set PORT to one above 1023", set.address())
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("HOST: %s is not an address of this machine", set.host)
	}
	return fmt.Errorf("HOST, PORT: cannot listen on %s: %w", set.address(), err)
}

// newServer adds what the settings decide to what was opened.
func newServer(ctx context.Context, set settings, functions *fleet, policy *rules, deps gateway.Deps) (*gateway.Server, error) {
	var err error
	if deps.Auth, err = authenticator(ctx, set, deps.Logger); err != nil {
		return nil, err
	}
	if err := limits(set, policy, &deps); err != nil {
		return nil, err
	}
	redactor, err := set.keeping.Redactor(set.credentials...)
	if err != nil {
		return nil, err
	}
	deps.Invoker, deps.Policy, deps.Redact, deps.Fleet = functions, policy, redactor.Apply, functions.state()
	deps.Examples = examples.Files()
	if err := onLambdaDeps(ctx, set, &deps); err != nil {
		return nil, err
	}
	return gateway.New(gateway.Config{
		MaxBodyBytes: set.maxBody, CORSOrigins: set.corsOrigins, Places: functions.places, SparePlaces: functions.spare, OpenedHosts: set.opened,
		HooksHost: set.hooks.host, HookRate: set.hooks.perMinute, HookAnswerHeaders: set.hooks.answers,
		CallbackSecret: set.callbackKey, KeepCode: set.keeping.KeepCode, Proxies: set.proxies, Spread: set.front != "" || isBucket(set.state), Frozen: set.front != "",
	}, deps)
}
