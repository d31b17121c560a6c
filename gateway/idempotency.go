package gateway

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/gateway/results"
)

// replayed marks an answer that was given before.
const replayed = "Idempotency-Replayed"

// claim is the right to carry out a request with an Idempotency-Key, or the answer it was given before. The zero claim is
// that of a request without a key.
type claim struct {
	once  *results.Once
	key   string
	saved *saved
	ended sync.Once
}

type saved struct {
	status      int
	contentType string
	body        []byte
}

// claim reads Idempotency-Key. The same key, path and body of the same caller give the same answer; another body is 422;
// while the first is being answered the second is 409.
func (s *Server) claim(c *fiber.Ctx) (*claim, error) {
	given := c.Request().Header.PeekAll("Idempotency-Key")
	if len(given) == 0 {
		return &claim{}, nil
	}
	key := string(given[0])
	if len(given) > 1 || !plainKey(key) {
		return nil, bad("Idempotency-Key", "must be one value of 1 to 255 visible ASCII characters")
	}
	key = callerOf(c).Owner() + "\x00" + c.Path() + "\x00" + key
	state, answer := s.once.Begin(key, sha256.Sum256(c.Request().Body()))
	switch state {
	case results.Reused:
		return nil, &problem{status: 422, code: "idempotency_key_reused", detail: "this Idempotency-Key was used with another body; take a new key for a new request"}
	case results.InFlight:
		return nil, &problem{status: 409, code: "idempotency_key_in_flight", detail: "the request with this Idempotency-Key is still being answered; try again", retryAfter: time.Second}
	case results.Done:
		return &claim{saved: &saved{answer.Status, answer.ContentType, answer.Body}}, nil
	case results.Fresh:
	}
	return &claim{once: s.once, key: key}, nil
}

func plainKey(key string) bool {
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return false
		}
	}
	return key != "" && len(key) <= 255
}

// finish saves the answer for the next request with the key.
func (cl *claim) finish(status int, contentType string, body []byte) {
	if cl.once != nil {
		cl.ended.Do(func() {
			cl.once.Finish(cl.key, results.Saved{Status: status, ContentType: contentType, Body: body})
		})
	}
}

// abandon gives the key back when the request came to nothing.
func (cl *claim) abandon() {
	if cl.once != nil {
		cl.ended.Do(func() { cl.once.Abandon(cl.key) })
	}
}

// idempotent wraps a POST that answers in one piece. Only successes are kept: a request that failed did nothing, and may
// be tried again with its key.
func (s *Server) idempotent(next fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error {
		cl, err := s.claim(c)
		if err != nil {
			return err
		}
		if cl.saved != nil {
			c.Set(replayed, "true")
			c.Set(fiber.HeaderContentType, cl.saved.contentType)
			return c.Status(cl.saved.status).Send(cl.saved.body)
		}
		defer cl.abandon()
		if err := next(c); err != nil {
			return err
		}
		if status := c.Response().StatusCode(); status < 300 {
			body := append([]byte(nil), c.Response().Body()...)
			cl.finish(status, string(c.Response().Header.ContentType()), body)
		}
		return nil
	}
}
