package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/results"
)

const (
	// replayed marks an answer that was given before.
	replayed = "Idempotency-Replayed"
	// keyKept is how long a key whose request changed what outlives the process is known.
	keyKept = 24 * time.Hour
)

// claim is the right to carry out a request with an Idempotency-Key, or the answer it was given before. The zero claim is
// that of a request without a key.
type claim struct {
	saved *results.Saved
	// id is of the execution that the request accepts, the same again when the process that took the key has died.
	id string
	// left says that the process that took the key has died.
	left  bool
	keep  func(results.Saved) error
	give  func()
	ended sync.Once
}

// claim reads Idempotency-Key. The same key, path and body of the same owner give the same answer; another body is 422;
// while the first is being answered the second is 409. What the request does outlives this process when lasting is set:
// then the key does too. While this process lives it is one key, lasting or not.
func (s *Server) claim(c *fiber.Ctx, owner string, lasting bool) (*claim, error) {
	given := c.Request().Header.PeekAll("Idempotency-Key")
	if len(given) == 0 {
		return &claim{}, nil
	}
	key := string(given[0])
	if len(given) > 1 || !plainKey(key) {
		return nil, bad("Idempotency-Key", "must be one value of 1 to 255 visible ASCII characters")
	}
	key = owner + "\x00" + c.Path() + "\x00" + key
	digest := sha256.Sum256(c.Request().Body())
	switch {
	case s.cfg.Spread && s.state == nil:
		return nil, &problem{status: 501, code: "stateless", detail: "this gateway cannot keep an Idempotency-Key: the next request may reach another"}
	case s.cfg.Spread:
		return s.claimAsFormer(c, owner, key, hex.EncodeToString(digest[:]))
	}
	state, answer := s.once.Begin(owner, key, digest)
	switch state {
	case results.Reused:
		return nil, keyReused()
	case results.InFlight:
		return nil, keyInFlight()
	case results.Done:
		return &claim{saved: answer}, nil
	case results.Fresh:
	}
	cl := &claim{keep: func(results.Saved) error { return nil }, give: func() {}}
	if lasting && s.state != nil {
		var err error
		if cl, err = s.claimAsFormer(c, owner, key, hex.EncodeToString(digest[:])); err != nil {
			s.once.Abandon(key)
			return nil, err
		}
	}
	if cl.saved != nil {
		s.once.Finish(key, *cl.saved)
		return cl, nil
	}
	keep, give := cl.keep, cl.give
	cl.keep = func(answer results.Saved) error { s.once.Finish(key, answer); return keep(answer) }
	cl.give = func() { s.once.Abandon(key); give() }
	return cl, nil
}

// claimAsFormer is lastingClaim for a key that an older version may have kept under its own name of the caller. No such key
// is left once this process has run for as long as keys are known.
func (s *Server) claimAsFormer(c *fiber.Ctx, owner, key, digest string) (*claim, error) {
	caller := callerOf(c)
	former := caller.FormerOwner()
	if former == "" || owner != caller.Owner() || s.deps.Now().Sub(s.started) > keyKept {
		return s.lastingClaim(keyOf(owner, key), digest)
	}
	cl, err := s.lastingClaim(keyOf(owner, key), digest)
	if err != nil || cl.saved != nil {
		return cl, err
	}
	old, err := s.lastingClaim(keyOf(former, former+strings.TrimPrefix(key, owner)), digest)
	if err == nil && old.saved == nil && !old.left {
		old.give()
		return cl, nil
	}
	cl.give()
	return old, err
}

// keyOf is the key of a request in the state: that of an owner (authn.Identity.Owner).
func keyOf(owner, key string) execution.Key {
	tenant, subject, _ := strings.Cut(owner, "\x00")
	return execution.Key{Quota: execution.QuotaKeys, Tenant: tenant, Subject: subject, Name: "idempotency\x00" + key}
}

