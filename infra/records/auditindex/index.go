package auditindex

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/airlock-run/airlock/policy/audit"
)

// Config configures an Index. The zero value is ready for use.
type Config struct {
	// Patience is how long a query waits for the index to catch up; default 1 s.
	Patience time.Duration
	// Batch is the number of lines that are indexed at once; default 10,000.
	Batch int
	// Late is how long after its ID was made a record usually appears in a bucket; default 2 min. Later ones are found
	// with delay.
	Late time.Duration
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Log receives errors; the default discards them.
	Log *slog.Logger
}

// An Index is a record store with an index. Records are written to and read from the store itself. It is safe for
// concurrent use.
type Index struct {
	audit.Store
	feed feed
	cfg  Config
	path string
	db   *sql.DB
	turn chan struct{} // holds a token while nobody writes to the index

	running context.Context // until Close
	stop    context.CancelFunc
	mu      sync.Mutex // guards behind, and work against Close
	behind  bool       // somebody catches up in the background
	since   time.Time  // when that began
	work    sync.WaitGroup
	spoiled atomic.Bool // the file is damaged
	ordered bool        // the file has its indexes; those who hold the turn use it
}

// A feed follows one kind of store.
type feed interface {
	// follow indexes what was added to the records. The caller holds the turn.
	follow(ctx context.Context) error
	// lines reads the lines at places, in any order; it skips a line that is gone.
	lines(ctx context.Context, places []place, fn func(at place, line []byte) error) error
	// place identifies what is followed, or is "" if the records themselves show it.
	place() string
}

// errUnfollowed is the error of Open for a store that is neither a [Log] nor a [Bucket].
var errUnfollowed = errors.New("audit index: cannot follow this kind of record store")

// Open opens the index in a folder, which it creates if necessary, and starts to follow a store that is a [Log] or a
// [Bucket]. The store must be closed after the index.
func Open(ctx context.Context, dir string, store audit.Store, cfg Config) (*Index, error) {
	if cfg.Patience == 0 {
		cfg.Patience = time.Second
	}
	if cfg.Batch == 0 {
		cfg.Batch = 10_000
	}
	if cfg.Late == 0 {
		cfg.Late = 2 * time.Minute
	}
	if cfg.Patience < 0 || cfg.Batch < 0 || cfg.Late < 0 {
		return nil, errors.New("audit index: patience, batch and late must not be negative")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("audit index: %w", err)
	}
	x := &Index{Store: store, cfg: cfg, path: filepath.Join(dir, fileName), turn: make(chan struct{}, 1)}
	switch source := store.(type) {
	case Log:
		x.feed = &logFeed{Index: x, log: source}
	case Bucket:
		x.feed = &bucketFeed{Index: x, bucket: source, recent: newRecent(recentBytes)}
	default:
		return nil, errUnfollowed
	}
	err := x.openFile(ctx)
	if errors.Is(err, errUnusable) {
		cfg.Log.Info("rebuilding the index of the records", "file", x.path, "reason", err)
		if err = remove(x.path); err == nil {
			err = x.openFile(ctx)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("audit index: %w", err)
	}
	x.turn <- struct{}{}
	x.running, x.stop = context.WithCancel(context.WithoutCancel(ctx))
	x.pursue()
	return x, nil
}

// pursue catches up in the background.
func (x *Index) pursue() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.behind || x.running.Err() != nil {
		return
	}
	x.behind, x.since = true, time.Now()
	x.work.Go(func() {
		err := x.catchUp(x.running)
		if err != nil && x.running.Err() == nil {
			x.cfg.Log.Warn("the index of the records is behind", "error", x.noted(err))
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		x.behind = false
	})
}

// Close stops following and closes the file. It removes a damaged file, which is then rebuilt.
func (x *Index) Close() error {
	x.mu.Lock()
	x.stop()
	x.mu.Unlock()
	x.work.Wait()
	<-x.turn
	defer func() { x.turn <- struct{}{} }()
	err := x.db.Close()
	if x.spoiled.Load() {
		err = errors.Join(err, remove(x.path))
	}
	return err
}

// noted notes an error that means that the file is damaged.
func (x *Index) noted(err error) error {
	var failed *sqlite.Error
	if errors.As(err, &failed) {
		switch failed.Code() & 0xff { // the rest of the code says more of the same
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
			x.spoiled.Store(true)
		}
	}
	return err
}

// Ready returns an error if the records are unavailable; the index is not needed for that.
func (x *Index) Ready(ctx context.Context) error {
	if r, ok := x.Store.(interface{ Ready(context.Context) error }); ok {
		return r.Ready(ctx)
	}
	_, err := x.Store.List(ctx, audit.Query{Limit: 1})
	return err
}

// fresh brings the index up to the records as they are now. While that has taken longer than a query waits, such as
// when the index is being built, it does not wait at all.
func (x *Index) fresh(ctx context.Context) error {
	x.mu.Lock()
	building := x.behind && time.Since(x.since) > x.cfg.Patience
	x.mu.Unlock()
	if building {
		return audit.ErrBehind
	}
	waiting, cancel := context.WithTimeout(ctx, x.cfg.Patience)
	defer cancel()
	err := x.catchUp(waiting)
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case waiting.Err() != nil:
		x.pursue()
		return audit.ErrBehind
	}
	x.cfg.Log.Warn("the index cannot follow the records", "error", x.noted(err))
	return fmt.Errorf("%w: %w", audit.ErrBehind, err)
}

