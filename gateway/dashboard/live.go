package gateway

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/gateway/authn"
	"github.com/airlock-run/airlock/gateway/bounds"
)

const (
	// livePause is the least time between two looks of one stream, and liveTick the most while nothing happens here: other
	// gateways may share the records.
	livePause = time.Second
	liveTick  = 5 * time.Second
)

// picture is one event of a live stream, and scene looks again.
type (
	picture struct {
		name string
		of   any
	}
	scene func() ([]picture, error)
)

// live is GET /api/live?view=dashboard: what the pages show, as server-sent events. Each event is a whole picture, so
// nothing is lost with one that was missed, and one that would be as the last is not sent.
func (s *Server) live(c *fiber.Ctx) error {
	look, err := s.sceneFor(c)
	if err != nil {
		return err
	}
	leave, err := enter(c, s.places.live, bounds.Live)
	if err != nil {
		return err
	}
	changed, _ := s.activity.next()
	pictures, err := look()
	if err != nil {
		leave()
		return err
	}
	c.Set(fiber.HeaderContentType, "text/event-stream; charset=utf-8")
	c.Set("X-Accel-Buffering", "no")
	conn := c.Context().Conn()
	ctx, release := watch(s.base, conn)
	f := film{
		s: s, look: look, good: s.stillGood(c), sent: map[string][]byte{}, changed: changed,
		before: func() { extend(conn, s.cfg.WriteTimeout) },
	}
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		defer release()
		defer leave()
		f.out = w
		if err := f.run(ctx, pictures); err != nil {
			s.deps.Logger.Debug("a live page ended early", "error", err)
		}
	})
	return nil
}

// stillGood gives what tells whether the credential of a stream would still be taken.
func (s *Server) stillGood(c *fiber.Ctx) func() bool {
	authorization, apiKey := utils.CopyString(c.Get(fiber.HeaderAuthorization)), utils.CopyString(c.Get("X-Api-Key"))
	held, bySession := c.Locals(sessionKey{}).(heldSession)
	return func() bool {
		if bySession {
			if _, ok := s.web.sessions.Credential(held.name, held.requestToken); !ok {
				return false
			}
		}
		_, err := s.deps.Auth.Authenticate(authorization, apiKey)
		if refusal := (*authn.Refusal)(nil); bySession && errors.As(err, &refusal) && !refusal.Unavailable {
			s.web.sessions.End(held.name)
		}
		return err == nil
	}
}

// film is a live stream on its way out.
type film struct {
	s       *Server
	out     *bufio.Writer
	look    scene
	good    func() bool
	sent    map[string][]byte
	changed <-chan struct{}
	before  func() // ahead of each flush
}

func (f *film) run(ctx context.Context, pictures []picture) error {
	pause := time.NewTimer(livePause)
	defer pause.Stop()
	for {
		if err := f.show(pictures); err != nil {
			return err
		}
		pause.Reset(livePause)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-pause.C:
		}
		pause.Reset(liveTick - livePause)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-f.changed:
		case <-pause.C:
		}
		var over bool
		f.changed, over = f.s.activity.next()
		if over {
			return nil
		}
		if !f.good() {
			return f.write("expired", []byte(`{"reason":"the login has ended"}`))
		}
		again, err := f.look()
		if err != nil {
			p := problemOf(err)
			again = []picture{{"trouble", map[string]string{"detail": p.detail}}}
			f.s.deps.Logger.Warn("a live page could not be kept up to date", "error", err)
		}
		pictures = again
	}
}

// show sends the pictures that are not as they were; and a comment when there is none, so that a connection that broke
// is noticed.
func (f *film) show(pictures []picture) error {
	quiet := true
	for _, p := range pictures {
		body, err := encode(p.of)
		if err != nil {
			return err
		}
		if body = bytes.TrimSuffix(body, []byte("\n")); bytes.Equal(body, f.sent[p.name]) {
			continue
		}
		f.sent[p.name], quiet = body, false
		if err := f.write(p.name, body); err != nil {
			return err
		}
	}
	if !quiet {
		return nil
	}
	_, _ = f.out.WriteString(": as before\n\n") // a bufio.Writer keeps its error for Flush
	f.before()
	return f.out.Flush()
}

func (f *film) write(name string, body []byte) error {
	_, _ = fmt.Fprintf(f.out, "event: %s\ndata: %s\n\n", name, body)
	f.before()
	return f.out.Flush()
}
