package idempotency

import (
	"sync"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/results"
)

// A Claim is the right to carry out a request with an Idempotency-Key, or the response that the request was given
// before. The zero Claim is that of a request without a key.
type Claim struct {
	// Saved is the response that was given before, or nil.
	Saved *results.Saved
	// id is the id of the execution that the request accepts. It stays the same if the process that took the key died.
	id string
	// orphaned says that the process that took the key died.
	orphaned bool
	keep     func(results.Saved) error
	giveBack func()
	ended    sync.Once
}

// HasKey reports whether the request has a key, so that its caller may come back for the response.
func (cl *Claim) HasKey() bool { return cl.keep != nil }

// Finish saves the response for the next request with the key.
func (cl *Claim) Finish(response results.Saved) (err error) {
	if cl.keep != nil {
		cl.ended.Do(func() { err = cl.keep(response) })
	}
	return err
}

// Abandon returns the key if the request was not carried out.
func (cl *Claim) Abandon() {
	if cl.giveBack != nil {
		cl.ended.Do(cl.giveBack)
	}
}

// Replay responds as before.
func Replay(c *fiber.Ctx, saved *results.Saved) error {
	for name, value := range saved.Header {
		c.Set(name, value)
	}
	c.Set(api.Replayed, "true")
	return c.Status(saved.Status).Send(saved.Body)
}

type doneKey struct{}

// MarkDone notes that the request was carried out, so that its response is kept whatever its status.
func MarkDone(c *fiber.Ctx) { c.Locals(doneKey{}, true) }

// Headers returns the headers of the response so far.
func Headers(c *fiber.Ctx) map[string]string {
	headers := map[string]string{}
	for name, value := range c.Response().Header.All() {
		headers[string(name)] = string(value)
	}
	return headers
}

// HeadersAdded returns the headers that were added or changed since before. The headers that every response has are set
// again when the response is replayed.
func HeadersAdded(c *fiber.Ctx, before map[string]string) map[string]string {
	headers := Headers(c)
	for name, value := range before {
		if headers[name] == value && name != fiber.HeaderContentType {
			delete(headers, name)
		}
	}
	if c.Response().StatusCode() == fiber.StatusNoContent {
		delete(headers, fiber.HeaderContentType) // the default, which is not sent with it
	}
	return headers
}
