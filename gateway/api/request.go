package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/authn"
)

// job reads an execution request. What it gives shares no memory with the connection.
func (s *Server) job(c *fiber.Ctx) (Job, error) {
	received := s.deps.Now()
	if err := plainJSON(c); err != nil {
		return Job{}, err
	}
	request, err := decoded(s, c, execution.DecodeRequest)
	if err != nil {
		return Job{}, err
	}
	caller := callerOf(c)
	if request.Priority == "high" && !caller.May(authn.Priority) {
		return Job{}, lacks(authn.Priority)
	}
	return Job{
		Request: request, Caller: caller, IP: utils.CopyString(c.IP()), Via: execution.ViaHTTP, ReceivedAt: received.UTC(),
		TraceParent: traceOf(c), Fresh: directive(c.Get(fiber.HeaderCacheControl), "no-store"),
	}, nil
}

// longBody is the size from which on decoding a body takes a turn: it may cost some ten milliseconds.
const longBody = 32 << 10

// decoded decodes the body of a request. The callers of long ones take turns, so that nobody has all of this process's time.
func decoded[T any](s *Server, c *fiber.Ctx, decode func([]byte) (T, error)) (T, error) {
	body := c.Request().Body()
	if len(body) < longBody {
		return decode(body)
	}
	var none T
	ctx, release := s.attached(c)
	defer release()
	caller := callerOf(c)
	end, err := s.decider.turn(ctx, caller.Tenant, caller.Subject)
	if err != nil {
		return none, err
	}
	defer end()
	return decode(body)
}

// plainJSON takes application/json in UTF-8 and no content coding: a body is never unpacked, so none can be a bomb, and
// a form or a text of some web page is not mistaken for a request.
func plainJSON(c *fiber.Ctx) error {
	if len(c.Request().Body()) == 0 && !framed(&c.Request().Header) {
		return &problem{status: 411}
	}
	if coding := c.Get(fiber.HeaderContentEncoding); coding != "" && !strings.EqualFold(coding, "identity") {
		return &problem{status: 415, detail: "the body has a content coding; send it as it is, without Content-Encoding"}
	}
	kind, params, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	if err != nil || kind != fiber.MIMEApplicationJSON {
		return &problem{status: 415, detail: "the Content-Type must be application/json; with curl add -H 'Content-Type: application/json'"}
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return &problem{status: 415, detail: "JSON is sent in UTF-8; the charset must be utf-8 or left out"}
	}
	return nil
}

// directive reports whether a list such as Cache-Control's has a name in it.
func directive(header, name string) bool {
	for part := range strings.SplitSeq(header, ",") {
		if strings.EqualFold(strings.TrimSpace(part), name) {
			return true
		}
	}
	return false
}

// encode writes JSON as people read it: without the escapes that only HTML needs.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode an answer: %w", err)
	}
	return b.Bytes(), nil
}

// send answers 200 with v.
func (s *Server) send(c *fiber.Ctx, v any) error {
	body, err := encode(v)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(body)
}
