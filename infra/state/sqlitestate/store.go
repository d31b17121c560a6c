package sqlitestate

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/airlock-run/airlock/functions/execution"
)

const fileName = "state.db"

// Exists reports whether a folder holds a state or anchors: Open makes a state where there is none.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, fileName))
	if err != nil {
		_, err = os.Stat(filepath.Join(dir, anchorsFolder))
	}
	return err == nil
}

// A Store is the state of one deployment. It is safe for concurrent use.
type Store struct {
	*database
	owner string
	lock  *os.File
	cfg   Config
	gone  departed
}

// A database is the SQLite file, with the turns of its writers and its health.
type database struct {
	db    *sql.DB
	dir   string
	turn  chan struct{} // held by the goroutine of this process that writes
	freed atomic.Int64  // bytes of content deleted since the file last shrank

	checkTime time.Duration // Config.CheckTime
	now       func() time.Time

	mu     sync.Mutex
	stuck  chan struct{} // closed and replaced if the lock could not be taken
	health health
}

// Config configures a Store. The zero value has the defaults.
type Config struct {
	MaxJobs          int // jobs that have not begun; 100,000
	MaxJobsPerTenant int // 20,000
	// Storage returns a tenant's current quota. It must be safe for concurrent use. Nil, or a zero field, means the
	// default.
	Storage func(tenant string) execution.Storage
	// MaxBytes is what the state may take on its disk, for all tenants together: a change for which there is no room is a
	// StoreError with StoreFull. Default 16 GiB. A file that is larger already does not grow.
	MaxBytes int64
	// CheckTime bounds a check of the whole file. Default 5 seconds on opening and half a second later.
	CheckTime time.Duration
	// Lease is how long after the end of its process a function may begin a job. A third of it is for clocks that differ.
	// 0 if functions end with their process.
	Lease time.Duration
	// Now is the clock of health checks and of the ends of processes. Default time.Now.
	Now func() time.Time
}

func (c Config) checked() (Config, error) {
	if c.MaxJobs < 0 || c.MaxJobsPerTenant < 0 {
		return c, errors.New("state: the numbers of jobs must not be negative")
	}
	if c.Lease < 0 {
		return c, errors.New("state: the lease must not be negative")
	}
	if c.MaxBytes < 0 {
		return c, errors.New("state: the size of the file must not be negative")
	}
	c.MaxBytes = cmp.Or(c.MaxBytes, 16<<30)
	c.MaxJobs = cmp.Or(c.MaxJobs, 100_000)
	c.MaxJobsPerTenant = cmp.Or(c.MaxJobsPerTenant, 20_000)
	if c.Now == nil {
		c.Now = time.Now
	}
	return c, nil
}

// storage returns a tenant's quota.
func (s *Store) storage(tenant string) execution.Storage {
	if s.cfg.Storage == nil {
		return execution.DefaultStorage()
	}
	return s.cfg.Storage(tenant).OrDefault()
}

// Open opens the state in a folder, which it creates if necessary. It opens a damaged file too: Ready and everything
// else then report the damage, and nothing is written.
func Open(dir string, cfg Config) (*Store, error) {
	cfg, err := cfg.checked()
	if err != nil {
		return nil, err
	}
	dir, err = filepath.Abs(dir)
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
	db, err := sql.Open("sqlite", dataSource(path, cfg.MaxBytes))
	if err != nil {
		return nil, fmt.Errorf("state file: %w", err)
	}
	db.SetMaxOpenConns(connections)
	s := &Store{owner: rand.Text(), cfg: cfg, database: &database{
		db: db, dir: dir, turn: make(chan struct{}, 1), checkTime: cfg.CheckTime, now: cfg.Now, stuck: make(chan struct{}),
	}}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("state file %s: %w", path, err), db.Close())
	}
	if s.lock, err = holdOwner(filepath.Join(dir, ownersFolder, s.owner)); err != nil {
		return nil, errors.Join(fmt.Errorf("state folder: %w", err), db.Close())
	}
	if s.broken() == nil {
		_ = errors.Join(s.unlink(context.Background()), s.unlinkStrays(context.Background())) // the next start tries again
	}
	return s, nil
}

