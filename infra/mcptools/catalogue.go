package mcptools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/policy/toolinput"
)

const (
	notYet = "its server has not answered yet"

	every   = time.Minute // between two listings of a server's tools, if it reports no change
	calm    = time.Second // between two listings in any case
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
	// questions are those of a command.
	questions *questions
	// contents are of answers of a command.
	contents *contents
	// The rest belongs to the catalogue's lock.
	tools   []execution.Tool
	offers  execution.Offers
	listed  bool
	problem string             // why they could not be listed when the server was asked last; "" if they could
	session *sdk.ClientSession // with a command that runs, or nil
}

// Open lists the tools of every server, waiting no longer than ctx, and lists them again every minute and whenever a
// server reports a change, until Close. A server that does not answer keeps its tools.
func Open(ctx context.Context, servers *Servers, network http.RoundTripper, log *slog.Logger) *Catalogue {
	c := &Catalogue{network: network, log: log, followed: map[Server]*followed{}, reading: make(chan struct{}, atOnce)}
	c.running, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	c.Replace(ctx, servers)
	return c
}

// Replace replaces the servers. It lists the tools of new ones, waiting no longer than ctx, and keeps the tools of
// the others.
func (c *Catalogue) Replace(ctx context.Context, servers *Servers) {
	c.mu.Lock()
	c.servers = servers
	before, now := c.followed, map[Server]*followed{}
	var fresh []*followed
	for _, server := range servers.list {
		f := before[server]
		if f == nil {
			f = &followed{
				server: server, secret: servers.hidden(&server), asked: make(chan struct{}), questions: newQuestions(),
				contents: newContents(),
			}
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
			u := execution.UnlistedServer{Namespace: s.Namespace, Server: s.ID(), Problem: cmp.Or(f.problem, notYet)}
			if s.Command != "" {
				u.Via = execution.ToolOfCaller
			}
			out = append(out, u)
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
	var restarts backoff
	for failing, asked := false, false; ; {
		before := session
		var err error
		if session, err = c.look(ctx, f, session, changed); err != nil && ctx.Err() == nil {
			c.fail(f, err)
			if !failing {
				c.log.Warn("the tools of an MCP server cannot be listed; it is asked again, at least every minute", "namespace",
					f.server.Namespace, "error", err, "cause", cause(err))
			}
		} else if failing && err == nil {
			c.log.Info("the tools of an MCP server are listed again", "namespace", f.server.Namespace)
		}
		failing = err != nil
		if !asked {
			asked = true
			close(f.asked)
		}
		delay := calm
		if f.server.Command != "" && (err != nil || session != before) {
			delay = restarts.next(time.Now())
		}
		if !pause(ctx, delay) {
			break
		}
		if f.server.Command != "" && err != nil {
			continue
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
	most := min(listing, f.server.Timeout)
	if f.server.Command != "" {
		most = f.server.Timeout // a command may have to be installed first
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if session != nil {
		if err := c.list(ctx, f, session); err == nil {
			return session, nil
		}
		leave(session)
	}
	session, err := c.open(ctx, f, func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return nil, err
	}
	if err := c.list(ctx, f, session); err != nil {
		leave(session)
		return nil, err
	}
	return session, nil
}

func (c *Catalogue) keep(f *followed, tools []execution.Tool, offers execution.Offers) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.tools, f.offers, f.listed, f.problem = tools, offers, true, ""
}

func (c *Catalogue) fail(f *followed, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.problem = err.Error()
}

// open opens a session with a server. changed is called when its tools may have changed, or its process has ended.
func (c *Catalogue) open(ctx context.Context, f *followed, changed func()) (*sdk.ClientSession, error) {
	if f.server.Command == "" {
		return connect(ctx, &f.server, &authorized{c.network, &f.server, f.secret}, changed, nil)
	}
	c.done.Add(1)
	opened := make(chan *sdk.ClientSession, 1)
	session, err := startSession(ctx, &f.server, f.secret, changed, f.questions, f.contents, func(err error) {
		defer c.done.Done()
		c.lost(f, <-opened, err)
		changed()
	})
	if err != nil {
		c.done.Done()
		return nil, err
	}
	c.mu.Lock()
	f.session = session
	c.mu.Unlock()
	opened <- session
	return session, nil
}

// lost notes that the process of a session has ended.
func (c *Catalogue) lost(f *followed, session *sdk.ClientSession, err error) {
	c.mu.Lock()
	if f.session == session {
		f.session, f.problem = nil, err.Error()
	}
	c.mu.Unlock()
	if c.running.Err() == nil {
		c.log.Warn("the process of an MCP server has ended", "namespace", f.server.Namespace, "error", err,
			"cause", cause(err))
	}
}

// Call calls a tool of a server that is a command. The text of an error is for guests; if ctx allows it, the error may
// be a *toolinput.Request. The caller bounds how many calls go on at once. carried is called with the bytes of each
// message that answers, before that is decoded, and with more if that takes long; an error refuses the answer.
func (c *Catalogue) Call(
	ctx context.Context, tool string, params json.RawMessage, carried func(bytes int) error,
) (json.RawMessage, error) {
	namespace, name, _ := strings.Cut(tool, ":")
	c.mu.Lock()
	i := slices.IndexFunc(c.servers.list, func(s Server) bool { return s.Namespace == namespace && s.Command != "" })
	if i < 0 {
		c.mu.Unlock()
		return nil, errors.New("there is no server of " + namespace)
	}
	f := c.followed[c.servers.list[i]]
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, f.server.Timeout)
	defer cancel()
	select {
	case <-f.asked: // an execution may continue as soon as its gateway has started
	case <-ctx.Done():
	}
	c.mu.Lock()
	session, problem := f.session, f.problem
	c.mu.Unlock()
	if session == nil {
		return nil, errors.New(cmp.Or(problem, notYet))
	}
	late := fmt.Errorf("the server of %s has not answered in time", namespace)
	of := &counter{carried: carried}
	result, err := callOver(context.WithValue(ctx, counterKey{}, of), &f.server, session, f.questions, f.contents, name,
		params, f.secret)
	if refused := of.refused.Load(); refused != nil {
		err = refused
	}
	asked := (*toolinput.Request)(nil)
	switch refusal := refusalOf(err, f.secret); {
	case err == nil:
		return result, nil
	case errors.As(err, &asked):
		return nil, asked
	case ctx.Err() != nil:
		return nil, late
	case refusal != "":
		return nil, errors.New(refusal)
	}
	return nil, fmt.Errorf("the connection to the server of %s was lost", namespace)
}

// Ready returns an error that names each server whose tools could not be listed when it was asked last.
func (c *Catalogue) Ready(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var wrong []error
	for _, s := range c.servers.list {
		if f := c.followed[s]; !f.listed || f.problem != "" {
			wrong = append(wrong, fmt.Errorf("%s: %s", s.Namespace, cmp.Or(f.problem, notYet)))
		}
	}
	return errors.Join(wrong...)
}

// A backoff says when a command may be started again: after a second, and twice as long for each start that comes
// within a minute of the last, up to a minute.
type backoff struct {
	last  time.Time
	delay time.Duration
}

// next returns how long to wait after a start at a time.
func (b *backoff) next(now time.Time) time.Duration {
	if b.delay == 0 || now.Sub(b.last) > b.delay+every {
		b.delay = calm
	} else {
		b.delay = min(2*b.delay, every)
	}
	b.last = now
	return b.delay
}
