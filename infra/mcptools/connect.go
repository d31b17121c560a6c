package mcptools

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/policy/address"
	"github.com/airlock-run/airlock/policy/mcpguard"
	"github.com/airlock-run/airlock/policy/outbound"
)

const (
	maxMessage = 300 // bytes of what a server says went wrong
	hidden     = "[secret]"
)

// connect opens a session. ctx bounds the opening only. If changed is not nil, connect also listens and calls it
// whenever the server reports that its tools, resources or prompts have changed. If q is not nil, it answers the
// server's questions.
func connect(ctx context.Context, server *Server, network http.RoundTripper, changed func(),
	q *questions) (*sdk.ClientSession, error) {
	session, err := newClient(changed, q).Connect(ctx, &sdk.StreamableClientTransport{
		Endpoint: server.URL, DisableStandaloneSSE: changed == nil && q == nil, MaxRetries: -1, MaxEventSize: maxAnswer,
		HTTPClient: outbound.Over(network),
	}, nil)
	if err != nil {
		return nil, connectError(ctx, server, err)
	}
	return session, nil
}

// newClient returns a client that calls changed, unless that is nil, whenever its server reports that its tools,
// resources or prompts have changed. If q is not nil, it answers the server's questions.
func newClient(changed func(), q *questions) *sdk.Client {
	options := &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{}, MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
	}
	if changed != nil {
		options.ToolListChangedHandler = func(context.Context, *sdk.ToolListChangedRequest) { changed() }
		options.ResourceListChangedHandler = func(context.Context, *sdk.ResourceListChangedRequest) { changed() }
		options.PromptListChangedHandler = func(context.Context, *sdk.PromptListChangedRequest) { changed() }
	}
	if q != nil {
		options.ElicitationHandler = q.answer
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "airlock", Title: "Airlock"}, options)
	mcpguard.Client(client)
	return client
}

// connectError returns the error of a session that did not open, in words for guests.
func connectError(ctx context.Context, server *Server, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &unreachableError{fmt.Sprintf("the server of %s has not answered in time", server.Namespace), ctx.Err()}
	case ctx.Err() != nil:
		return ctx.Err()
	}
	if broken := (*brokenError)(nil); errors.As(err, &broken) {
		return broken.told(server)
	}
	return &unreachableError{fmt.Sprintf("the server of %s does not speak the protocol", server.Namespace), err}
}

// An unreachableError is worded for guests. Its cause is for the log.
type unreachableError struct {
	text  string
	cause error
}

func (u *unreachableError) Error() string { return u.text }

func (u *unreachableError) Unwrap() error { return u.cause }

// cause returns the cause of an error that is worded for guests, or "".
func cause(err error) string {
	if u := (*unreachableError)(nil); errors.As(err, &u) && u.cause != nil {
		return u.cause.Error()
	}
	return ""
}

// reason returns why a connection failed, in words for guests. It names no address.
func reason(err error) string {
	var (
		name        *net.DNSError
		certificate *tls.CertificateVerificationError
		timeout     net.Error
	)
	switch {
	case errors.Is(err, address.ErrRefused):
		return address.ErrRefused.Error()
	case errors.Is(err, outbound.ErrHeaders):
		return outbound.ErrHeaders.Error()
	case errors.Is(err, syscall.ECONNREFUSED):
		return "it refuses connections"
	case errors.As(err, &name):
		return "its name cannot be resolved"
	case errors.As(err, &certificate):
		return "its certificate is not valid"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "it does not answer"
	}
	return "the connection failed"
}

// A brokenError is a request that the network lost or that a server refused.
type brokenError struct {
	err    error
	status int
}

func (b *brokenError) Error() string {
	if b.err != nil {
		return b.err.Error()
	}
	return http.StatusText(b.status)
}

func (b *brokenError) Unwrap() error { return b.err }

