package api

import (
	"bytes"
	"context"
	"mime"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/httpconn"
)

// DisconnectContext returns a context that ends when the caller hangs up, or when a shutdown runs out of patience.
// release must be called before the handler returns, or when the response has been streamed.
func DisconnectContext(c *fiber.Ctx) (ctx context.Context, release func()) {
	return httpconn.DisconnectContext(c.UserContext(), c.Context().Conn())
}

// RunContext returns the context of an execution whose result a caller waits for. It ends when the caller hangs up,
// unless the request has an idempotency key: its caller may come back for the response. release must be called before
// the handler returns.
func RunContext(c *fiber.Ctx) (ctx context.Context, release func()) {
	if len(c.Request().Header.Peek("Idempotency-Key")) > 0 {
		return c.UserContext(), func() {}
	}
	return DisconnectContext(c)
}

// RequireJSON refuses a body that is not application/json in UTF-8 without a content coding. A body is never
// unpacked, so it cannot be a compression bomb, and a web form is not mistaken for a request.
func RequireJSON(c *fiber.Ctx) error {
	if len(c.Request().Body()) == 0 && !httpconn.Framed(&c.Request().Header) {
		return &Problem{Status: 411}
	}
	if err := RequireNoCoding(c); err != nil {
		return err
	}
	kind, params, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	if err != nil || kind != fiber.MIMEApplicationJSON {
		return &Problem{
			Status: 415,
			Detail: "the Content-Type must be application/json; with curl add -H 'Content-Type: application/json'",
		}
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return &Problem{Status: 415, Detail: "JSON is sent in UTF-8; the charset must be utf-8 or omitted"}
	}
	return nil
}

// RequireNoCoding refuses a body with a content coding.
func RequireNoCoding(c *fiber.Ctx) error {
	if coding := c.Get(fiber.HeaderContentEncoding); coding != "" && !strings.EqualFold(coding, "identity") {
		return &Problem{
			Status: 415, Detail: "the body has a content coding; send it as it is, without Content-Encoding",
		}
	}
	return nil
}

// Turns hands out turns at the time of this process, fairly between tenants.
type Turns interface {
	Turn(ctx context.Context, tenant, subject string) (release func(), err error)
}

// longBody is the size from which on decoding takes a turn, because it may cost some ten milliseconds.
const longBody = 32 << 10

// Decode decodes the body of a request. The callers of long bodies take turns, so that no caller has all of this
// process's time.
func Decode[T any](c *fiber.Ctx, turns Turns, decode func([]byte) (T, error)) (T, error) {
	caller := CallerOf(c)
	end, err := TakeTurn(c, turns, caller.Tenant, caller.Subject)
	if err != nil {
		var none T
		return none, err
	}
	defer end()
	return decode(c.Request().Body())
}

// TakeTurn waits for the turn to decode the body of a request, which a short body does not need. release may be called
// more than once.
func TakeTurn(c *fiber.Ctx, turns Turns, tenant, subject string) (release func(), err error) {
	if len(c.Request().Body()) < longBody {
		return func() {}, nil
	}
	ctx, done := DisconnectContext(c)
	defer done()
	end, err := turns.Turn(ctx, tenant, subject)
	if err != nil {
		return nil, err
	}
	return sync.OnceFunc(end), nil
}

// TakeBody returns the body of a request, which belongs to the caller from then on. A long one is no longer in the
// request.
func TakeBody(c *fiber.Ctx) []byte {
	if body := c.Request().Body(); len(body) < longBody {
		return bytes.Clone(body)
	}
	return c.Request().SwapBody(nil)
}

// DecodeSmall decodes a body of a few fields into v. what describes the object that is expected.
func DecodeSmall(c *fiber.Ctx, v any, what string) error {
	if err := RequireJSON(c); err != nil {
		return err
	}
	body := c.Request().Body()
	if _, err := execution.Members(body); err != nil {
		return err
	}
	return execution.DecodeMember("", body, v, what)
}

// DecodeLoose decodes a JSON object into v, for the APIs of other services: it ignores members that v does not have.
// Names match exactly, and a repeated name is refused. what says which types the members have.
func DecodeLoose(body []byte, v any, what string) error {
	if _, err := execution.Members(body); err != nil {
		return err
	}
	if err := json.Unmarshal(body, v, jsontext.AllowDuplicateNames(true)); err != nil {
		return &Problem{Status: 400, Code: "invalid_request", Detail: "a member has the wrong type: " + what}
	}
	return nil
}

// Query returns the parameters of a request. It refuses unknown and repeated parameters and leaves out empty ones.
func Query(c *fiber.Ctx, known ...string) (map[string]string, error) {
	values, err := url.ParseQuery(string(c.Request().URI().QueryString()))
	if err != nil {
		return nil, Invalid("", "the query string does not parse")
	}
	given := make(map[string]string, len(values))
	for name, v := range values {
		if !slices.Contains(known, name) {
			return nil, Invalid(name, "is not a known parameter; accepted here: "+strings.Join(known, ", "))
		}
		if len(v) > 1 {
			return nil, Invalid(name, "is given more than once")
		}
		if v[0] != "" {
			given[name] = v[0]
		}
	}
	return given, nil
}

// Limit returns the parameter limit of a list, a whole number from 1 to most. It returns fallback if none is given.
func Limit(given map[string]string, fallback, most int) (int, error) {
	text, ok := given["limit"]
	if !ok {
		return fallback, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > most {
		return 0, BadLimit(most)
	}
	return limit, nil
}

// BadLimit returns the error for a limit that is not from 1 to most.
func BadLimit(most int) error {
	return Invalid("limit", "must be a whole number from 1 to "+strconv.Itoa(most))
}

// Param returns a copy of a parameter of the path as it was sent, with its percent escapes. Names and IDs need none.
func Param(c *fiber.Ctx, name string) string { return utils.CopyString(c.Params(name)) }

// TextParam returns a parameter of the path that may be any text, without its percent escapes. It refuses what is not
// UTF-8.
func TextParam(c *fiber.Ctx, name string) (string, error) {
	text, err := url.PathUnescape(Param(c, name))
	if err != nil || !utf8.ValidString(text) {
		return "", Invalid(name, "in the path is not percent-encoded UTF-8")
	}
	return text, nil
}

// hasDirective reports whether a list of directives, such as Cache-Control, contains name.
func hasDirective(header, name string) bool {
	for part := range strings.SplitSeq(header, ",") {
		if strings.EqualFold(strings.TrimSpace(part), name) {
			return true
		}
	}
	return false
}

// RespondAsync reports whether the caller prefers not to wait (RFC 7240 §4.1).
func RespondAsync(c *fiber.Ctx) bool {
	for _, header := range c.Request().Header.PeekAll("Prefer") {
		for part := range strings.SplitSeq(string(header), ",") {
			name, _, _ := strings.Cut(part, ";")
			if strings.EqualFold(strings.TrimSpace(name), "respond-async") {
				return true
			}
		}
	}
	return false
}
