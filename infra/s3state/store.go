package s3state

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/s3objects"
)

// Store is the state below a prefix of a bucket. It is safe for concurrent use, by any number of processes.
type Store struct {
	objects *s3objects.Store
	lease   time.Duration
}

// Config is what the URL does not say. The zero value is ready for use.
type Config struct {
	// Access says how S3 is reached.
	Access s3objects.Access
	// Lease is how long a taken key waits for its answer before it may be taken again; longer than any request lasts.
	// Default 3 minutes.
	Lease time.Duration
}

// Open opens the state at a URL, s3://bucket/prefix. It asks S3 nothing yet; see Ready.
func Open(ctx context.Context, url string, cfg Config) (*Store, error) {
	objects, err := s3objects.Open(ctx, url, cfg.Access)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	if cfg.Lease <= 0 {
		cfg.Lease = 3 * time.Minute
	}
	return &Store{objects, cfg.Lease}, nil
}

// Ready reports whether the bucket is there.
func (s *Store) Ready(ctx context.Context) error { return s.objects.Ready(ctx) }

// Close does nothing: nothing is kept here.
func (s *Store) Close() error { return nil }

// plainName is what the name of a function may look like in a key.
var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// place gives the key of what belongs to a function; false when nothing can have that name.
func place(kind, tenant, name string) (string, bool) {
	return kind + tenantPart(tenant) + name, plainName.MatchString(name)
}

func tenantPart(tenant string) string { return "/t" + hex.EncodeToString([]byte(tenant)) + "/" }

// attempts is how often a change is tried that others are faster than; each is made on what those left.
const attempts = 100

// change hands the document under a key to fn, empty when there is none, and keeps what fn makes of it. An error of fn
// changes nothing and is given back as it is.
func change[D any](ctx context.Context, s *Store, key string, most int64, fn func(doc *D, there bool) error) error {
	for n := range attempts {
		var doc D
		body, tag, err := s.objects.Get(ctx, key, most)
		there := err == nil
		if err != nil && !errors.Is(err, s3objects.ErrMissing) {
			return err
		}
		if there {
			if err := json.Unmarshal(body, &doc); err != nil {
				return fmt.Errorf("read %q: %w", key, err)
			}
		}
		if err := fn(&doc, there); err != nil {
			return err
		}
		if body, err = json.Marshal(doc); err != nil {
			return err
		}
		if int64(len(body)) > most {
			return &execution.Error{Code: execution.TooLarge, Message: fmt.Sprintf("what is to be kept has more than %d bytes", most)}
		}
		if there {
			_, err = s.objects.Replace(ctx, key, body, tag)
		} else {
			_, err = s.objects.Create(ctx, key, body)
		}
		if !errors.Is(err, s3objects.ErrChanged) {
			return err
		}
		if err := pause(ctx, time.Duration(rand.Int64N(int64(min(n+1, 20)))*int64(5*time.Millisecond))); err != nil {
			return err
		}
	}
	return &execution.Error{Code: execution.Unavailable, Message: "too many change this at once; try again", RetryAfter: time.Second}
}

// pause lets the others be first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
