package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/gateway/api"
	"github.com/airlock-run/airlock/gateway/results"
)

// lifetime is how long the state keeps the key of a request that changed what outlives the process.
const lifetime = 24 * time.Hour

// A Store keeps keys beyond the life of a process. It is safe for concurrent use.
type Store interface {
	// Begin takes a key until a time. If the key is taken already, begun is false, and the mark and the response (nil
	// while the request is in flight) are those of the first request. If the process that took it died without a
	// response, begun is true, and the mark is still that of the first request.
	Begin(ctx context.Context, key execution.Key, mark string, now, until time.Time) (
		begun bool, firstMark string, response []byte, err error)
	// Finish keeps the response to the request with a key.
	Finish(ctx context.Context, key string, response []byte) error
	// Abandon releases a key.
	Abandon(ctx context.Context, key string) error
}

// Config configures Keys. Store may be nil.
type Config struct {
	Memory *results.Once
	Store  Store
	// MultiInstance says that the next request may reach another gateway: keys are then kept in Store alone.
	MultiInstance bool
	// Target is a header that says, beside the path, what a request acts on. "" is none.
	Target string
	Now    func() time.Time
	NewID  func() string
	Logger *slog.Logger
}

// Keys hands out claims. It is safe for concurrent use.
type Keys struct {
	cfg     Config
	started time.Time
}

// New returns Keys.
func New(cfg Config) *Keys { return &Keys{cfg, cfg.Now()} }

// Once wraps the handler of a POST that responds in one piece.
func (k *Keys) Once(next fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error { return k.Run(c, api.CallerOf(c).Owner(), api.RespondAsync(c), nil, next) }
}

// OnceLasting wraps the handler of a POST that changes what outlives the process.
func (k *Keys) OnceLasting(next fiber.Handler) fiber.Handler {
	return func(c *fiber.Ctx) error { return k.Run(c, api.CallerOf(c).Owner(), true, nil, next) }
}

type acceptedKey struct{}

// NewID returns the id for an execution that a request accepts. A request that is repeated after its process died
// gets the id of the first.
func (k *Keys) NewID(c *fiber.Ctx) string {
	if id, ok := c.Locals(acceptedKey{}).(string); ok && id != "" {
		return id
	}
	return k.cfg.NewID()
}

// Run carries a request out unless a request with its key was carried out before. Only responses of requests that
// were carried out are kept: a request that failed may be repeated with its key. again, which may be nil, runs before
// a response is replayed.
func (k *Keys) Run(c *fiber.Ctx, owner string, lasting bool, again, next fiber.Handler) error {
	cl, err := k.Claim(c, owner, lasting)
	if err != nil {
		return err
	}
	if cl.Saved != nil {
		if again != nil {
			if err := again(c); err != nil {
				return err
			}
		}
		return Replay(c, cl.Saved)
	}
	defer cl.Abandon()
	c.Locals(acceptedKey{}, cl.id)
	before := Headers(c)
	if err := next(c); err != nil {
		return err
	}
	if !cl.HasKey() {
		return nil // and the response may be a stream
	}
	res := c.Response()
	if done, _ := c.Locals(doneKey{}).(bool); res.StatusCode() >= 300 && !done {
		return nil
	}
	return cl.Finish(results.Saved{
		Status: res.StatusCode(), Header: HeadersAdded(c, before), Body: append([]byte(nil), res.Body()...),
	})
}

// Claim reads the Idempotency-Key of a request. A repeated request of the same owner, with the same key, path, target
// and body, gets the same response. Another body is 422, and a request whose first is still in flight is 409. If
// lasting is set, the request changes what outlives this process, and so the key does too.
func (k *Keys) Claim(c *fiber.Ctx, owner string, lasting bool) (*Claim, error) {
	given := c.Request().Header.PeekAll("Idempotency-Key")
	if len(given) == 0 {
		return &Claim{}, nil
	}
	key := string(given[0])
	if len(given) > 1 || !validKey(key) {
		return nil, api.Invalid("Idempotency-Key", "must be one value of 1 to 255 visible ASCII characters")
	}
	target := c.Path()
	if on := c.Get(k.cfg.Target); k.cfg.Target != "" && on != "" {
		target += "#" + on
	}
	key = owner + "\x00" + target + "\x00" + key
	digest := sha256.Sum256(c.Request().Body())
	switch {
	case k.cfg.MultiInstance && k.cfg.Store == nil:
		return nil, &api.Problem{
			Status: 501, Code: "stateless",
			Detail: "this gateway cannot keep an Idempotency-Key: the next request may reach another gateway",
		}
	case k.cfg.MultiInstance:
		return k.claimStoredOrFormer(c, owner, key, hex.EncodeToString(digest[:]))
	}
	state, response := k.cfg.Memory.Begin(owner, key, digest)
	switch state {
	case results.Reused:
		return nil, keyReused()
	case results.InFlight:
		return nil, keyInFlight()
	case results.Done:
		return &Claim{Saved: response}, nil
	case results.Fresh:
	}
	cl := &Claim{keep: func(results.Saved) error { return nil }, giveBack: func() {}}
	if lasting && k.cfg.Store != nil {
		var err error
		if cl, err = k.claimStoredOrFormer(c, owner, key, hex.EncodeToString(digest[:])); err != nil {
			k.cfg.Memory.Abandon(key)
			return nil, err
		}
	}
	if cl.Saved != nil {
		k.cfg.Memory.Finish(key, *cl.Saved)
		return cl, nil
	}
	keep, giveBack := cl.keep, cl.giveBack
	cl.keep = func(response results.Saved) error { k.cfg.Memory.Finish(key, response); return keep(response) }
	cl.giveBack = func() { k.cfg.Memory.Abandon(key); giveBack() }
	return cl, nil
}

