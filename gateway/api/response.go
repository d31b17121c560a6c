package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/results"
)

// Headers of responses.
const (
	// ExecutionID names the execution that a response belongs to.
	ExecutionID = "X-Execution-Id"
	// Replayed marks a response that was given before.
	Replayed = "Idempotency-Replayed"
)

// A List is the shape of every list.
type List[T any] struct {
	Items []T     `json:"items"`
	Next  *string `json:"next"`
}

// ExecutionPath returns the path of an execution that has paused.
func ExecutionPath(id string) string { return "/api/executions/" + id }

// Encode writes JSON for people: without the escapes that only HTML needs, and with a newline at the end.
func Encode(v any) ([]byte, error) {
	var b text
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a response: %w", err)
	}
	return b, nil
}

// text keeps what is written. A bytes.Buffer clears its memory first, which takes a tenth of the time of a large text.
type text []byte

// Write implements io.Writer.
func (t *text) Write(b []byte) (int, error) {
	*t = append(*t, b...)
	return len(b), nil
}

// EncodeResult encodes a result. The store of results has the encoded form of those that it keeps.
func EncodeResult(kept *results.Store[results.Finished], r execution.Result) ([]byte, error) {
	if f, ok := kept.Get(r.ID); ok {
		return f.Body, nil
	}
	return Encode(r)
}

// Raw encodes values that cannot fail to encode, such as the plain types of the policy.
func Raw(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}

// Send responds with v. The status is 200 unless it was set before.
func Send(c *fiber.Ctx, v any) error {
	body, err := Encode(v)
	if err != nil {
		return err
	}
	return SendJSON(c, body)
}

// SendJSON responds with a body that is JSON already.
func SendJSON(c *fiber.Ctx, body []byte) error {
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(body)
}

// NotModified sets the entity tag of a response and reports whether the caller has that version already.
func NotModified(c *fiber.Ctx, tag string) bool {
	c.Set(fiber.HeaderCacheControl, "no-cache")
	c.Set(fiber.HeaderETag, tag)
	tags, _ := FieldOf(c, fiber.HeaderIfNoneMatch)
	for one := range strings.SplitSeq(tags, ",") {
		if one = strings.TrimSpace(one); one == "*" || one != "" && strings.TrimPrefix(one, "W/") == tag {
			return true
		}
	}
	return false
}

// FieldOf returns the value of a header field that is a list, and reports whether the request has the field. Several
// lines of it are one list (RFC 9110 §5.3).
func FieldOf(c *fiber.Ctx, name string) (list string, there bool) {
	lines := c.Request().Header.PeekAll(name)
	return string(bytes.Join(lines, []byte(", "))), len(lines) > 0
}

// Tag returns an entity tag for content.
func Tag(content []byte) string {
	sum := sha256.Sum256(content)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

// Seconds returns d in whole seconds, rounded up: a caller who waits that long is not too early.
func Seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// Milliseconds returns d in milliseconds, to the microsecond.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Stamp returns a time as responses write it, and "" for the zero time.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// Clip cuts a text after a number of bytes, between characters.
func Clip(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return strings.ToValidUTF8(text[:bytes], "") + "…"
}