// connections is the number of concurrent statements. At most one of them writes.
const connections = 4

// dataSource returns the file with its options. The journal shrinks after a burst. SQLite's own wait for a lock is
// short: see wait. maxBytes bounds the file; 0 sets no bound. No option may write: a connection for reading must open
// while another process holds the lock of writers.
func dataSource(path string, maxBytes int64) string {
	return source(path, "journal_mode(WAL)", "synchronous(FULL)", "journal_size_limit(4194304)",
		"max_page_count("+strconv.FormatInt(maxBytes/pageSize, 10)+")")
}

func source(path string, pragmas ...string) string {
	query := "_txlock=immediate&_pragma=busy_timeout(5)"
	for _, pragma := range pragmas {
		query += "&_pragma=" + pragma
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: query}).String()
}

// pageSize is that of SQLite files.
const pageSize = 4096

// prepare updates the schema and checks the file.
func (d *database) prepare() error {
	ctx := context.Background()
	if err := d.create(ctx); err != nil {
		return err
	}
	err := d.migrate(ctx)
	if fault := (*execution.StoreError)(nil); errors.As(err, &fault) && fault.Fault == execution.StoreCorrupt &&
		!notDatabase(err) {
		return nil // the fault is kept, and Ready returns it
	}
	if err != nil {
		return err
	}
	d.check(ctx, cmp.Or(d.checkTime, checkAtOpen))
	if d.broken() == nil {
		d.makeShrinkable(ctx)
	}
	return nil
}

// create makes an empty file a database that can return free pages to the disk. The option is kept in the file, and it
// must precede the journal mode.
func (d *database) create(ctx context.Context) error {
	info, err := os.Stat(d.path())
	if err != nil || info.Size() > 0 {
		return err
	}
	db, err := sql.Open("sqlite", source(d.path(), "auto_vacuum(2)", "journal_mode(WAL)"))
	if err != nil {
		return err
	}
	err = wait(ctx, func() error { return db.PingContext(ctx) })
	return d.judge(errors.Join(err, db.Close()))
}

func (d *database) migrate(ctx context.Context) error {
	steps := schema()
	return d.change(ctx, func(tx *sql.Tx) error {
		var version int
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
			return err
		}
		if version > len(steps) {
			return fmt.Errorf("it was written by a newer version of airlock (step %d, this one knows %d)", version, len(steps))
		}
		if version == len(steps) {
			return nil
		}
		for _, step := range steps[version:] {
			if _, err := tx.ExecContext(ctx, step); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(steps)))
		return err
	})
}

// Close closes the file. Jobs that this process was running become orphans.
func (s *Store) Close() error {
	return errors.Join(s.db.Close(), s.lock.Close(), os.Remove(s.lock.Name()))
}

// change runs fn in one transaction, which is flushed to disk if fn returns nil.
func (d *database) change(ctx context.Context, fn func(*sql.Tx) error) error {
	if err := d.broken(); err != nil {
		return err
	}
	tx, release, err := d.begin(ctx)
	if err != nil {
		return d.judge(err)
	}
	defer release()
	if err := fn(tx); err != nil {
		return d.judge(errors.Join(err, ended(tx.Rollback())))
	}
	return d.judge(tx.Commit())
}

// exec runs one statement in a transaction of its own.
func (d *database) exec(ctx context.Context, query string, args ...any) error {
	return d.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	})
}

// read runs fn, which only reads, and repeats it while another process locks out readers.
func (d *database) read(ctx context.Context, fn func() error) error {
	if err := d.broken(); err != nil {
		return err
	}
	return d.judge(wait(ctx, fn))
}

// ended returns nil for a transaction that its context, or SQLite, has rolled back already.
func ended(err error) error {
	if errors.Is(err, sql.ErrTxDone) || err != nil && strings.Contains(err.Error(), "no transaction is active") {
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
