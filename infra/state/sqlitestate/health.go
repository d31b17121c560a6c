package sqlitestate

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

const (
	// readyFor is how long Ready caches its result, so that frequent probes do not keep the disk busy.
	readyFor = time.Second
	// checkAtOpen and checkAgain bound a check of the whole file. The part that it has not reached by then counts as
	// sound until a statement fails.
	checkAtOpen = 5 * time.Second
	checkAgain  = 500 * time.Millisecond
	// Checks are at least checkEvery apart and take at most one part in checkShare of the time.
	checkEvery = 10 * time.Second
	checkShare = 200
)

// health holds the state of the file.
type health struct {
	broken  *execution.StoreError // the file is damaged, until the process ends
	probed  time.Time             // when it was last written and read back
	checked time.Time             // when the last check of the whole file ended
	took    time.Duration
}

// Ready returns an error if the state cannot be changed now. It writes, reads back what it wrote, and now and then
// lets SQLite check the whole file. Its result may be a second old. The error is an *execution.StoreError.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.broken(); err != nil {
		return err
	}
	if _, err := os.Stat(s.path()); err != nil {
		return &execution.StoreError{Fault: execution.StoreLost, Err: fmt.Errorf("state file: %w", err)}
	}
	if readOnly(s.path()) {
		return &execution.StoreError{Fault: execution.StoreReadOnly, Err: errors.New("state file: its disk is read-only")}
	}
	now := s.cfg.Now()
	s.mu.Lock()
	h := s.health
	s.mu.Unlock()
	if age := now.Sub(h.checked); age < 0 || age >= max(checkEvery, checkShare*h.took) {
		s.check(ctx, cmp.Or(s.cfg.CheckTime, checkAgain))
		if err := s.broken(); err != nil {
			return err
		}
	}
	if age := now.Sub(h.probed); !h.probed.IsZero() && age >= 0 && age < readyFor {
		return nil
	}
	if err := s.probe(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	s.health.probed = now
	s.mu.Unlock()
	return nil
}

// probe writes and reads back what it wrote. Contents that have files need their folder: its disk may not be mounted.
func (d *database) probe(ctx context.Context) error {
	text, back, filed := rand.Text(), "", int64(0)
	if err := d.exec(ctx, "INSERT INTO probe (id, told) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET told = excluded.told",
		text); err != nil {
		return lost(err)
	}
	err := d.read(ctx, func() error {
		return d.db.QueryRowContext(ctx, "SELECT told, (SELECT bytes FROM filed) FROM probe WHERE id = 1").Scan(&back, &filed)
	})
	if err != nil {
		return lost(err)
	}
	if len(back) != len(text) {
		return lost(errors.New("what was written is not there"))
	}
	if _, err := os.Stat(d.contents()); err != nil && filed > 0 {
		return lost(fmt.Errorf("the folder of large contents: %w", err))
	}
	return nil // another process may have written since; its text is just as valid
}

// lost returns every other error as a StoreError too.
func lost(err error) error {
	if known := (*execution.StoreError)(nil); errors.As(err, &known) {
		return err
	}
	return &execution.StoreError{Fault: execution.StoreLost, Err: err}
}

// check lets SQLite check the whole file within a time, on a connection that has read none of it.
func (d *database) check(ctx context.Context, most time.Duration) {
	began := d.now()
	err := d.quickCheck(ctx, most)
	if faultOf(err) == execution.StoreCorrupt {
		_ = d.damaged(err) // it is kept
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.health.checked = d.now()
	d.health.took = max(d.health.checked.Sub(began), 0)
}

func (d *database) quickCheck(ctx context.Context, most time.Duration) (err error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	db, err := sql.Open("sqlite", dataSource(d.path(), 0))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var found string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found); err != nil {
		return err
	}
	if found != "ok" {
		return damage{errors.New(found)}
	}
	return nil
}

// makeShrinkable rewrites a file of an older version, so that it can return pages to the disk. It leaves a file that
// is large or in use, or if there is no room: its free pages are reused anyway.
func (d *database) makeShrinkable(ctx context.Context) {
	const largest = 1 << 30
	info, err := os.Stat(d.path())
	if err != nil || info.Size() > largest {
		return
	}
	conn, err := d.db.Conn(ctx)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }() // it goes back to the others
	var mode int
	if err := conn.QueryRowContext(ctx, "PRAGMA auto_vacuum").Scan(&mode); err != nil || mode != 0 {
		return
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA auto_vacuum = 2"); err == nil {
		_, _ = conn.ExecContext(ctx, "VACUUM") // as above
	}
}
