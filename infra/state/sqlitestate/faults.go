package sqlitestate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/airlock-run/airlock/functions/execution"
)

// patience bounds the wait for a lock of another process. A caller gets its answer within a second.
const patience = 700 * time.Millisecond

// errStuck is the error of callers behind a writer that could not get the lock.
var errStuck = errors.New("another process holds the lock of the file")

// damage is the error of content that cannot have been written.
type damage struct{ error }

// Unwrap returns the cause.
func (d damage) Unwrap() error { return d.error }

// begin begins a writing transaction. Writers of this process take turns, so that only one of them waits for other
// processes; if that one gives up, so do those behind it. release must be called.
func (d *database) begin(ctx context.Context) (tx *sql.Tx, release func(), err error) {
	d.mu.Lock()
	stuck := d.stuck
	d.mu.Unlock()
	select {
	case d.turn <- struct{}{}:
	case <-stuck:
		return nil, nil, errStuck
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	release = func() { <-d.turn }
	err = wait(ctx, func() (err error) {
		tx, err = d.db.BeginTx(ctx, nil)
		return err
	})
	if err != nil {
		if faultOf(err) == execution.StoreBusy {
			d.mu.Lock()
			close(d.stuck)
			d.stuck = make(chan struct{})
			d.mu.Unlock()
		}
		release()
		return nil, nil, err
	}
	return tx, release, nil
}

// wait repeats fn while another process holds a lock. SQLite's own wait grows to 100 ms between attempts: beside a
// process that writes continuously, it hardly ever gets the lock.
func wait(ctx context.Context, fn func() error) error {
	giveUp := time.NewTimer(patience)
	defer giveUp.Stop()
	for {
		err := fn()
		if err == nil || faultOf(err) != execution.StoreBusy {
			return err
		}
		pause := time.NewTimer(time.Millisecond + rand.N(4*time.Millisecond))
		select {
		case <-pause.C:
		case <-giveUp.C:
			pause.Stop()
			return err
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		}
	}
}

// judge returns an error of SQLite as a StoreError, and remembers damage until the process ends.
func (d *database) judge(err error) error {
	if err == nil {
		return nil
	}
	fault := faultOf(err)
	switch {
	case fault == "":
		return err
	case fault == execution.StoreCorrupt:
		return d.damaged(err)
	case fault == execution.StoreLost && noRoom(d.dir):
		fault = execution.StoreFull
	case fault == execution.StoreLost && readOnly(d.path()):
		fault = execution.StoreReadOnly
	}
	return &execution.StoreError{Fault: fault, Err: err}
}

func (d *database) path() string { return filepath.Join(d.dir, fileName) }

// faultOf returns the fault behind an error of SQLite, or "".
func faultOf(err error) execution.StoreFault {
	var d damage
	var own *sqlite.Error
	switch {
	case errors.As(err, &d):
		return execution.StoreCorrupt
	case errors.Is(err, errStuck):
		return execution.StoreBusy
	case !errors.As(err, &own):
		return ""
	}
	switch own.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return execution.StoreFull
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return execution.StoreBusy
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT:
		return execution.StoreCorrupt
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return execution.StoreReadOnly
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM:
		return execution.StoreLost
	}
	return ""
}

// notDatabase reports whether a file is not a database.
func notDatabase(err error) bool {
	var own *sqlite.Error
	return errors.As(err, &own) && own.Code()&0xff == sqlite3.SQLITE_NOTADB
}

// broken returns the fault of a file that is damaged.
func (d *database) broken() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.health.broken == nil {
		return nil
	}
	return d.health.broken
}

// damaged remembers that the file is damaged until the process ends, because writing to it could make that worse.
func (d *database) damaged(err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.health.broken == nil {
		d.health.broken = &execution.StoreError{Fault: execution.StoreCorrupt, Err: err}
	}
	return d.health.broken
}

// unreadable returns the damage of a document that does not parse.
func unreadable(what string, err error) error { return damage{fmt.Errorf("read %s: %w", what, err)} }
