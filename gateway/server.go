package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/mcp"
	"github.com/airlock-run/airlock/gateway/meter"
	"github.com/airlock-run/airlock/gateway/openapi"
	"github.com/airlock-run/airlock/gateway/queue"
	"github.com/airlock-run/airlock/gateway/ratelimit"
	"github.com/airlock-run/airlock/gateway/results"
)

// Server is the gateway. Its methods are safe for concurrent use.
type Server struct {
	cfg     Config
	deps    Deps
	app     *fiber.App
	decider *fairDecider
	queue   *queue.Queue
	kept    *results.Store[kept]
	pure    *results.Store[known]
	once    *results.Once
	streams *streams
	state   *state
	places  places
	meter   *meter.Meter
	exposed *meter.Exposition
	mcp     *mcp.Server
	api     *openapi.Document
	tags    struct{ api, docs string } // of the document and its page
	web     *web
	// activity is what goes on now, and verifier what is known of the records' chains.
	activity activity
	verifier *verifier
	// hooksApart is set when webhooks have a listener of their own.
	hooksApart atomic.Bool
	started    time.Time
	// base ends when a shutdown has waited long enough; every run hangs on it.
	base   context.Context
	cancel context.CancelFunc
}

// maxHeadBytes bounds the request line and all headers together; more is answered with 431.
const maxHeadBytes = 16 << 10

// New checks the configuration and builds a server that does not listen yet.
func New(cfg Config, deps Deps) (*Server, error) {
	cfg, err := cfg.checked()
	if err != nil {
		return nil, err
	}
	if err := deps.checked(); err != nil {
		return nil, err
	}
	if deps.Auth.Open() && len(cfg.CORSOrigins) == 1 && cfg.CORSOrigins[0] == "*" {
		return nil, errors.New("any origin (*) may not call a gateway that asks for no credentials: list the origins, or configure a credential")
	}
	decider, err := newFairDecider(deps.Policy, deps.Reader)
	if err != nil {
		return nil, err
	}
	if deps.HookLimiter == nil {
		if deps.HookLimiter, err = ratelimit.New(ratelimit.Config{Window: time.Minute, Max: cfg.HookRate, Now: deps.Now}); err != nil {
			return nil, err
		}
	}
	s := &Server{cfg: cfg, deps: deps, decider: decider, started: deps.Now(), meter: meter.New(), places: newPlaces(deps.Now)}
	if s.queue, err = queue.New(queue.Config{
		Places: cfg.Places, Spare: cfg.SparePlaces, Depth: cfg.QueueDepth, Now: deps.Now, Concurrent: concurrent(deps.Quotas),
	}); err != nil {
		return nil, err
	}
	if s.kept, err = results.New[kept](cfg.KeptResults, cfg.KeptResultBytes); err != nil {
		return nil, err
	}
	if s.pure, err = results.New[known](cfg.KeptResults, cfg.KeptResultBytes); err != nil {
		return nil, err
	}
	if s.once, err = results.NewOnce(bounds.Of(bounds.Keys).Most, cfg.KeptResultBytes, deps.Now); err != nil {
		return nil, err
	}
	if s.streams, err = newStreams(); err != nil {
		return nil, err
	}
	if s.exposed, err = meter.NewExposition(s.meter, s.gauges()...); err != nil {
		return nil, err
	}
	if err := s.exposed.Add(s.places); err != nil {
		return nil, err
	}
	if deps.Fleet != nil {
		if err := s.exposed.Add(fleetMetrics{deps.Fleet}); err != nil {
			return nil, err
		}
	}
	if state, ok := deps.State.(figured); ok {
		if err := s.exposed.Add(storageMetrics{s, state}); err != nil {
			return nil, err
		}
	}
	if err := s.describe(); err != nil {
		return nil, err
	}
	if err := s.newWeb(); err != nil {
		return nil, err
	}
	s.verifier = newVerifier(deps, s.activity.happened)
	s.base, s.cancel = context.WithCancel(context.Background())
	if s.deps.Logins == nil {
		if s.deps.Logins, err = newLogins(deps.Now); err != nil {
			return nil, err
		}
	}
	if s.state, err = s.newState(); err != nil {
		return nil, err
	}
	s.app = fiber.New(fiber.Config{
		AppName:                      "airlock",
		BodyLimit:                    cfg.MaxBodyBytes,
		CaseSensitive:                true,
		Concurrency:                  bounds.Of(bounds.Connections).Most,
		DisablePreParseMultipartForm: true,
		DisableStartupMessage:        true,
		ErrorHandler:                 s.fail,
		IdleTimeout:                  cfg.IdleTimeout,
		ReadBufferSize:               maxHeadBytes,
		ReadTimeout:                  cfg.ReadTimeout,
		WriteTimeout:                 cfg.WriteTimeout,
	})
	s.routes()
	http := s.app.Server()
	http.CloseOnShutdown = true
	http.ExpectHandler = s.expect
	http.Handler = s.entrance(http.Handler)
	refuse := http.ErrorHandler
	http.ErrorHandler = func(ctx *fasthttp.RequestCtx, err error) {
		linger(ctx)
		refuse(ctx, err)
	}
	return s, nil
}

