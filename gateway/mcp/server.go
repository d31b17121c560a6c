package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/openapi"
	"github.com/airlock-run/airlock/policy"
)

// Config configures a Server. If Functions, Tools, Approvals or Sessions is nil, their tools are not offered.
// Everything else but Encode and Tiers is required.
type Config struct {
	Executor  Executor
	Functions Functions
	Tools     Tools
	Approvals Approvals
	Sessions  Sessions
	// Tiers returns the tiers of the policy in force, and the hosts that the deployment opened. It may be nil.
	Tiers func() (tiers []policy.Tier, hosts []string)
	// Encode encodes a result. The default is api.Encode.
	Encode func(execution.Result) ([]byte, error)
	// Explain returns what callers may know of an error.
	Explain func(error) Problem
	Schemas *openapi.Document
	Version string
	// MaxBodyBytes bounds one HTTP request.
	MaxBodyBytes int
	Logger       *slog.Logger
}

// Server offers the tools. It is safe for concurrent use.
type Server struct {
	cfg      Config
	handler  http.Handler
	leaving  context.Context
	leave    context.CancelFunc
	describe []described
}

// New checks the configuration and returns a Server.
func New(cfg Config) (*Server, error) {
	if cfg.Executor == nil || cfg.Explain == nil || cfg.Schemas == nil || cfg.Logger == nil || cfg.MaxBodyBytes <= 0 {
		return nil, errors.New("mcp: Executor, Explain, Schemas, Logger and MaxBodyBytes are required")
	}
	if cfg.Encode == nil {
		cfg.Encode = func(r execution.Result) ([]byte, error) { return api.Encode(r) }
	}
	s := &Server{cfg: cfg}
	var err error
	if s.describe, err = descriptions(cfg.Schemas, cfg.Sessions != nil); err != nil {
		return nil, err
	}
	s.leaving, s.leave = context.WithCancel(context.Background())
	server := s.server(ofRequest)
	give := func(*http.Request) *sdk.Server { return server }
	sessions := sdk.NewStreamableHTTPHandler(give, &sdk.StreamableHTTPOptions{
		SessionTimeout: bounds.SessionIdle, MaxRequestBodyBytes: int64(cfg.MaxBodyBytes), Logger: cfg.Logger,
	})
	// From 2026-07-28 on, the protocol has no sessions: each request is complete in itself.
	stateless := sdk.NewStreamableHTTPHandler(give, &sdk.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: int64(cfg.MaxBodyBytes), Logger: cfg.Logger,
	})
	s.handler = auth.RequireBearerToken(tokenOf, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if sessionless(r.Header.Get("Mcp-Protocol-Version")) {
				stateless.ServeHTTP(w, r)
				return
			}
			sessions.ServeHTTP(w, r)
		}))
	return s, nil
}

// sessionless reports whether a version of the protocol has no sessions.
func sessionless(version string) bool { return version >= "2026-07-28" }

// Close ends the streams on which clients only wait, so that a shutdown need not wait for them. Running calls finish.
func (s *Server) Close() { s.leave() }

// Serve serves one client over a transport such as stdio until the client leaves or ctx ends. caller is who that
// client is.
func (s *Server) Serve(ctx context.Context, transport sdk.Transport, caller Caller) error {
	server := s.server(func(sdk.Request) (call, error) { return call{caller, ctx}, nil })
	if err := server.Run(ctx, transport); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve the model context protocol: %w", err)
	}
	return nil
}

// server returns a server of the SDK with our tools. callerOf returns who made a request.
func (s *Server) server(callerOf func(sdk.Request) (call, error)) *sdk.Server {
	server := sdk.NewServer(
		&sdk.Implementation{Name: "airlock", Title: "Airlock", Version: s.cfg.Version},
		&sdk.ServerOptions{
			Instructions: instructions, Logger: slog.New(sdkLog{s.cfg.Logger.Handler()}),
			Capabilities: s.capabilities(),
		})
	server.AddReceivingMiddleware(s.untilClosed, afterDecoding, s.listed(callerOf), s.offering(callerOf))
	for _, d := range s.describe {
		if d.saved && s.cfg.Functions == nil || d.attached && s.cfg.Tools == nil || d.decides && s.cfg.Approvals == nil ||
			d.session && s.cfg.Sessions == nil {
			continue
		}
		server.AddTool(d.tool, s.tool(d, callerOf))
	}
	return server
}

// capabilities returns what the server has. The tools do not change while the process lives; the description of one
// may. Resources and prompts are those of attached servers.
func (s *Server) capabilities() *sdk.ServerCapabilities {
	caps := &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}
	if s.cfg.Tools != nil {
		caps.Resources, caps.Prompts = &sdk.ResourceCapabilities{}, &sdk.PromptCapabilities{}
	}
	return caps
}

// afterDecoding ends the turn of a message that is not a call of a tool: it has been decoded. The arguments of a call
// have not.
func afterDecoding(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
		if extra := request.GetExtra(); method != "tools/call" && extra != nil && extra.TokenInfo != nil {
			if c, ok := extra.TokenInfo.Extra["call"].(call); ok {
				c.caller.decoded()
			}
		}
		return next(ctx, method, request)
	}
}

// untilClosed ends the calls that only wait for news when the server closes.
func (s *Server) untilClosed(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
		if method == "subscriptions/listen" {
			waiting, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(s.leaving, cancel)()
			ctx = waiting
		}
		return next(ctx, method, request)
	}
}