// claimStoredOrFormer takes a key in the state like claimStored, for a key that an older version may have kept under
// its own name of the caller. Such keys expire, so the former name is not looked up once this process has run for
// their lifetime.
func (k *Keys) claimStoredOrFormer(c *fiber.Ctx, owner, key, digest string) (*Claim, error) {
	caller, ctx := api.CallerOf(c), c.UserContext()
	former := caller.FormerOwner()
	if former == "" || owner != caller.Owner() || k.cfg.Now().Sub(k.started) > lifetime {
		return k.claimStored(ctx, storedKey(owner, key), digest)
	}
	cl, err := k.claimStored(ctx, storedKey(owner, key), digest)
	if err != nil || cl.Saved != nil {
		return cl, err
	}
	old, err := k.claimStored(ctx, storedKey(former, former+strings.TrimPrefix(key, owner)), digest)
	if err == nil && old.Saved == nil && !old.orphaned {
		old.giveBack()
		return cl, nil
	}
	cl.giveBack()
	return old, err
}

// storedKey returns the key of an owner (authn.Identity.Owner) as the state keeps it.
func storedKey(owner, key string) execution.Key {
	tenant, subject, _ := strings.Cut(owner, "\x00")
	return execution.Key{Quota: execution.QuotaKeys, Tenant: tenant, Subject: subject, Name: "idempotency\x00" + key}
}

// claimStored takes a key in the state. Its mark is the digest of the body and the id of the execution to be
// accepted. A process that finds the key of one that died therefore accepts the same execution, and not a second one.
func (k *Keys) claimStored(ctx context.Context, key execution.Key, digest string) (*Claim, error) {
	now, id := k.cfg.Now(), k.cfg.NewID()
	begun, mark, response, err := k.cfg.Store.Begin(ctx, key, digest+" "+id, now, now.Add(lifetime))
	if err != nil {
		return nil, err
	}
	body, first, _ := strings.Cut(mark, " ")
	lasting := context.WithoutCancel(ctx)
	switch {
	case body != digest:
		if begun {
			k.abandonStored(lasting, key.Name)
		}
		return nil, keyReused()
	case begun:
		return &Claim{
			id: first, orphaned: first != id,
			keep: func(response results.Saved) error {
				kept, err := json.Marshal(response)
				if err != nil {
					return err
				}
				return k.cfg.Store.Finish(lasting, key.Name, kept)
			},
			giveBack: func() { k.abandonStored(lasting, key.Name) },
		}, nil
	case response == nil:
		return nil, keyInFlight()
	}
	saved := new(results.Saved)
	return &Claim{Saved: saved}, json.Unmarshal(response, saved)
}

func (k *Keys) abandonStored(ctx context.Context, key string) {
	if err := k.cfg.Store.Abandon(ctx, key); err != nil {
		k.cfg.Logger.Warn("an idempotency key cannot be released", "error", err)
	}
}

func keyReused() error {
	return &api.Problem{
		Status: 422, Code: "idempotency_key_reused",
		Detail: "this Idempotency-Key was used with another body; use a new key for a new request",
	}
}

func keyInFlight() error {
	return &api.Problem{
		Status: 409, Code: "idempotency_key_in_flight", RetryAfter: time.Second,
		Detail: "the request with this Idempotency-Key is still in progress; try again",
	}
}

func validKey(key string) bool {
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return false
		}
	}
	return key != "" && len(key) <= 255
}
