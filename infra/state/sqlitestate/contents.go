package sqlitestate

import (
	"bufio"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/airlock-run/airlock/functions/execution"
)

const (
	contentsFolder = "contents"
	// ofOwn is the size from which a value has a file of its own. SQLite takes ten times the processor time that a file
	// takes: it writes 16 MiB in 50 ms, because it copies them several times and writes each page to its journal first.
	ofOwn = 256 << 10
	// largest bounds what is read of one file. No request and no snapshot comes near it.
	largest = largestValue
	// together is the size up to which parts of a file are written together: a thousand parts of 16 KiB take twice the
	// processor time that parts of a megabyte take, and smaller ones more.
	together = 256 << 10
	// apartFrom is the size from which the request of a job is not in the row of the job, which each change writes again.
	apartFrom = 4 << 10
)

// stepContents keeps large values in files, and the requests of jobs apart from their jobs. A column "file" holds the
// name of a file, and "file_bytes" its size. A change writes the files of its values before it commits. The names of
// files that a change leaves behind are in "unlinked" until they are deleted.
const stepContents = `
CREATE TABLE requests (seq INTEGER PRIMARY KEY, request BLOB NOT NULL, file TEXT NOT NULL DEFAULT '',
	file_bytes INTEGER NOT NULL DEFAULT 0);
ALTER TABLE jobs ADD COLUMN request_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE snapshots ADD COLUMN file TEXT NOT NULL DEFAULT '';
ALTER TABLE snapshots ADD COLUMN file_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE versions ADD COLUMN file TEXT NOT NULL DEFAULT '';
ALTER TABLE versions ADD COLUMN file_bytes INTEGER NOT NULL DEFAULT 0;
CREATE TABLE unlinked (file TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE filed (id INTEGER PRIMARY KEY, bytes INTEGER NOT NULL);
INSERT INTO filed (id, bytes) VALUES (1, 0);
CREATE TRIGGER requests_out AFTER DELETE ON jobs WHEN OLD.request_bytes > 0
	BEGIN DELETE FROM requests WHERE seq = OLD.seq; END;
CREATE TRIGGER requests_end AFTER UPDATE OF ended ON jobs WHEN NEW.ended IS NOT NULL AND OLD.request_bytes > 0
	BEGIN DELETE FROM requests WHERE seq = OLD.seq; END;
`

// stepAsides keeps the long values that a job waits for, and those that answer it, apart from the job.
const stepAsides = `
CREATE TABLE asides (seq INTEGER PRIMARY KEY, aside BLOB NOT NULL, file TEXT NOT NULL DEFAULT '',
	file_bytes INTEGER NOT NULL DEFAULT 0);
ALTER TABLE jobs ADD COLUMN aside_bytes INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER asides_out AFTER DELETE ON jobs WHEN OLD.aside_bytes > 0
	BEGIN DELETE FROM asides WHERE seq = OLD.seq; END;
`

// stepEventFiles keeps large events in files.
const stepEventFiles = `
ALTER TABLE events ADD COLUMN file TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN file_bytes INTEGER NOT NULL DEFAULT 0;
`

// filedTables returns the tables whose rows may have files.
func filedTables() []string { return []string{"requests", "snapshots", "versions", "asides", "events"} }

// fileTriggers returns triggers that count the bytes of all files of some tables, and note which are left behind.
func fileTriggers(tables ...string) (all string) {
	const count = " UPDATE filed SET bytes = bytes %c %s.file_bytes WHERE id = 1;"
	const leave = " INSERT OR IGNORE INTO unlinked (file) VALUES (OLD.file);"
	for _, table := range tables {
		trigger := func(event, when, body string) {
			all += fmt.Sprintf("CREATE TRIGGER filed_%s_%.2s AFTER %s ON %s WHEN %s BEGIN%s END;\n", table, event, event,
				table, when, body)
		}
		less, more := fmt.Sprintf(count, '-', "OLD"), fmt.Sprintf(count, '+', "NEW")
		all += fmt.Sprintf("CREATE INDEX %s_file ON %[1]s (file) WHERE file <> '';\n", table)
		trigger("INSERT", "NEW.file <> ''", more)
		trigger("DELETE", "OLD.file <> ''", less+leave)
		trigger("UPDATE", "OLD.file <> NEW.file", less+more+
			" INSERT OR IGNORE INTO unlinked (file) SELECT OLD.file WHERE OLD.file <> '';")
	}
	return all
}

// A kept is a value as a row holds it: its bytes, or the name and the size of its file.
type kept struct {
	value []byte
	file  string
	bytes int
}

// A filing writes the files of one change.
type filing struct {
	dir   string
	files []string
}

