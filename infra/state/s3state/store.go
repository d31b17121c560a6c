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
)

// Store is the state below a prefix of a bucket. It is safe for concurrent use, by any number of processes.
type Store struct {
	objects *s3objects.Store
	cfg     Config
	glances map[string]*glance

	mu      sync.Mutex
	mine    map[string]string // the jobs that this process runs, and as whose
	asked   time.Time         // when it was last asked whether they are to be stopped
	waiting map[string]waiting
}

// Config is what the URL does not say. The zero value is ready for use.
type Config struct {
	// Access says how S3 is reached.
	Access s3objects.Access
	// Lease is how long a taken key waits for its answer before it may be taken again, and a claimed job for its result before
	// it is an orphan. A job is begun within the first third of it or not at all, so that two thirds must be longer than any
	// function lives, and than clocks differ. Default 3 minutes.
	Lease time.Duration
	// Poll is how soon a process sees what others have left to be done. Default 5 s.
	Poll time.Duration
	// MaxJobsPerTenant bounds the jobs that have not begun, about: they are counted every few seconds. Default 20,000.
	MaxJobsPerTenant int
	// NoJobs refuses jobs and schedules with execution.ErrNotKept: there is nobody to run them.
	NoJobs bool
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// Open opens the state at a URL, s3://bucket/prefix. It asks S3 nothing yet; see Ready.
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
	s := &Store{objects: objects, cfg: cfg, glances: map[string]*glance{}, mine: map[string]string{}, waiting: map[string]waiting{}}
	for _, list := range []string{queuedList, runningList, tellingList, endedList, schedulesList} {
		s.glances[list] = &glance{poll: cfg.Poll}
	}
	return s, nil
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
// changes nothing and is given back as it is. A document that moves from one list to another has its new mark before the
// change, and one that is made after it: of that nobody has been told yet.
func change[D any](ctx context.Context, s *Store, key string, most int64, fn func(doc *D, there bool) error) error {
	by := rand.Text()
	var was, now mark
	for n := range attempts {
		var doc D
		tag, there, err := s.read(ctx, key, most, &doc)
		if err != nil {
			return err
		}
		l, moves := any(&doc).(listed)
		if there && moves && l.progress().By == by { // an attempt whose answer got lost
			s.erase(ctx, was)
			return nil
		}
		if moves && there {
			was = l.mark()
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
	return &execution.Error{Code: execution.Unavailable, Message: "too many change this at once; try again", RetryAfter: time.Second}
}

// step signs a change, and gives the mark that the document has with it.
func (s *Store) step(l listed, was mark, there bool, by string) mark {
	steps := l.progress()
	steps.By = by
	if l.mark() == was && there {
		return was
	}
	if steps.Step++; steps.Step == 1 {
		steps.Step = s.cfg.Now().UnixNano()
	}
	return l.mark()
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

// write puts a document in the place of the one that was read, or makes it when there was none.
func (s *Store) write(ctx context.Context, key string, most int64, doc any, tag string) error {
	body, err := json.Marshal(doc)
	switch {
	case err != nil:
		return err
	case int64(len(body)) > most:
		return &execution.Error{Code: execution.TooLarge, Message: fmt.Sprintf("what is to be kept has more than %d bytes", most)}
	case tag == "":
		_, err = s.objects.Create(ctx, key, body)
	default:
		_, err = s.objects.Replace(ctx, key, body, tag)
	}
	return err
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
