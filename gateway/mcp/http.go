package mcp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// call is the caller of a tool, and a context that ends when the call can no longer be answered.
type call struct {
	caller Caller
	gone   context.Context
}

// callerKey is the key of the authenticated Caller in the context of an HTTP request.
type callerKey struct{}

// ServeHTTP serves the streamable HTTP transport. The request's context must have its caller (withCaller) and end when
// the client hangs up.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		waiting, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(s.leaving, cancel)()
		r = r.WithContext(waiting)
	}
	// The SDK carries the caller from its bearer middleware to sessions and tools. The credential itself is removed.
	r = r.WithContext(r.Context())
	r.Header = r.Header.Clone()
	r.Header.Del("X-Api-Key")
	r.Header.Set("Authorization", "Bearer recognised")
	if r.Header.Get("Mcp-Session-Id") != "" {
		w = &unknowing{ResponseWriter: w}
	}
	s.handler.ServeHTTP(w, r)
}

// unknowing makes the session of another caller look like an unknown session. The SDK compares the callers and responds
// with 403, which would reveal to anybody who tries IDs that this one is in use.
type unknowing struct {
	http.ResponseWriter
	refused bool // with 403, and nothing written yet
}

// The SDK's responses for a session of another caller and for an unknown session.
const (
	othersSession = "session user mismatch"
	noSession     = "session not found"
)

// WriteHeader implements http.ResponseWriter.
func (u *unknowing) WriteHeader(status int) {
	if u.refused = status == http.StatusForbidden; !u.refused {
		u.ResponseWriter.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter.
func (u *unknowing) Write(b []byte) (int, error) {
	if !u.refused {
		return u.ResponseWriter.Write(b)
	}
	u.refused = false
	if strings.TrimSpace(string(b)) != othersSession {
		u.ResponseWriter.WriteHeader(http.StatusForbidden)
		return u.ResponseWriter.Write(b)
	}
	u.ResponseWriter.WriteHeader(http.StatusNotFound)
	_, err := io.WriteString(u.ResponseWriter, noSession+"\n")
	return len(b), err
}

// Flush implements http.Flusher.
func (u *unknowing) Flush() {
	if u.refused {
		u.refused = false
		u.ResponseWriter.WriteHeader(http.StatusForbidden)
	}
	if f, ok := u.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// tokenOf returns to the SDK the caller that the gateway authenticated.
func tokenOf(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
	caller, ok := ctx.Value(callerKey{}).(Caller)
	if !ok {
		return nil, errors.New("the caller was not authenticated")
	}
	return &auth.TokenInfo{
		Scopes: caller.Identity.Scopes, UserID: caller.Identity.Owner(),
		Extra: map[string]any{"call": call{caller, ctx}},
	}, nil
}

// ofRequest returns the caller of a request that came over HTTP.
func ofRequest(request sdk.Request) (call, error) {
	if extra := request.GetExtra(); extra != nil && extra.TokenInfo != nil {
		if c, ok := extra.TokenInfo.Extra["call"].(call); ok {
			return c, nil
		}
	}
	return call{}, errors.New("the caller was not authenticated")
}
