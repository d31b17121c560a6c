package gateway

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/gateway/results"
)

// bridge answers by a handler of net/http that may stream. prepare gives the handler's request its context, which ends
// when the client hangs up. What the library's own adaptor lacks is why this is here: it tells no handler of a client
// that left, and hands out memory that the next request overwrites. An answer under a claim is made, and kept, whether or
// not its client stays. leave is called when the answer has ended.
func (s *Server) bridge(h http.Handler, prepare func(*fiber.Ctx, context.Context, *claim) context.Context) func(*fiber.Ctx, *claim, func()) error {
	return func(c *fiber.Ctx, cl *claim, leave func()) error {
		conn := c.Context().Conn()
		// A shutdown ends what runs, and that ends the answer, with its last words.
		ctx, release := context.WithCancel(context.Background())
		if cl.keep == nil {
			release()
			ctx, release = watch(context.Background(), conn)
		}
		stop := release
		release = func() { stop(); leave() }
		before := headOf(c)
		request, err := standardRequest(prepare(c, ctx, cl), c)
		if err != nil {
			release()
			cl.abandon()
			return &problem{status: 400, cause: err}
		}
		w := &bridgeWriter{ctx: ctx, header: http.Header{}, streaming: make(chan struct{}), chunks: make(chan []byte), done: make(chan struct{}), keep: cl.keep != nil}
		go w.serve(h, request, s.deps.Logger)
		select {
		case <-w.streaming:
		case <-w.done:
			release()
			defer cl.abandon()
			if err := w.whole(c); err != nil || w.status >= 300 {
				return err
			}
			return cl.finish(results.Saved{Status: w.status, Header: headSince(c, before), Body: w.buffer.Bytes()})
		}
		w.head(c)
		c.Set("X-Accel-Buffering", "no")
		heartbeat := min(s.cfg.Heartbeat, s.cfg.WriteTimeout/2)
		answer := results.Saved{Status: w.status, Header: headSince(c, before)}
		c.Context().SetBodyStreamWriter(func(out *bufio.Writer) {
			defer release()
			defer cl.abandon()
			w.copyTo(out, heartbeat, func() { extend(conn, s.cfg.WriteTimeout) })
			if cl.keep == nil {
				return
			}
			w.drain()
			answer.Body = w.said
			if err := cl.finish(answer); err != nil {
				s.deps.Logger.Warn("an answer cannot be kept under its idempotency key", "error", err)
			}
		})
		return nil
	}
}

// standardRequest copies a request: its handler may outlive it.
func standardRequest(ctx context.Context, c *fiber.Ctx) (*http.Request, error) {
	body := bytes.Clone(c.Request().Body())
	r, err := http.NewRequestWithContext(ctx, utils.CopyString(c.Method()), utils.CopyString(c.OriginalURL()), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	for name, value := range c.Request().Header.All() {
		r.Header.Add(string(name), string(value))
	}
	r.Host, r.RemoteAddr = string(c.Request().Host()), c.Context().RemoteAddr().String()
	r.RequestURI = r.URL.RequestURI()
	return r, nil
}

// bridgeWriter takes an answer from a handler. Until the first Flush it is kept; from then on every Flush waits until
// what was written has gone out.
type bridgeWriter struct {
	ctx       context.Context
	header    http.Header
	status    int
	buffer    bytes.Buffer
	flushed   bool
	streaming chan struct{}
	chunks    chan []byte
	done      chan struct{}
	keep      bool
	said      []byte // all that was flushed, when it is to be kept
}

func (w *bridgeWriter) serve(h http.Handler, r *http.Request, log *slog.Logger) {
	defer close(w.done)
	defer func() {
		if p := recover(); p != nil {
			log.Error("a handler panicked", "path", r.URL.Path, "panic", fmt.Sprint(p))
			if !w.flushed {
				w.status, w.header = http.StatusInternalServerError, http.Header{}
				w.buffer.Reset()
			}
		}
	}()
	h.ServeHTTP(w, r)
	if w.flushed {
		w.Flush()
	}
}

// Header implements http.ResponseWriter.
func (w *bridgeWriter) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *bridgeWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write implements http.ResponseWriter.
func (w *bridgeWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.buffer.Write(b)
}

// Flush implements http.Flusher.
func (w *bridgeWriter) Flush() {
	if !w.flushed {
		w.WriteHeader(http.StatusOK)
		w.flushed = true
		close(w.streaming)
	}
	if w.buffer.Len() == 0 {
		return
	}
	chunk := bytes.Clone(w.buffer.Bytes())
	w.buffer.Reset()
	if w.keep {
		w.said = append(w.said, chunk...)
	}
	select {
	case w.chunks <- chunk:
	case <-w.ctx.Done():
	}
}

// head sets the status and headers of the answer. Its caching stays what all answers have.
func (w *bridgeWriter) head(c *fiber.Ctx) {
	c.Status(w.status)
	for name, values := range w.header {
		switch name {
		case fiber.HeaderConnection, fiber.HeaderContentLength, fiber.HeaderCacheControl, fiber.HeaderTransferEncoding:
			continue
		}
		for _, v := range values {
			c.Set(name, v)
		}
	}
}

// whole sends an answer that was not streamed. A line of text that says what was wrong becomes a problem document.
func (w *bridgeWriter) whole(c *fiber.Ctx) error {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	if kind := w.header.Get(fiber.HeaderContentType); w.status >= 400 && (kind == "" || strings.HasPrefix(kind, "text/plain")) {
		if allow := w.header.Get(fiber.HeaderAllow); allow != "" {
			c.Set(fiber.HeaderAllow, allow)
		}
		if w.status >= 500 {
			return fmt.Errorf("the handler answered %d: %s", w.status, w.buffer.String())
		}
		return &problem{status: w.status, detail: strings.TrimSpace(w.buffer.String())}
	}
	w.head(c)
	return c.Send(w.buffer.Bytes())
}

// copyTo streams until the handler ends or the client is gone. A comment is sent when there is nothing to send for
// heartbeat: each chunk is whole events, so that it never falls into one.
func (w *bridgeWriter) copyTo(out *bufio.Writer, heartbeat time.Duration, before func()) {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		var chunk []byte
		select {
		case chunk = <-w.chunks:
			tick.Reset(heartbeat)
		case <-tick.C:
			chunk = []byte(": heartbeat\n\n")
		case <-w.done:
			return
		}
		before()
		if _, err := out.Write(chunk); err != nil {
			return
		}
		if err := out.Flush(); err != nil {
			return
		}
	}
}

// drain lets the handler go on to its end.
func (w *bridgeWriter) drain() {
	for {
		select {
		case <-w.chunks:
		case <-w.done:
			return
		}
	}
}