// told returns the error for guests. A network refusal is already worded for them; other causes are not shown.
func (b *brokenError) told(server *Server) error {
	var refused interface {
		error
		Refused() bool
	}
	switch {
	case errors.As(b.err, &refused) && refused.Refused():
		return refused
	case b.status != 0:
		return fmt.Errorf("the server of %s answered %d", server.Namespace, b.status)
	}
	return &unreachableError{fmt.Sprintf("the server of %s cannot be reached: %s", server.Namespace, reason(b.err)), b.err}
}

// authorized sends a server its secret, and sends it nowhere else.
type authorized struct {
	next   http.RoundTripper
	server *Server
	secret string
}

// RoundTrip implements http.RoundTripper.
func (a *authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	own, err := url.Parse(a.server.URL)
	if err == nil && a.secret != "" && r.URL.Scheme == own.Scheme && r.URL.Host == own.Host {
		r = r.Clone(r.Context())
		if a.server.Header == "" {
			r.Header.Set("Authorization", "Bearer "+a.secret)
		} else {
			r.Header.Set(a.server.Header, a.secret)
		}
	}
	res, err := a.next.RoundTrip(r)
	if err != nil {
		return nil, &brokenError{err: err}
	}
	switch {
	case r.Method == http.MethodGet && res.StatusCode >= 400: // it has no stream of changes, and can be asked all the same
		res.StatusCode = http.StatusMethodNotAllowed
	case res.StatusCode == http.StatusUnauthorized, res.StatusCode == http.StatusForbidden,
		res.StatusCode == http.StatusTooManyRequests, res.StatusCode >= 500:
		_ = res.Body.Close() // the rest is not needed
		return nil, &brokenError{status: res.StatusCode}
	}
	return res, nil
}

func (s *Servers) hidden(server *Server) string { return s.secret(server.Secret) }

// hide removes a secret from a server's text.
func hide(text, secret string) string {
	if secret == "" {
		return text
	}
	return strings.ReplaceAll(text, secret, hidden)
}

// value returns a guest's value for a tool's result: its structured content, or its text, decoded if it is a JSON
// object or list, or the list of its content. A failure is an error with the text. kept may be nil.
func value(result *sdk.CallToolResult, kept *contents, secret string) (json.RawMessage, error) {
	content, err := kept.take(result.StructuredContent)
	if err != nil {
		return nil, err
	}
	text, texts, others := textsOf(result.Content)
	if list, ok := content.(listed); ok {
		mixed := false
		if text, texts, mixed, err = list.texts(); err != nil {
			return nil, &refusedError{"the answer has content that the protocol does not have"}
		}
		if content = nil; mixed {
			others = json.RawMessage(list)
		}
	}
	if result.IsError {
		if text == "" {
			text = "the tool failed"
		}
		return nil, &refusedError{clip(hide(text, secret))}
	}
	var v any
	switch structured := len(text) > 0 && (text[0] == '{' || text[0] == '[') && json.Valid([]byte(text)); {
	case content != nil:
		v = content
	case others != nil:
		v = others
	case structured:
		v = json.RawMessage(text)
	case texts > 0:
		v = text
	}
	return hiddenJSON(v, secret)
}

// textsOf returns the texts among contents, with a line end between two, and how many there are. others are all
// contents if some are no texts, and nil otherwise.
func textsOf(contents []sdk.Content) (text string, n int, others any) {
	var texts []string
	for _, c := range contents {
		if t, ok := c.(*sdk.TextContent); ok {
			texts = append(texts, t.Text)
		} else {
			others = contents
		}
	}
	return strings.Join(texts, "\n"), len(texts), others
}

func clip(text string) string { return clipTo(text, maxMessage) }

func clipTo(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = text[:most]
	for range utf8.UTFMax - 1 {
		if r, size := utf8.DecodeLastRuneInString(text); r != utf8.RuneError || size != 1 {
			break
		}
		text = text[:len(text)-1]
	}
	return text + "…"
}