// Serve answers on l until Shutdown; it then returns nil.
func (s *Server) Serve(l net.Listener) error {
	if err := s.reachable(l); err != nil {
		return err
	}
	s.startState(s.base)
	return s.app.Listener(doormen{l, s.places.connections, s.cfg.Proxies, false})
}

// reachable refuses an address that other machines reach where no credential is asked for.
func (s *Server) reachable(l net.Listener) error {
	if s.deps.Auth.Open() {
		if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
			return fmt.Errorf("gateway: without a credential it serves on a loopback address only, not on %s", l.Addr())
		}
	}
	return nil
}

// Shutdown stops listening and lets what runs finish. When ctx ends first, the runs that are left are stopped, recorded
// as cancelled, and their callers told so.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mcp.Close()
	s.activity.close()
	s.verifier.close()
	done := make(chan error, 1)
	go func() {
		stopped := make(chan error, 1)
		go func() { stopped <- s.state.stop() }()
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
		return fmt.Errorf("gateway: connections were still open: %w", ctx.Err())
	}
}

// entrance is around everything: a panic of ours costs one request, an ambiguous head costs the connection, and a method
// nobody knows is a problem document too.
func (s *Server) entrance(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		defer func() {
			if r := recover(); r != nil {
				s.deps.Logger.Error("a handler panicked", "path", string(ctx.Path()), "panic", fmt.Sprint(r))
				ctx.Response.Reset()
				s.failRaw(ctx, &problem{status: 500})
			}
		}()
		if bytes.HasPrefix(ctx.URI().PathOriginal(), []byte(hooksPath)) {
			ctx.Request.Header.DelAllCookies() // nobody is logged in to a webhook
		}
		s.believe(ctx)
		if !plainHTTP(&ctx.Request.Header) {
			ctx.SetConnectionClose()
			s.failRaw(ctx, &problem{status: 400})
			return
		}
		if expected := ctx.Request.Header.Peek(fiber.HeaderExpect); len(expected) > 0 && !bytes.EqualFold(expected, []byte("100-continue")) {
			ctx.SetConnectionClose()
			s.failRaw(ctx, &problem{status: 417})
			return
		}
		if h := &ctx.Request.Header; (h.IsPost() || h.IsPut()) && h.ContentLength() == 0 && !framed(h) {
			// Were there a body all the same, it would look like the next request, whoever refuses this one.
			ctx.SetConnectionClose()
			linger(ctx)
		}
		if s.misplaced(ctx) {
			s.failRaw(ctx, &problem{status: 404})
			return
		}
		switch string(ctx.Method()) {
		case fiber.MethodGet, fiber.MethodHead, fiber.MethodPost, fiber.MethodPut, fiber.MethodDelete, fiber.MethodOptions,
			fiber.MethodPatch, fiber.MethodTrace:
			next(ctx)
		default:
			ctx.SetConnectionClose() // CONNECT would be followed by anything
			s.failRaw(ctx, &problem{status: 501, detail: "this method is not known here"})
		}
	}
}

// expect answers "Expect: 100-continue" before the body is sent when it would be refused anyway.
func (s *Server) expect(ctx *fasthttp.RequestCtx) int {
	if ctx.Request.Header.ContentLength() > s.cfg.MaxBodyBytes {
		s.failRaw(ctx, &problem{status: 413})
		return 413
	}
	return 100
}

// failRaw answers a request that never reached a route.
func (s *Server) failRaw(ctx *fasthttp.RequestCtx, p *problem) {
	linger(ctx)
	c := s.app.AcquireCtx(ctx)
	defer s.app.ReleaseCtx(c)
	if err := s.fail(c, p); err != nil {
		s.deps.Logger.Error("an answer could not be written", "error", err)
	}
}

// concurrent is how many places a tenant may hold; nil sets no bound.
func concurrent(quotas Quotas) func(tenant string) int {
	if quotas == nil {
		return nil
	}
	return quotas.Concurrent
}