const (
	fileName = "records.db"
	// version increases with every change to the schema or to its content.
	version = 6
	schema  = `
CREATE TABLE files (id INTEGER PRIMARY KEY, day TEXT NOT NULL UNIQUE, offset INTEGER NOT NULL,
	last INTEGER NOT NULL, mark BLOB NOT NULL);
CREATE TABLE names (file INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (file, name)) WITHOUT ROWID;
CREATE TABLE source (place TEXT NOT NULL);
CREATE TABLE tenants (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE classes (id INTEGER PRIMARY KEY, status TEXT NOT NULL, policy TEXT NOT NULL, UNIQUE (status, policy));
CREATE TABLE functions (id INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, name TEXT NOT NULL, UNIQUE (name, tenant));
CREATE TABLE records (
	time INTEGER NOT NULL, id TEXT NOT NULL, tenant INTEGER NOT NULL, class INTEGER NOT NULL, function INTEGER NOT NULL,
	file INTEGER NOT NULL, at INTEGER NOT NULL, score INTEGER NOT NULL, outline BLOB NOT NULL,
	PRIMARY KEY (time, id)
) WITHOUT ROWID;
CREATE TABLE figures (
	span INTEGER NOT NULL, tenant INTEGER NOT NULL, start INTEGER NOT NULL, file INTEGER NOT NULL, doc BLOB NOT NULL,
	PRIMARY KEY (span, tenant, start, file)
) WITHOUT ROWID;
`
	// indexes are created when all records are in, in a third of the time of maintaining them meanwhile.
	indexes = `
CREATE INDEX IF NOT EXISTS records_class ON records (class, time, id);
CREATE INDEX IF NOT EXISTS records_tenant ON records (tenant, class, time, id);
CREATE INDEX IF NOT EXISTS records_function ON records (function, class, time, id) WHERE function > 0;
CREATE INDEX IF NOT EXISTS threats ON records (time, id) WHERE score > 0;
CREATE INDEX IF NOT EXISTS threats_tenant ON records (tenant, time, id) WHERE score > 0;
`
)

// errUnusable means that the file must be rebuilt.
var errUnusable = errors.New("the index file is of another version")

func (x *Index) openFile(ctx context.Context) error {
	f, err := os.OpenFile(x.path, os.O_RDWR|os.O_CREATE, 0o600) // SQLite would make it readable by all
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	dsn := url.URL{Scheme: "file", Path: x.path,
		RawQuery: "_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&" +
			"_pragma=cache_size(-16384)&_pragma=wal_autocheckpoint(8000)"}
	x.db, err = sql.Open("sqlite", dsn.String())
	if err != nil {
		return err
	}
	x.db.SetMaxOpenConns(4)
	if err := migrate(ctx, x.db, x.feed.place()); err != nil {
		return errors.Join(err, x.db.Close())
	}
	return nil
}

func migrate(ctx context.Context, db *sql.DB, place string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnusable, err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	var have int
	if err := tx.QueryRow("PRAGMA user_version").Scan(&have); err != nil {
		return fmt.Errorf("%w: %w", errUnusable, err)
	}
	switch have {
	case version:
		var of string
		if err := tx.QueryRow("SELECT place FROM source").Scan(&of); err != nil || of != place {
			return fmt.Errorf("%w: it belongs to the records in %q (%v)", errUnusable, of, err)
		}
		return nil
	case 0:
	default:
		return fmt.Errorf("%w: it has version %d", errUnusable, have)
	}
	if _, err := tx.Exec(schema + fmt.Sprintf("PRAGMA user_version = %d", version)); err != nil {
		return fmt.Errorf("%w: %w", errUnusable, err)
	}
	if _, err := tx.Exec("INSERT INTO source (place) VALUES (?)", place); err != nil {
		return fmt.Errorf("%w: %w", errUnusable, err)
	}
	return tx.Commit()
}

func remove(path string) error {
	var all error
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			all = errors.Join(all, err)
		}
	}
	return all
}