// lastingClaim keeps the key in the state. Its mark is the body's digest and the id of the execution to be accepted, so
// that a process which finds the key of one that died accepts the same execution and no second one.
func (s *Server) lastingClaim(key execution.Key, digest string) (*claim, error) {
	now, id := s.deps.Now(), s.deps.NewID()
	begun, mark, answer, err := s.state.Begin(s.base, key, digest+" "+id, now, now.Add(keyKept))
	if err != nil {
		return nil, err
	}
	body, first, _ := strings.Cut(mark, " ")
	switch {
	case body != digest:
		if begun {
			s.giveBack(key.Name)
		}
		return nil, keyReused()
	case begun:
		return &claim{
			id: first, left: first != id,
			keep: func(answer results.Saved) error {
				kept, err := json.Marshal(answer)
				if err != nil {
					return err
				}
				return s.state.Finish(context.WithoutCancel(s.base), key.Name, kept)
			},
			give: func() { s.giveBack(key.Name) },
		}, nil
	case answer == nil:
		return nil, keyInFlight()
	}
	saved := new(results.Saved)
	return &claim{saved: saved}, json.Unmarshal(answer, saved)
}

func (s *Server) giveBack(key string) {
	if err := s.state.Abandon(context.WithoutCancel(s.base), key); err != nil {
		s.deps.Logger.Warn("an idempotency key cannot be given back", "error", err)
	}
}

func keyReused() error {
	return &problem{status: 422, code: "idempotency_key_reused", detail: "this Idempotency-Key was used with another body; take a new key for a new request"}
}

func keyInFlight() error {
	return &problem{status: 409, code: "idempotency_key_in_flight", detail: "the request with this Idempotency-Key is still being answered; try again", retryAfter: time.Second}
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
func (cl *claim) finish(answer results.Saved) (err error) {
	if cl.keep != nil {
		cl.ended.Do(func() { err = cl.keep(answer) })
	}
	return err
}

// abandon gives the key back when the request came to nothing.
func (cl *claim) abandon() {
	if cl.give != nil {
		cl.ended.Do(cl.give)
	}
}

type acceptedKey struct{}

// newID is the id of an execution that a request accepts.
func (s *Server) newID(c *fiber.Ctx) string {
	if id, ok := c.Locals(acceptedKey{}).(string); ok && id != "" {
		return id
	}
	return s.deps.NewID()
}

// idempotent wraps a POST that answers in one piece, once its caller is known.
func (s *Server) idempotent(next fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error { return s.oncePerKey(c, callerOf(c).Owner(), respondAsync(c), nil, next) }
}

// changing is idempotent for a POST that changes what is kept.
func (s *Server) changing(next fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error { return s.oncePerKey(c, callerOf(c).Owner(), true, nil, next) }
}

// oncePerKey carries a request out unless one with its key has been. Only what was done is kept: a request that failed did
// nothing, and may be tried again with its key. again, which may be nil, stands before an answer that is given once more.
func (s *Server) oncePerKey(c *fiber.Ctx, owner string, lasting bool, again, next fiber.Handler) error {
	cl, err := s.claim(c, owner, lasting)
	if err != nil {
		return err
	}
	if cl.saved != nil {
		if again != nil {
			if err := again(c); err != nil {
				return err
			}
		}
		return sayAgain(c, cl.saved)
	}
	defer cl.abandon()
	c.Locals(acceptedKey{}, cl.id)
	before := headOf(c)
	if err := next(c); err != nil {
		return err
	}
	res := c.Response()
	if did, _ := c.Locals(didKey{}).(bool); res.StatusCode() >= 300 && !did {
		return nil
	}
	return cl.finish(results.Saved{Status: res.StatusCode(), Header: headSince(c, before), Body: append([]byte(nil), res.Body()...)})
}

// didKey marks an answer as that of something that was done, whatever its status.
type didKey struct{}

// sayAgain gives an answer that was given before.
func sayAgain(c *fiber.Ctx, saved *results.Saved) error {
	for name, value := range saved.Header {
		c.Set(name, value)
	}
	c.Set(replayed, "true")
	return c.Status(saved.Status).Send(saved.Body)
}

// headOf is the head of the answer so far.
func headOf(c *fiber.Ctx) map[string]string {
	head := map[string]string{}
	for name, value := range c.Response().Header.All() {
		head[string(name)] = string(value)
	}
	return head
}

// headSince is what became of the head since: what every answer has is left to the answer that is given again.
func headSince(c *fiber.Ctx, before map[string]string) map[string]string {
	head := headOf(c)
	for name, value := range before {
		if head[name] == value && name != fiber.HeaderContentType {
			delete(head, name)
		}
	}
	return head
}
