package dashboard

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/gateway/access"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/bounds"
	"github.com/airlock-run/airlock/gateway/httpconn"
)

const (
	// livePause is the least time between two refreshes of a stream. liveTick is the most while nothing changes here,
	// because other gateways may share the records.
	livePause = time.Second
	liveTick  = 5 * time.Second
	// liveShare is the pause for each open page of a tenant, where that is more: a refresh takes 1.5 ms of a processor,
	// and one token may have 180 pages.
	liveShare = 25 * time.Millisecond
)

// openPages counts the live pages of each tenant. The zero value is ready for use. It is safe for concurrent use.
type openPages struct {
	mu sync.Mutex
	of map[string]int
}

// enter counts a page until leave is called.
func (o *openPages) enter(tenant string) (leave func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil {
		o.of = map[string]int{}
	}
	o.of[tenant]++
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.of[tenant]--; o.of[tenant] == 0 {
			delete(o.of, tenant)
		}
	}
}

// pause returns the least time between two refreshes of a page of a tenant.
func (o *openPages) pause(tenant string) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	return max(livePause, time.Duration(o.of[tenant])*liveShare)
}

// Live serves GET /api/live?view=dashboard: what the pages show, as server-sent events. Each event is a whole panel,
// so a missed event loses nothing, and a panel that has not changed is not sent.
func (h *Handlers) Live(c *fiber.Ctx) error {
	panels, err := h.view(c)
	if err != nil {
		return err
	}
	leave, err := access.Enter(c, h.cfg.Places, bounds.Live)
	if err != nil {
		return err
	}
	changed, _ := h.cfg.Activity.next()
	first, err := panels()
	if err != nil {
		leave()
		return err
	}
	c.Set(fiber.HeaderContentType, "text/event-stream; charset=utf-8")
	c.Set("X-Accel-Buffering", "no")
	conn := c.Context().Conn()
	ctx, release := api.DisconnectContext(c)
	tenant := api.CallerOf(c).Tenant
	stream := liveStream{
		h: h, tenant: tenant, panels: panels, valid: h.stillValid(c), sent: map[string][]byte{}, changed: changed,
		beforeFlush: func() { httpconn.ExtendWrite(conn, h.cfg.WriteTimeout) },
	}
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		defer release()
		defer leave()
		defer h.pages.enter(tenant)()
		stream.out = w
		if err := stream.run(ctx, first); err != nil {
			h.cfg.Logger.Debug("a live stream ended early", "error", err)
		}
	})
	return nil
}

// liveStream sends panels to one page.
type liveStream struct {
	h           *Handlers
	tenant      string
	out         *bufio.Writer
	panels      func() ([]panel, error)
	valid       func() bool
	sent        map[string][]byte
	changed     <-chan struct{}
	beforeFlush func()
}

func (s *liveStream) run(ctx context.Context, panels []panel) error {
	pause := time.NewTimer(livePause)
	defer pause.Stop()
	for {
		if err := s.send(panels); err != nil {
			return err
		}
		pause.Reset(s.h.pages.pause(s.tenant))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-pause.C:
		}
		pause.Reset(liveTick - livePause)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.changed:
		case <-pause.C:
		}
		var closed bool
		s.changed, closed = s.h.cfg.Activity.next()
		if closed {
			return nil
		}
		if !s.valid() {
			return s.write("expired", []byte(`{"reason":"the login has ended"}`))
		}
		refreshed, err := s.panels()
		if err != nil {
			refreshed = []panel{{"trouble", map[string]string{"detail": s.h.cfg.Detail(err)}}}
			s.h.cfg.Logger.Warn("a live stream could not be refreshed", "error", err)
		}
		panels = refreshed
	}
}

// send sends the panels that have changed, or a comment if none has, so that a broken connection is noticed.
func (s *liveStream) send(panels []panel) error {
	quiet := true
	for _, p := range panels {
		body, err := api.Encode(p.content)
		if err != nil {
			return err
		}
		if body = bytes.TrimSuffix(body, []byte("\n")); bytes.Equal(body, s.sent[p.name]) {
			continue
		}
		s.sent[p.name], quiet = body, false
		if err := s.write(p.name, body); err != nil {
			return err
		}
	}
	if !quiet {
		return nil
	}
	_, _ = s.out.WriteString(": as before\n\n") // a bufio.Writer keeps its error for Flush
	s.beforeFlush()
	return s.out.Flush()
}

func (s *liveStream) write(name string, body []byte) error {
	_, _ = fmt.Fprintf(s.out, "event: %s\ndata: %s\n\n", name, body)
	s.beforeFlush()
	return s.out.Flush()
}
