package mcptools

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/functions/execution"
)

const (
	every   = time.Minute // between two looks at a server's tools, when it says nothing
	calm    = time.Second // between two looks, whatever it says
	listing = 10 * time.Second
)

// A Catalogue holds the tools of the MCP servers. It is safe for concurrent use.
type Catalogue struct {
	network http.RoundTripper
	log     *slog.Logger
	running context.Context
	stop    context.CancelFunc
	done    sync.WaitGroup
	reading chan struct{} // a place for each list that is read now

	mu       sync.Mutex
	servers  *Servers
	followed map[Server]*followed
}

// followed is a server whose tools are listed.
type followed struct {
	server Server
	secret string
	stop   context.CancelFunc
	asked  chan struct{} // closed once it has been asked
	// The rest belongs to the catalogue's lock.
	tools   []execution.Tool
	listed  bool
	problem string // why they are not listed
}

// Open lists the tools of every server, waiting no longer than ctx, and lists them again every minute and whenever a
// server reports a change, until Close. A server that does not answer keeps its tools.
func Open(ctx context.Context, servers *Servers, network http.RoundTripper, log *slog.Logger) *Catalogue {
	c := &Catalogue{network: network, log: log, followed: map[Server]*followed{}, reading: make(chan struct{}, atOnce)}
	c.running, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	c.Replace(ctx, servers)
	return c
}

// Replace replaces the servers. It lists the tools of new ones, waiting no longer than ctx, and keeps what is known
// of the others.
func (c *Catalogue) Replace(ctx context.Context, servers *Servers) {
	c.mu.Lock()
	c.servers = servers
	before, now := c.followed, map[Server]*followed{}
	var fresh []*followed
	for _, server := range servers.list {
		f := before[server]
		if f == nil {
			f = &followed{server: server, secret: servers.hidden(&server), asked: make(chan struct{})}
			var running context.Context
			running, f.stop = context.WithCancel(c.running)
			c.done.Go(func() { c.follow(running, f) })
			fresh = append(fresh, f)
		}
		now[server] = f
	}
	c.followed = now
	c.mu.Unlock()
	for server, f := range before {
		if now[server] == nil {
			f.stop()
		}
	}
	for _, f := range fresh {
		select {
		case <-f.asked:
		case <-ctx.Done():
			return
		}
	}
}

// Unlisted returns the servers that have never listed their tools, in their order.
func (c *Catalogue) Unlisted() (out []execution.UnlistedServer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.servers.list {
		if f := c.followed[s]; !f.listed {
			out = append(out, execution.UnlistedServer{Namespace: s.Namespace, Server: s.ID(),
				Problem: cmp.Or(f.problem, "its server has not answered yet")})
		}
	}
	return out
}

// Close stops listing.
func (c *Catalogue) Close() {
	c.stop()
	c.done.Wait()
}

// Tools returns the known tools, by server in their order. It never waits for a server. Callers must not change the
// result.
func (c *Catalogue) Tools() []execution.Tool {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []execution.Tool
	for _, s := range c.servers.list {
		all = append(all, c.followed[s].tools...)
	}
	return all
}

// follow keeps the tools of one server up to date. The session stays open for changes; a lost one is opened again at
// the next look.
func (c *Catalogue) follow(ctx context.Context, f *followed) {
	defer f.stop()
	changed := make(chan struct{}, 1)
	again := time.NewTicker(every)
	defer again.Stop()
	var session *sdk.ClientSession
	for failing, asked := false, false; ; {
		var err error
		if session, err = c.look(ctx, f, session, changed); err != nil && ctx.Err() == nil {
			c.fail(f, err)
			if !failing {
				c.log.Warn("the tools of an MCP server cannot be listed; it is asked again every minute", "namespace",
					f.server.Namespace, "error", err, "cause", cause(err))
			}
		}
		failing = err != nil
		if !asked {
			asked = true
			close(f.asked)
		}
		if !pause(ctx, calm) {
			break
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-again.C:
		}
		if ctx.Err() != nil {
			break
		}
	}
	leave(session)
}

// leave ends a session, with a short wait: the server forgets it by itself.
func leave(session *sdk.ClientSession) {
	if session == nil {
		return
	}
	left := make(chan struct{})
	go func() {
		defer close(left)
		_ = session.Close()
	}()
	enough := time.NewTimer(goodbye)
	defer enough.Stop()
	select {
	case <-left:
	case <-enough.C:
	}
}

// pause waits and reports whether ctx is still valid.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// look lists a server's tools, over the current session or a new one. It returns the session to use next, nil if the
// current one is unusable.
func (c *Catalogue) look(ctx context.Context, f *followed, session *sdk.ClientSession,
	changed chan<- struct{}) (*sdk.ClientSession, error) {
	ctx, cancel := context.WithTimeout(ctx, min(listing, f.server.Timeout))
	defer cancel()
	if session != nil {
		if tools, err := c.list(ctx, f, session); err == nil {
			c.keep(f, tools)
			return session, nil
		}
		leave(session)
	}
	session, err := connect(ctx, &f.server, &authorized{c.network, &f.server, f.secret}, func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return nil, err
	}
	tools, err := c.list(ctx, f, session)
	if err != nil {
		leave(session)
		return nil, err
	}
	c.keep(f, tools)
	return session, nil
}

func (c *Catalogue) keep(f *followed, tools []execution.Tool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.tools, f.listed = tools, true
}

func (c *Catalogue) fail(f *followed, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.problem = err.Error()
}
