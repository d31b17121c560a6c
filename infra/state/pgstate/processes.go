package pgstate

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/airlock-run/airlock/functions/execution"
)

// A heartbeat tells other processes that this one lives.
type heartbeat struct {
	stop context.CancelFunc
	done chan struct{}

	mu     sync.Mutex
	last   time.Time // of the last success
	steady time.Time // since when they have succeeded
}

// live is the condition of a process that has written a heartbeat lately. It needs DeadAfter in seconds.
const live = "SELECT p.id FROM airlock.processes p WHERE p.seen > clock_timestamp() - make_interval(secs => $1)"

func (s *Store) register(ctx context.Context) error {
	sent := time.Now()
	_, err := s.exec(ctx, `INSERT INTO airlock.processes (id, seen) VALUES ($1, clock_timestamp())
		ON CONFLICT (id) DO UPDATE SET seen = clock_timestamp()`, s.id)
	s.beat.note(time.Now(), s.cfg.DeadAfter, err == nil)
	if err == nil {
		s.lease.Renew(sent, time.Now())
	}
	return err
}

// note records the outcome of a heartbeat. Those before a long gap do not count.
func (h *heartbeat) note(now time.Time, deadAfter time.Duration, succeeded bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !succeeded {
		h.steady = time.Time{}
		return
	}
	if h.steady.IsZero() || now.Sub(h.last) > deadAfter/2 {
		h.steady = now
	}
	h.last = now
}

// isSteady reports whether heartbeats have succeeded for a time and the last one is recent: the database is not only
// just back from an outage in which nobody could write one.
func (s *Store) isSteady() bool {
	s.beat.mu.Lock()
	defer s.beat.mu.Unlock()
	now := time.Now()
	return !s.beat.steady.IsZero() && now.Sub(s.beat.steady) >= s.cfg.Settle && now.Sub(s.beat.last) <= s.cfg.DeadAfter/2
}

func (h *heartbeat) start(s *Store) {
	ctx, cancel := context.WithCancel(context.Background())
	h.stop, h.done = cancel, make(chan struct{})
	go func() {
		defer close(h.done)
		tick := time.NewTicker(s.cfg.DeadAfter / 4)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			_ = s.register(ctx) // noted; Ready reports what is wrong with the database
		}
	}()
}

func (h *heartbeat) end() {
	h.stop()
	<-h.done
}

// claimed is a job that this process is running, as the database has it.
type claimed struct {
	token string
	began time.Time // before the statement was sent
	row   *jobRow
}

// held are the claims of this process.
type held struct {
	mu     sync.Mutex
	claims map[string]*claimed // by their tokens, from before the statement is sent
	byID   map[string]*claimed
}

func (h *held) begin(token string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.claims[token] = &claimed{token: token, began: time.Now()}
}

func (h *held) hold(token string, row *jobRow) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.claims[token]
	c.row = row
	h.byID[string(row.id)] = c
}

// dropUnheld forgets the tokens under which no job was claimed.
func (h *held) dropUnheld(tokens []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, token := range tokens {
		if c := h.claims[token]; c != nil && c.row == nil {
			delete(h.claims, token)
		}
	}
}

// letGo forgets a claim, if it is this process's. Another claim of the same job may have succeeded since.
func (h *held) letGo(token string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.claims, token)
}

// rowOf returns the row of a job that this process claimed, or nil. It is returned once.
func (h *held) rowOf(id string) *jobRow {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.byID[id]
	if c == nil {
		return nil
	}
	delete(h.byID, id)
	return c.row
}

func (h *held) tokens() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]string, 0, len(h.claims))
	for token := range h.claims {
		out = append(out, token)
	}
	return out
}

func (h *held) has(token string) bool {
	_, has := h.since(token)
	return has
}

// since returns when a job was claimed under a token.
func (h *held) since(token string) (began time.Time, has bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.claims[token]; c != nil {
		return c.began, true
	}
	return began, false
}

// StartBefore returns the latest start of a job that this process has claimed, as its owner. It is in the past if
// others may have taken the job over.
func (s *Store) StartBefore(owner string) time.Time {
	_, token, _ := strings.Cut(owner, ".")
	began, _ := s.jobs.since(token)
	return s.lease.Until(began)
}

// Orphans returns the running jobs of processes that have died, and those that this process claimed without receiving
// the answer. Callbacks that a dead process had claimed are due again.
func (s *Store) Orphans(ctx context.Context) ([]execution.Job, error) {
	var rows []*jobRow
	dead := s.cfg.DeadAfter.Seconds()
	if s.isSteady() {
		_, err := s.exec(ctx, `UPDATE airlock.jobs SET callback = 0, caller = NULL
			WHERE callback IS NOT NULL AND caller IS NOT NULL AND caller <> $2 AND caller NOT IN (`+live+`)`, dead, s.id)
		if err != nil {
			return nil, fmt.Errorf("free callbacks: %w", err)
		}
		err = s.do(ctx, func(ctx context.Context) (err error) {
			rows, err = collect(ctx, s.pool, orphanScanner(s.cfg.Lease), "SELECT "+jobColumns+`,
				extract(epoch FROM clock_timestamp() -
				coalesce((SELECT p.seen FROM airlock.processes p WHERE p.id = owner), claimed))::float8 FROM airlock.jobs
				WHERE status = 'running' AND owner <> $2 AND owner NOT IN (`+live+`) LIMIT 1000`, dead, s.id)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("look for orphans: %w", err)
		}
	}
	known := s.jobs.tokens()
	var lost []*jobRow
	err := s.do(ctx, func(ctx context.Context) (err error) {
		lost, err = collect(ctx, s.pool, scanJob, "SELECT "+jobColumns+` FROM airlock.jobs
			WHERE status = 'running' AND owner = $1 AND claim <> ALL ($2::text[]) LIMIT 1000`, s.id, known)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for orphans: %w", err)
	}
	for _, row := range lost {
		if !s.jobs.has(row.claim) { // it was not claimed since
			row.idle = execution.NeverBegan
			rows = append(rows, row)
		}
	}
	return decodeJobs(rows)
}

// orphanScanner returns a func that scans a job and the age of the last heartbeat of its owner in seconds.
func orphanScanner(lease time.Duration) func(pgx.Row) (*jobRow, error) {
	return func(row pgx.Row) (*jobRow, error) {
		r, seconds := &jobRow{}, 0.0
		err := row.Scan(append(r.columns(), &seconds)...)
		r.idle = max(time.Duration(seconds*float64(time.Second))-lease, 0)
		return r, err
	}
}

// Cancelled returns the IDs of this process's running jobs that are to be stopped.
func (s *Store) Cancelled(ctx context.Context) (ids []string, err error) {
	err = s.do(ctx, func(ctx context.Context) error {
		found, err := collect(ctx, s.pool, scanBytes,
			"SELECT id FROM airlock.jobs WHERE status = 'running' AND owner = $1 AND cancel LIMIT 1000", s.id)
		ids = nil
		for _, id := range found {
			ids = append(ids, string(id))
		}
		return err
	})
	return ids, err
}
