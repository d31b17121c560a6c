package mcptools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/policy/toolinput"
)

// Servers are the MCP servers and their secrets. It is safe for concurrent use.
type Servers struct {
	list   []Server
	secret func(name string) string
}

// New returns the servers of Parse; secret returns a secret's value, or "".
func New(list []Server, secret func(name string) string) *Servers {
	return &Servers{list: list, secret: secret}
}

// find returns the server of a tool "namespace:name", and the tool's name there. A server that is a command is not
// found: its process belongs to the gateway.
func (s *Servers) find(tool string) (*Server, string, bool) {
	namespace, name, ok := strings.Cut(tool, ":")
	for i := range s.list {
		if ok && s.list[i].Namespace == namespace && s.list[i].Command == "" {
			return &s.list[i], name, true
		}
	}
	return nil, "", false
}

// Begin returns the calls of one execution. It must be closed.
func (s *Servers) Begin() *Execution {
	return &Execution{servers: s, open: map[string]*connection{}}
}

// An Execution holds the sessions of one execution. It is safe for concurrent use.
type Execution struct {
	servers *Servers

	mu   sync.Mutex
	open map[string]*connection // by namespace
}

// connection is a session, or the error of opening it, once done is closed.
type connection struct {
	done    chan struct{}
	session *sdk.ClientSession
	err     error
	// questions is nil if the call that opened the session cannot wait for input.
	questions *questions
}

// goodbye bounds the closing of a session.
const goodbye = time.Second

// Tool returns how to call a tool over a network and the time that one call may take; ok is false if no server has
// its namespace.
func (e *Execution) Tool(name string) (over func(http.RoundTripper) func(context.Context,
	json.RawMessage) (json.RawMessage, error), timeout time.Duration, ok bool) {
	server, method, ok := e.servers.find(name)
	if !ok {
		return nil, 0, false
	}
	return func(network http.RoundTripper) func(context.Context, json.RawMessage) (json.RawMessage, error) {
		return func(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
			return e.call(ctx, server, method, params, network)
		}
	}, server.Timeout, true
}

// Server identifies the server of a tool; "" if no server has its namespace.
func (e *Execution) Server(tool string) string {
	server, _, ok := e.servers.find(tool)
	if !ok {
		return ""
	}
	return server.ID()
}

// Close ends the sessions and waits at most a second for a server, which forgets a session by itself.
func (e *Execution) Close() {
	e.mu.Lock()
	open := e.open
	e.open = map[string]*connection{}
	e.mu.Unlock()
	if len(open) == 0 {
		return
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var all sync.WaitGroup
		for _, c := range open {
			all.Go(func() {
				<-c.done
				if c.session != nil {
					_ = c.session.Close()
				}
			})
		}
		all.Wait()
	}()
	enough := time.NewTimer(goodbye)
	defer enough.Stop()
	select {
	case <-ended:
	case <-enough.C:
	}
}

// call calls a tool over a session of the execution. A session that the server has forgotten is opened again, once. A
// call that was lost in any other way may have been carried out and is not repeated. A session outlives the
// connection of a lost call.
func (e *Execution) call(ctx context.Context, server *Server, method string, params json.RawMessage,
	network http.RoundTripper) (json.RawMessage, error) {
	for again := true; ; again = false {
		c, err := e.session(ctx, server, network)
		if err != nil {
			return nil, err
		}
		result, err := callOver(ctx, server, c.session, c.questions, nil, method, params, e.servers.hidden(server))
		if err == nil {
			return result, nil
		}
		broken, refusal := (*brokenError)(nil), refusalOf(err, e.servers.hidden(server))
		asked := (*toolinput.Request)(nil)
		switch missing := errors.Is(err, sdk.ErrSessionMissing); {
		case errors.As(err, &asked):
			return nil, asked
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.As(err, &broken):
			return nil, broken.told(server)
		case !missing && refusal != "":
			return nil, errors.New(refusal)
		case !missing || !again:
			e.drop(server, c)
			return nil, fmt.Errorf("the connection to the server of %s was lost", server.Namespace)
		}
		e.drop(server, c)
	}
}

// session returns the session with a server, which the first call opens for all.
func (e *Execution) session(ctx context.Context, server *Server, network http.RoundTripper) (*connection, error) {
	e.mu.Lock()
	c, opened := e.open[server.Namespace]
	if !opened {
		c = &connection{done: make(chan struct{})}
		if _, asks := toolinput.Of(ctx); asks {
			c.questions = newQuestions()
		}
		e.open[server.Namespace] = c
	}
	e.mu.Unlock()
	if !opened {
		c.session, c.err = connect(ctx, server, &authorized{network, server, e.servers.secret(server.Secret)}, nil,
			c.questions)
		close(c.done)
		if c.err != nil {
			e.drop(server, c)
		}
	}
	select {
	case <-c.done:
		return c, c.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// drop makes the next call open another session.
func (e *Execution) drop(server *Server, c *connection) {
	e.mu.Lock()
	if e.open[server.Namespace] == c {
		delete(e.open, server.Namespace)
	}
	e.mu.Unlock()
	if c.session != nil {
		go func() { _ = c.session.Close() }() // it is lost already
	}
}