// keep returns a value for its row. It writes a file for a large one, and flushes it to the disk.
func (f *filing) keep(parts execution.Stored) (kept, error) {
	n := parts.Len()
	if n < ofOwn {
		return kept{value: orEmpty(parts.Bytes())}, nil
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return kept{}, fileFault(err)
	}
	name := rand.Text()
	f.files = append(f.files, name)
	if err := writeFile(filepath.Join(f.dir, name), parts); err != nil {
		return kept{}, fileFault(err)
	}
	return kept{value: []byte{}, file: name, bytes: n}, nil
}

func writeFile(path string, parts execution.Stored) (err error) {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	w := bufio.NewWriterSize(out, together) // it does not copy longer parts
	for _, part := range parts {
		_, _ = w.Write(part) // Flush returns the error
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := out.Sync(); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder flushes the entries of a folder to the disk, where the system can.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, fs.ErrPermission) {
		err = nil // not every file system flushes folders
	}
	return errors.Join(err, f.Close())
}

// filed runs fn in one transaction, with the files that fn needs. If that fails, it deletes the files. A failed commit
// may have reached the disk, so a file that a row names stays.
func (d *database) filed(ctx context.Context, fn func(*sql.Tx, *filing) error) error {
	f := &filing{dir: d.contents()}
	err := d.change(ctx, func(tx *sql.Tx) error { return fn(tx, f) })
	if err != nil && len(f.files) > 0 {
		ctx = context.WithoutCancel(ctx)
		// what remains after an error is deleted when the state is opened next
		_ = d.change(ctx, func(tx *sql.Tx) error { return removeUnnamed(ctx, tx, f.dir, f.files) })
	}
	return err
}

func (d *database) contents() string { return filepath.Join(d.dir, contentsFolder) }

// load returns the bytes of a value.
func (d *database) load(k kept) ([]byte, error) {
	if k.file == "" {
		return k.value, nil
	}
	path := filepath.Join(d.contents(), filepath.Base(k.file))
	info, err := os.Lstat(path) // opening a pipe may wait forever
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fileFault(fmt.Errorf("%w: %w", execution.ErrContentLost, err))
	}
	if err != nil {
		return nil, fileFault(err)
	}
	if !info.Mode().IsRegular() || info.Size() != int64(k.bytes) || k.bytes > largest {
		return nil, fileFault(fmt.Errorf("%w: file %s of the folder %s is not the one that was stored",
			execution.ErrContentLost, k.file, contentsFolder))
	}
	b, err := os.ReadFile(path)
	if err == nil && len(b) != k.bytes {
		err = io.ErrUnexpectedEOF
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.EIO) {
		err = fmt.Errorf("%w: %w", execution.ErrContentLost, err)
	}
	if err != nil {
		return nil, fileFault(fmt.Errorf("file %s of the folder %s: %w", k.file, contentsFolder, err))
	}
	return b, nil
}

// fileFault returns an error of a file as a StoreError.
func fileFault(err error) error {
	fault := execution.StoreLost
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		fault = execution.StoreFull
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		fault = execution.StoreReadOnly
	}
	return &execution.StoreError{Fault: fault, Err: err}
}

// loading repeats fn while a file that it reads is deleted together with its row.
func loading(fn func() error) (err error) {
	for range 3 {
		if err = fn(); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

// unlink deletes the files that changes left behind.
func (d *database) unlink(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	for {
		files, err := d.strings(ctx, "SELECT file FROM unlinked LIMIT 100")
		if err != nil || len(files) == 0 {
			return err
		}
		for _, file := range files {
			err := os.Remove(filepath.Join(d.contents(), filepath.Base(file)))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fileFault(err)
			}
		}
		err = d.change(ctx, func(tx *sql.Tx) error {
			for _, file := range files {
				if _, err := tx.ExecContext(ctx, "DELETE FROM unlinked WHERE file = ?", file); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}

// unlinkStrays deletes the files that no row names: those of a change whose process died before it committed. Files are
// written inside of transactions, so no other process is writing one meanwhile.
func (d *database) unlinkStrays(ctx context.Context) error {
	if entries, err := os.ReadDir(d.contents()); err != nil || len(entries) == 0 {
		return nil // a folder that cannot be read shows when a value is read
	}
	return d.change(ctx, func(tx *sql.Tx) error {
		entries, err := os.ReadDir(d.contents())
		if err != nil {
			return fileFault(err)
		}
		names := make([]string, len(entries))
		for i, e := range entries {
			names[i] = e.Name()
		}
		return removeUnnamed(ctx, tx, d.contents(), names)
	})
}

// removeUnnamed deletes those files of a folder that no row names.
func removeUnnamed(ctx context.Context, tx *sql.Tx, dir string, names []string) error {
	for _, name := range names {
		named := false
		for _, table := range filedTables() {
			var in bool
			query := "SELECT EXISTS (SELECT 1 FROM " + table + " WHERE file <> '' AND file = ?)"
			if err := tx.QueryRowContext(ctx, query, name).Scan(&in); err != nil {
				return err
			}
			named = named || in
		}
		if !named {
			_ = os.Remove(filepath.Join(dir, name)) // the next start tries again
		}
	}
	return nil
}
