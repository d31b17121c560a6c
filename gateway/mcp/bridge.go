package mcp

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

	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/httpconn"
	"github.com/airlock-run/airlock/gateway/idempotency"
	"github.com/airlock-run/airlock/gateway/results"
)

// bridge responds with the handler of the SDK, which is one of net/http and may stream. Fiber's own adaptor tells a
// handler nothing about a client that hangs up, and gives it memory that the next request overwrites. A response
// under a claim is finished and kept whether or not its client stays. leave is called when the response has ended.
func (h *Handlers) bridge(c *fiber.Ctx, claim *idempotency.Claim, leave func()) error {
	conn := c.Context().Conn()
	// The context does not end with a shutdown: that ends the runs, and those end the response with their last events.
	ctx, release := context.WithCancel(context.Background())
	if !claim.HasKey() {
		release()
		ctx, release = httpconn.DisconnectContext(context.Background(), conn)
	}
	stop := release
	release = func() { stop(); leave() }
	before := idempotency.Headers(c)
	caller := api.CallerOf(c)
	decoded, err := api.TakeTurn(c, h.Turns, caller.Tenant, caller.Subject)
	if err != nil {
		release()
		claim.Abandon()
		return err
	}
	long := &longAnswer{}
	request, err := standardRequest(ctx, c, claim, decoded, long)
	if err != nil {
		decoded()
		release()
		claim.Abandon()
		return err
	}
	w := &bridgeWriter{
		ctx: ctx, header: http.Header{}, streaming: make(chan struct{}), chunks: make(chan []byte),
		done: make(chan struct{}), keep: claim.HasKey(), long: long,
	}
	go func() {
		defer decoded()
		w.serve(h.Server, request, h.Logger)
	}()
	select {
	case <-w.streaming:
	case <-w.done:
		release()
		defer claim.Abandon()
		body := long.put(w.buffer.Bytes())
		if err := w.sendWhole(c, body); err != nil || w.status >= 300 {
			return err
		}
		return claim.Finish(results.Saved{Status: w.status, Header: idempotency.HeadersAdded(c, before), Body: body})
	}
	w.sendHeader(c)
	c.Set("X-Accel-Buffering", "no")
	heartbeat := min(h.Heartbeat, h.WriteTimeout/2)
	response := results.Saved{Status: w.status, Header: idempotency.HeadersAdded(c, before)}
	c.Context().SetBodyStreamWriter(func(out *bufio.Writer) {
		defer release()
		defer claim.Abandon()
		w.copyTo(out, heartbeat, func() { httpconn.ExtendWrite(conn, h.WriteTimeout) })
		if !claim.HasKey() {
			return
		}
		w.drain()
		response.Body = w.kept
		if err := claim.Finish(response); err != nil {
			h.Logger.Warn("a response cannot be kept under its idempotency key", "error", err)
		}
	})
	return nil
}

// standardRequest returns a copy of a request, which its handler may outlive.
func standardRequest(
	ctx context.Context, c *fiber.Ctx, claim *idempotency.Claim, decoded func(), long *longAnswer,
) (*http.Request, error) {
	message, arguments, err := cutArguments(c.Request().Body())
	if err != nil {
		return nil, err
	}
	ctx = withCaller(ctx, c, claim, arguments, decoded, long)
	body := bytes.NewReader(bytes.Clone(message))
	r, err := http.NewRequestWithContext(ctx, utils.CopyString(c.Method()), utils.CopyString(c.OriginalURL()), body)
	if err != nil {
		return nil, &api.Problem{Status: 400, Cause: fmt.Errorf("read the request: %w", err)}
	}
	for name, value := range c.Request().Header.All() {
		r.Header.Add(string(name), string(value))
	}
	r.Host, r.RemoteAddr = string(c.Request().Host()), c.Context().RemoteAddr().String()
	r.RequestURI = r.URL.RequestURI()
	return r, nil
}

// bridgeWriter receives the response of a handler. Until the first Flush it buffers the response. From then on, every
// Flush waits until the written bytes are sent.
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
	kept      []byte // all that was flushed, if keep is set
	long      *longAnswer
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
	chunk := w.long.put(w.buffer.Bytes())
	w.buffer.Reset()
	if w.keep {
		w.kept = append(w.kept, chunk...)
	}
	select {
	case w.chunks <- chunk:
	case <-w.ctx.Done():
	}
}

// sendHeader sets the status and headers of the response. Its Cache-Control stays that of all responses.
func (w *bridgeWriter) sendHeader(c *fiber.Ctx) {
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

// sendWhole sends a response that was not streamed, with its whole body. An error in plain text becomes a problem
// document.
func (w *bridgeWriter) sendWhole(c *fiber.Ctx, body []byte) error {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	kind := w.header.Get(fiber.HeaderContentType)
	if w.status >= 400 && (kind == "" || strings.HasPrefix(kind, "text/plain")) {
		if allow := w.header.Get(fiber.HeaderAllow); allow != "" {
			c.Set(fiber.HeaderAllow, allow)
		}
		if w.status >= 500 {
			return fmt.Errorf("the handler responded with %d: %s", w.status, body)
		}
		return &api.Problem{Status: w.status, Detail: strings.TrimSpace(string(body))}
	}
	w.sendHeader(c)
	return c.Send(body)
}

// copyTo streams until the handler ends or the client is gone. It sends a comment after each heartbeat without a
// chunk. A chunk is a number of whole events, so a comment is never inside one. beforeFlush is called before each
// flush.
func (w *bridgeWriter) copyTo(out *bufio.Writer, heartbeat time.Duration, beforeFlush func()) {
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
		beforeFlush()
		if _, err := out.Write(chunk); err != nil {
			return
		}
		if err := out.Flush(); err != nil {
			return
		}
	}
}

// drain lets the handler continue to its end.
func (w *bridgeWriter) drain() {
	for {
		select {
		case <-w.chunks:
		case <-w.done:
			return
		}
	}
}
