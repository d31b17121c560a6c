package dynamostate

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/infra/state/internal/share"
)

// A Store is one gateway's view of the state in a table. It is safe for concurrent use.
type Store struct {
	*table
	cfg  Config
	id   string // of this process
	beat *heartbeat

	tallies *share.Tallies
	uses    uses

	mu     sync.Mutex
	held   map[string]*claim // the claims of this process by their tokens, from before the request is sent
	probed time.Time         // when Ready last succeeded
}

// Config configures a Store. The zero value has the defaults.
type Config struct {
	Access
	// MaxJobsPerTenant is the approximate limit on queued jobs, which are counted every few seconds. Default 20,000.
	MaxJobsPerTenant int
	// Storage returns a tenant's current quota. It must be safe for concurrent use. Nil means the default.
	Storage func(tenant string) execution.Storage
	// Lease is how long after a heartbeat a function may begin a job of its process. A third of it is for clocks that
	// differ. Default DeadAfter.
	Lease time.Duration
	// DeadAfter is how long a heartbeat stays the same until its process counts as dead. A process writes four in that
	// time. Default 8 seconds.
	DeadAfter time.Duration
	// NoJobs refuses jobs and schedules with execution.ErrNotKept, because nothing runs them.
	NoJobs bool
	// Alarms has a process call [Arm], and then do what is due, at the times at which something is. Without it, processes
	// must look for work all the time, as jobs.Queue does after Start, or every minute.
	Alarms Alarms
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// Access configures the connections.
type Access struct {
	// Endpoint is the URL of a service other than DynamoDB.
	Endpoint string
	// Attempts is the number of attempts of a request. Default 4.
	Attempts int
	// Objects is the access to the bucket of large contents.
	Objects s3objects.Access
}

// Parse splits the URL of a state, dynamodb://table?contents=s3://bucket/prefix.
func Parse(text string) (table, contents string, err error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "dynamodb" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.User != nil {
		return "", "", errors.New("must be like dynamodb://table?contents=s3://bucket/prefix")
	}
	query := u.Query()
	contents = query.Get("contents")
	query.Del("contents")
	if bucket, _, _ := strings.Cut(strings.TrimPrefix(contents, "s3://"), "/"); !strings.HasPrefix(contents, "s3://") ||
		bucket == "" || len(query) > 0 {
		return "", "", fmt.Errorf("must name the bucket of large contents and nothing else: "+
			"dynamodb://%s?contents=s3://bucket/prefix", u.Host)
	}
	return u.Host, contents, nil
}

// Open opens the state at a URL and starts to write heartbeats. The table exists already; see Schema.
func Open(ctx context.Context, url string, cfg Config) (*Store, error) {
	if cfg.MaxJobsPerTenant < 0 || cfg.Lease < 0 || cfg.DeadAfter < 0 {
		return nil, errors.New("state: numbers and durations must not be negative")
	}
	cfg.MaxJobsPerTenant = cmp.Or(cfg.MaxJobsPerTenant, 20_000)
	cfg.DeadAfter = cmp.Or(cfg.DeadAfter, 8*time.Second)
	cfg.Lease = cmp.Or(cfg.Lease, cfg.DeadAfter)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	t, err := openTable(ctx, url, cfg.Access)
	if err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	t.alarms = cfg.Alarms
	s := &Store{table: t, cfg: cfg, id: rand.Text(), held: map[string]*claim{},
		tallies: share.NewTallies(cfg.Now)}
	s.uses = uses{t, cfg.Now, s.storage, &latest{items: map[[2]string]item{}}}
	s.beat = &heartbeat{table: t, id: s.id, now: cfg.Now, deadAfter: cfg.DeadAfter,
		lease: share.Lease{DeadAfter: cfg.DeadAfter, Length: cfg.Lease}, seen: map[string]sighting{}}
	if err := s.beat.register(ctx); err != nil {
		return nil, fmt.Errorf("state: %w", err)
	}
	s.beat.start()
	return s, nil
}

// Close ends the heartbeats. Jobs that this process was running become orphans when it counts as dead.
func (s *Store) Close() error {
	s.beat.end()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	s.mu.Lock()
	holds := len(s.held) > 0
	s.mu.Unlock()
	if !holds { // otherwise, others see since when its last heartbeat stays the same
		// If that fails, the others find that the heartbeats have ended.
		_ = s.remove(ctx, processKey(s.id))
	}
	return nil
}

// readyFor is how long Ready caches a success.
const readyFor = time.Second

// Ready returns an error if the state cannot be changed now: it writes a heartbeat. Its result may be a second old. The
// error is an *execution.StoreError.
func (s *Store) Ready(ctx context.Context) error {
	now := time.Now()
	s.mu.Lock()
	age := now.Sub(s.probed)
	s.mu.Unlock()
	if age >= 0 && age < readyFor {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 900*time.Millisecond)
	defer cancel()
	if err := s.beat.register(ctx); err != nil {
		if known := (*execution.StoreError)(nil); !errors.As(err, &known) {
			err = &execution.StoreError{Fault: execution.StoreLost, Err: err}
		}
		return err
	}
	s.mu.Lock()
	s.probed = now
	s.mu.Unlock()
	return nil
}

func (s *Store) storage(tenant string) execution.Storage {
	if s.cfg.Storage == nil {
		return execution.DefaultStorage()
	}
	return s.cfg.Storage(tenant).OrDefault()
}
