package sqlitestate

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver
)

const fileName = "state.db"

// Store is the state of one deployment. It is safe for concurrent use.
type Store struct {
	db      *sql.DB
	dir     string
	owner   string
	lock    *os.File
	maxJobs int
	maxEach int
}

// Config sizes a Store. The zero value means the defaults.
type Config struct {
	MaxJobs          int // jobs that have not ended; 100,000
	MaxJobsPerTenant int // 20,000
}

// schema only ever grows; user_version counts its steps.
var schema = [...]string{`
CREATE TABLE functions (
	tenant TEXT NOT NULL, name TEXT NOT NULL, next INTEGER, doc BLOB NOT NULL,
	PRIMARY KEY (tenant, name)
) WITHOUT ROWID;
CREATE INDEX functions_next ON functions (next) WHERE next IS NOT NULL;
CREATE TABLE versions (
	tenant TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL, content BLOB NOT NULL,
	PRIMARY KEY (tenant, name, version)
);
CREATE TABLE jobs (
	seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, tenant TEXT NOT NULL, status TEXT NOT NULL, priority INTEGER NOT NULL,
	not_before INTEGER NOT NULL, owner TEXT NOT NULL, cancel INTEGER NOT NULL, callback INTEGER, ended INTEGER,
	doc BLOB NOT NULL, request BLOB NOT NULL, result BLOB
);
CREATE INDEX jobs_queued ON jobs (tenant, priority DESC, seq) WHERE status = 'queued';
CREATE INDEX jobs_running ON jobs (owner) WHERE status = 'running';
CREATE INDEX jobs_callback ON jobs (callback) WHERE callback IS NOT NULL;
CREATE INDEX jobs_ended ON jobs (ended) WHERE ended IS NOT NULL;
CREATE TABLE gone (tenant TEXT NOT NULL, url TEXT NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (tenant, url)) WITHOUT ROWID;
CREATE TABLE deliveries (
	key TEXT PRIMARY KEY, mark TEXT NOT NULL, until INTEGER NOT NULL, owner TEXT NOT NULL, answer BLOB
) WITHOUT ROWID;
CREATE INDEX deliveries_until ON deliveries (until);
`, `
CREATE TABLE events (
	tenant TEXT NOT NULL, name TEXT NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL, event BLOB NOT NULL,
	PRIMARY KEY (tenant, name, id)
);
CREATE INDEX events_at ON events (at);
`}

// Open opens the state in a folder, which is made when it is not there.
func Open(dir string, cfg Config) (*Store, error) {
	if cfg.MaxJobs == 0 {
		cfg.MaxJobs = 100_000
	}
	if cfg.MaxJobsPerTenant == 0 {
		cfg.MaxJobsPerTenant = 20_000
	}
	if cfg.MaxJobs < 0 || cfg.MaxJobsPerTenant < 0 {
		return nil, errors.New("state: the numbers of jobs must not be negative")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, ownersFolder), 0o700); err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	path := filepath.Join(dir, fileName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) // SQLite would make it readable by all
	if err != nil {
		return nil, fmt.Errorf("state file: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("state file: %w", err)
	}
	dsn := url.URL{Scheme: "file", Path: path, RawQuery: "_txlock=immediate&_pragma=busy_timeout(15000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, fmt.Errorf("state file: %w", err)
	}
	db.SetMaxOpenConns(4)
	s := &Store{db: db, dir: dir, owner: rand.Text(), maxJobs: cfg.MaxJobs, maxEach: cfg.MaxJobsPerTenant}
	if err := s.migrate(); err != nil {
		return nil, errors.Join(fmt.Errorf("state file %s: %w", path, err), db.Close())
	}
	if s.lock, err = holdOwner(filepath.Join(dir, ownersFolder, s.owner)); err != nil {
		return nil, errors.Join(fmt.Errorf("state folder: %w", err), db.Close())
	}
	return s, nil
}

func (s *Store) migrate() error {
	return s.change(context.Background(), func(tx *sql.Tx) error {
		var version int
		if err := tx.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		if version > len(schema) {
			return fmt.Errorf("it was written by a newer version of airlock (step %d, this one knows %d)", version, len(schema))
		}
		for _, step := range schema[version:] {
			if _, err := tx.Exec(step); err != nil {
				return err
			}
		}
		_, err := tx.Exec(fmt.Sprintf("PRAGMA user_version = %d", len(schema)))
		return err
	})
}

// Close lets go of the file. Jobs that this process was still running become orphans.
func (s *Store) Close() error {
	return errors.Join(s.db.Close(), s.lock.Close(), os.Remove(s.lock.Name()))
}

// Ready reports whether the state can be changed now: the file is where it was, and the right to write to it can be had.
func (s *Store) Ready(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(s.dir, fileName)); err != nil {
		return fmt.Errorf("state file: %w", err)
	}
	err := s.change(ctx, func(tx *sql.Tx) error {
		var version int
		return tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	})
	if err != nil {
		return fmt.Errorf("state file: %w", err)
	}
	return nil
}

// change runs fn in one transaction, flushed to the disk when it returns nil.
func (s *Store) change(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return errors.Join(err, ended(tx.Rollback()))
	}
	return tx.Commit()
}

// ended forgives a transaction that its context has rolled back already.
func ended(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func orNull(t time.Time) sql.NullInt64 { return sql.NullInt64{Int64: millis(t), Valid: !t.IsZero()} }
