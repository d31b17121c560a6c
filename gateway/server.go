package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/airlock-run/airlock/gateway/access"
	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/dashboard"
	"github.com/airlock-run/airlock/gateway/httpconn"
	"github.com/airlock-run/airlock/gateway/mcp"
	"github.com/airlock-run/airlock/gateway/records"
)

// Server is the gateway. Its methods are safe for concurrent use.
type Server struct {
	cfg        Config
	deps       Deps
	app        *fiber.App
	problems   *problems
	places     access.Places
	bodies     *httpconn.Bodies
	background *background
	agents     *mcp.Server
	activity   *dashboard.Activity
	verifier   *records.Verifier
	metrics    prometheus.Gatherer
	// hooksApart is set if webhooks have a listener of their own.
	hooksApart atomic.Bool
	draining   atomic.Bool
	// base ends when a shutdown has waited long enough. It is the parent of every run.
	base   context.Context
	cancel context.CancelFunc
}

// maxHeadBytes bounds the request line and all headers together. A request with more is answered with 431.
const maxHeadBytes = 16 << 10

// maxFraming bounds the bytes of a request besides the longest body: its head, and what frames the chunks of a body.
const maxFraming = 2 << 20

// New checks the configuration and returns a Server that does not listen yet.
func New(cfg Config, deps Deps) (*Server, error) {
	cfg, err := cfg.checked()
	if err != nil {
		return nil, err
	}
	if err := deps.checked(); err != nil {
		return nil, err
	}
	if deps.Auth.Open() && len(cfg.CORSOrigins) == 1 && cfg.CORSOrigins[0] == "*" {
		return nil, errors.New("the CORS origin * needs a gateway with credentials: " +
			"list the origins, or configure a credential")
	}
	connections := httpconn.MaxConnections(httpconn.OpenFiles())
	s := &Server{cfg: cfg, deps: deps, places: access.NewPlaces(connections, deps.Now), activity: new(dashboard.Activity)}
	s.bodies = &httpconn.Bodies{
		Long: cfg.MaxBodyBytes, Short: cfg.MaxDataBytes, Open: deps.Auth.Open(), Places: s.places.LongBodies,
	}
	s.base, s.cancel = context.WithCancel(context.Background())
	h, err := s.assemble()
	if err != nil {
		return nil, err
	}
	s.app = fiber.New(fiber.Config{
		AppName:                      "airlock",
		BodyLimit:                    cfg.MaxBodyBytes,
		CaseSensitive:                true,
		Concurrency:                  connections,
		DisablePreParseMultipartForm: true,
		DisableStartupMessage:        true,
		ErrorHandler:                 s.problems.respond,
		IdleTimeout:                  cfg.IdleTimeout,
		ReadBufferSize:               maxHeadBytes,
		ReadTimeout:                  cfg.ReadTimeout,
		WriteTimeout:                 cfg.WriteTimeout,
	})
	h.route(s.app, cfg.CORSOrigins)
	s.wrap(s.app.Server())
	return s, nil
}

// Serve serves on l until Shutdown. It then returns nil.
func (s *Server) Serve(l net.Listener) error {
	if err := s.checkListener(l); err != nil {
		return err
	}
	if !s.cfg.NoBackgroundWork {
		s.background.start(s.base)
	}
	return s.app.Listener(s.listener(l))
}

// KeepHooksApart reserves webhooks for ServeHooks. It must be called before Serve.
func (s *Server) KeepHooksApart() error {
	if s.cfg.Hooks.Host != "" {
		return errors.New("gateway: webhooks have a host of their own; they cannot also have a listener")
	}
	s.hooksApart.Store(true)
	return nil
}

// ServeHooks serves webhooks, and nothing else, on l until Shutdown. It then returns nil. A host of their own keeps the
// logins of browsers away from webhooks; a port of their own separates them from the API in a firewall.
func (s *Server) ServeHooks(l net.Listener) error {
	if err := errors.Join(s.checkListener(l), s.KeepHooksApart()); err != nil {
		return err
	}
	s.app.Handler() // builds the table of routes
	hooks := s.listener(l)
	hooks.HooksOnly = true
	return s.app.Server().Serve(hooks)
}

// listener bounds the connections of l.
func (s *Server) listener(l net.Listener) httpconn.Listener {
	return httpconn.Listener{Listener: l, Pool: s.places.Connections, Proxies: s.cfg.Proxies,
		Request: int64(s.cfg.MaxBodyBytes) + maxFraming}
}

// checkListener refuses an address that other machines reach if the gateway asks for no credentials.
func (s *Server) checkListener(l net.Listener) error {
	if s.deps.Auth.Open() {
		if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
			return fmt.Errorf("gateway: without credentials it serves only loopback addresses, not %s", l.Addr())
		}
	}
	return nil
}

// ServeMCP serves one client of the Model Context Protocol over a transport such as stdio, until the client leaves or
// ctx ends. The client started this process, so it may do everything.
func (s *Server) ServeMCP(ctx context.Context, transport sdk.Transport) error {
	return s.agents.Serve(ctx, transport, mcp.Caller{Identity: authn.Local()})
}

// RunDue does what other servers do in the background, for a server with NoBackgroundWork. With an id, it runs that
// job. Without one, it submits what schedules demand, runs stored jobs, makes callbacks, adopts the jobs of processes
// that died and deletes old ones. It begins no job shortly before ctx ends, and returns when everything that it began
// has ended. Several processes may call it at once.
func (s *Server) RunDue(ctx context.Context, id string) error { return s.background.runDue(ctx, id) }

// Gatherer returns the metrics of GET /metrics for other exporters.
func (s *Server) Gatherer() prometheus.Gatherer { return s.metrics }

// Drain makes /readyz return 503, because the gateway is about to stop. Requests are served as before.
func (s *Server) Drain() { s.draining.Store(true) }

// Shutdown stops listening and lets runs finish. If ctx ends first, the runs that are left are stopped and recorded as
// cancelled, and their callers get that result.
func (s *Server) Shutdown(ctx context.Context) error {
	s.agents.Close()
	s.activity.Close()
	s.verifier.Close()
	done := make(chan error, 1)
	go func() {
		stopped := make(chan error, 1)
		go func() { stopped <- s.background.stop() }()
		done <- errors.Join(s.app.ShutdownWithContext(context.WithoutCancel(ctx)), <-stopped)
	}()
	select {
	case err := <-done:
		s.cancel()
		return err
	case <-ctx.Done():
		s.cancel()
	}
	last := time.NewTimer(5 * time.Second)
	defer last.Stop()
	select {
	case err := <-done:
		return err
	case <-last.C:
		return fmt.Errorf("gateway: requests or jobs had not ended: %w", ctx.Err())
	}
}
