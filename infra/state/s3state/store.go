package s3state

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"regexp"
	"sync"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/infra/state/internal/share"
)

// A Store is the state below a prefix of a bucket. It is safe for concurrent use, by any number of processes.
type Store struct {
	noWaits
	objects *s3objects.Store
	cfg     Config
	idle    map[string]*idleCache
	tallies *share.Tallies

	mu    sync.Mutex
	mine  map[string]string // the claims of the jobs that this process runs
	asked time.Time         // when their cancellation was last checked
}

// Config configures a Store. The zero value has the defaults.
type Config struct {
	// Access configures the S3 client.
	Access s3objects.Access
	// Lease is how long a key is taken without an answer, and how long a job is claimed without a result, before others
	// may take it. A job starts within the first third of its lease or not at all, so two thirds must exceed the life
	// of a function plus the difference between clocks. Default 3 minutes.
	Lease time.Duration
	// Poll is how soon a process sees the work of others. Default 5 s.
	Poll time.Duration
	// MaxJobsPerTenant is the approximate limit on queued jobs, which are counted every few seconds. Default 20,000.
	MaxJobsPerTenant int
	// Storage returns a tenant's current quota, of which only Functions counts. It must be safe for concurrent use. Nil,
	// or a zero field, means the default.
	Storage func(tenant string) execution.Storage
	// NoJobs refuses jobs and schedules with execution.ErrNotKept, because nothing runs them.
	NoJobs bool
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// Open returns the state at a URL, s3://bucket/prefix. It sends no request; see Ready.
func Open(ctx context.Context, url string, cfg Config) (*Store, error) {
	objects, err := s3objects.Open(ctx, url, cfg.Access)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	if cfg.Lease < 0 || cfg.Poll < 0 || cfg.MaxJobsPerTenant < 0 {
		return nil, errors.New("state: durations and numbers must not be negative")
	}
	cfg.Lease = cmp.Or(cfg.Lease, 3*time.Minute)
	cfg.Poll = cmp.Or(cfg.Poll, 5*time.Second)
	cfg.MaxJobsPerTenant = cmp.Or(cfg.MaxJobsPerTenant, 20_000)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Store{objects: objects, cfg: cfg, idle: map[string]*idleCache{}, mine: map[string]string{},
		tallies: share.NewTallies(cfg.Now)}
	for _, list := range []string{queuedList, runningList, tellingList, endedList, schedulesList} {
		s.idle[list] = &idleCache{poll: cfg.Poll}
	}
	return s, nil
}

// Ready returns an error if the bucket is not available.
func (s *Store) Ready(ctx context.Context) error { return s.objects.Ready(ctx) }

// Close does nothing.
func (s *Store) Close() error { return nil }

// plainName matches the function names that may be part of a key.
var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// place returns the key of an object that belongs to a function, and whether the name is valid.
func place(kind, tenant, name string) (string, bool) {
	return kind + tenantPart(tenant) + name, plainName.MatchString(name)
}

func tenantPart(tenant string) string { return "/t" + hex.EncodeToString([]byte(tenant)) + "/" }

// attempts is how often a change is tried on a document that others change too.
const attempts = 100

// change passes the document under a key to fn, or an empty one, and stores what fn makes of it. fn may be called
// more than once. If fn fails, nothing changes and its error is returned. The due-entry of a change is written before
// the change; that of a new document after it, because nobody knows the document yet.
func change[D any](ctx context.Context, s *Store, key string, most int64, fn func(doc *D, there bool) error) error {
	by := rand.Text()
	var was, now dueEntry
	for n := range attempts {
		var doc D
		tag, there, err := s.read(ctx, key, most, &doc)
		if err != nil {
			return err
		}
		l, moves := any(&doc).(listed)
		if there && moves && l.progress().By == by { // an earlier attempt succeeded and its answer was lost
			s.erase(ctx, was)
			return nil
		}
		if moves && there {
			was = l.dueEntry()
		}
		if err := fn(&doc, there); err != nil {
			return err
		}
		if moves {
			if now = s.step(l, was, there, by); there && now != was {
				if err := s.put(ctx, now); err != nil {
					return err
				}
			}
		}
		err = s.write(ctx, key, most, doc, tag)
		switch {
		case err == nil && moves && !there:
			return s.put(ctx, now)
		case err == nil && now != was:
			s.erase(ctx, was)
			return nil
		case !errors.Is(err, s3objects.ErrChanged):
			return err
		}
		if err := pause(ctx, time.Duration(mathrand.Int64N(int64(min(n+1, 20)))*int64(5*time.Millisecond))); err != nil {
			return err
		}
	}
	return &execution.Error{Code: execution.Unavailable, Message: "too many changes at once; try again",
		RetryAfter: time.Second}
}

// step signs a change and returns the due-entry of the changed document.
func (s *Store) step(l listed, was dueEntry, there bool, by string) dueEntry {
	steps := l.progress()
	steps.By = by
	if l.dueEntry() == was && there {
		return was
	}
	if steps.Step++; steps.Step == 1 {
		steps.Step = s.cfg.Now().UnixNano()
	}
	return l.dueEntry()
}

func (s *Store) read(ctx context.Context, key string, most int64, doc any) (tag string, there bool, err error) {
	body, tag, err := s.objects.Get(ctx, key, most)
	if errors.Is(err, s3objects.ErrMissing) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	if err := json.Unmarshal(body, doc); err != nil {
		return "", false, fmt.Errorf("read %q: %w", key, err)
	}
	return tag, true, nil
}

// write replaces the document that was read, or creates it if there was none.
func (s *Store) write(ctx context.Context, key string, most int64, doc any, tag string) error {
	body, err := json.Marshal(doc)
	switch {
	case err != nil:
		return err
	case int64(len(body)) > most:
		return &execution.Error{Code: execution.TooLarge, Message: fmt.Sprintf("the document has more than %d bytes", most)}
	case tag == "":
		_, err = s.objects.Create(ctx, key, body)
	default:
		_, err = s.objects.Replace(ctx, key, body, tag)
	}
	return err
}

// pause waits before the next attempt.
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
