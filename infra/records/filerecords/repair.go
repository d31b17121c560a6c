package filerecords

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/airlock-run/airlock/policy/audit"
)

// ErrInUse is the error of RepairDays while other processes write to the folder.
var ErrInUse = errors.New("other processes have the records open; stop them first")

// A stray is a record that is filed under a day that is not its own.
type stray struct {
	audit.Sealed
	at int64 // where its line goes in the file of its own day; negative means that it is there
}

// RepairDays files records that are filed under the wrong day under their own. A line gets the place in its day's file
// that keeps the chain of its writer in order, so the folder verifies afterwards; the ledger names the moved records.
// After an interruption it can be called again. No other process may have the folder open for writing.
func (s *Store) RepairDays(ctx context.Context) ([]audit.Move, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, ErrClosed
	case s.reader:
		return nil, errReader
	}
	moved, err := repair{s}.repairDays(ctx)
	if err != nil {
		return moved, fmt.Errorf("repair days of records: %w", err)
	}
	return moved, nil
}

// A repair is a RepairDays in progress.
type repair struct{ *Store }

func (s repair) repairDays(ctx context.Context) (moved []audit.Move, err error) {
	if err := s.recover(); err != nil {
		return nil, err
	}
	names, err := list(s.wrs, ".")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, headSuffix) && name != s.writer+headSuffix {
			return nil, fmt.Errorf("%w (writers/%s)", ErrInUse, name)
		}
	}
	days, err := s.listDays()
	if err != nil {
		return nil, err
	}
	for _, day := range days {
		if err := ctx.Err(); err != nil {
			return moved, err
		}
		strays, err := s.strays(day)
		if err == nil && len(strays) > 0 {
			err = s.refile(day, strays)
		}
		if err != nil {
			return moved, fmt.Errorf("%s: %w", day, err)
		}
		for _, r := range strays {
			moved = append(moved, audit.Move{ID: r.ID, From: day, To: r.Day})
		}
	}
	return moved, nil
}

// strays returns the sound records of a day's file that belong to other days.
func (s repair) strays(day string) (strays []*stray, err error) {
	fd, size, err := openFile(s.root, logName(day))
	if err != nil {
		return nil, err
	}
	defer shut(fd)
	err = eachLine(file{fd, logName(day), size}, 0, func(line []byte, _ int64) error {
		if r, err := audit.Unseal(line, s.cfg.Key); err == nil && r.Day != day && audit.ValidID(r.ID) {
			r.Line = bytes.Clone(line)
			strays = append(strays, &stray{Sealed: r})
		}
		return nil
	})
	return strays, err
}

// refile moves records from a day to their own. Their lines are in both files for a while, and never in none.
func (s repair) refile(from string, strays []*stray) error {
	byDay, entries := map[string][]*stray{}, []entry{}
	for _, r := range strays {
		byDay[r.Day] = append(byDay[r.Day], r)
		entries = append(entries, entry{Kind: kindMoved, Writer: r.Chain.Writer, Seq: r.Chain.Seq, Hash: r.Chain.Hash,
			ID: r.ID, Day: from})
	}
	if err := s.enter(entries...); err != nil {
		return err
	}
	for _, to := range slices.Sorted(maps.Keys(byDay)) {
		if err := s.insert(to, byDay[to]); err != nil {
			return err
		}
		for _, r := range byDay[to] {
			if err := s.moveObject(r.ID, from, to); err != nil {
				return err
			}
		}
		d, err := s.day(to)
		if err == nil {
			err = s.disk.sync(d.objs, dayPrefix+to)
		}
		if err != nil {
			return err
		}
	}
	gone := map[string]bool{}
	for _, r := range strays {
		gone[r.Chain.Hash] = true
	}
	return s.drop(from, gone)
}

// insert adds lines to a day's file, each where its writer's chain and its time put it.
func (s repair) insert(day string, strays []*stray) error {
	if _, err := s.day(day); err != nil { // makes the folder and the file
		return err
	}
	s.forget(day)
	for _, r := range strays {
		r.at = 1<<63 - 1
	}
	offset := int64(0)
	err := s.rewrite(day, func(line []byte, next int64) error {
		here, err := audit.Unseal(line, nil)
		for _, r := range strays {
			same := here.Chain.Writer == r.Chain.Writer
			switch {
			case err != nil || r.at < 0:
			case here.Chain.Hash == r.Chain.Hash:
				r.at = -1
			case same && here.Chain.Seq < r.Chain.Seq:
				r.at = 1<<63 - 1 // anything before this line would be too early
			case r.at > offset && (same || here.Time.After(r.Time)):
				r.at = min(r.at, offset)
			}
		}
		offset = next
		return nil
	}, func(out io.Writer, line []byte, offset int64) error {
		for _, r := range strays { // in the order of their chains
			if r.at < 0 || r.at > offset && line != nil {
				continue
			}
			r.at = -1
			if _, err := out.Write(r.Line); err != nil {
				return err
			}
		}
		_, err := out.Write(line)
		return err
	})
	return err
}

// moveObject moves an object to another day, unless it is there. An object that is gone stays for Verify to report.
func (s repair) moveObject(id, from, to string) error {
	source, target := dayPrefix+from+"/"+objectName(id), dayPrefix+to+"/"+objectName(id)
	err := s.disk.renameNew(s.objs, source, s.objs, target)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if !errors.Is(err, unix.EEXIST) {
		return err
	}
	moving, failed := readFile(s.objs, source)
	there, alsoFailed := readFile(s.objs, target)
	if failed = errors.Join(failed, alsoFailed); failed != nil {
		return failed
	}
	if !bytes.Equal(moving, there) {
		return err // another record has the ID
	}
	return s.disk.unlink(s.objs, source)
}

// drop removes lines from a day's file, by their hashes, and the day if nothing is left of it.
func (s repair) drop(day string, gone map[string]bool) error {
	s.forget(day)
	left := 0
	err := s.rewrite(day, func([]byte, int64) error { return nil }, func(out io.Writer, line []byte, _ int64) error {
		if r, err := audit.Unseal(line, nil); line == nil || err == nil && gone[r.Chain.Hash] {
			return nil
		}
		left++
		_, err := out.Write(line)
		return err
	})
	if err != nil || left > 0 {
		return err
	}
	err = s.disk.rmdir(s.objs, dayPrefix+day)
	if err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENOTEMPTY) {
		return err
	}
	return s.disk.unlink(s.root, logName(day))
}

// rewrite replaces a day's file atomically. look sees every line with the offset after it; then write copies every
// line, with the offset at which it begins, and at the end nil.
func (s repair) rewrite(day string, look func(line []byte, next int64) error,
	write func(out io.Writer, line []byte, offset int64) error) error {
	name, draft := logName(day), "."+logName(day)+freshSuffix
	log, err := s.openAppend(s.root, name)
	if err != nil {
		return err
	}
	defer log.shut()
	st, err := stat(log.fd, name)
	if err != nil {
		return err
	}
	if _, err := s.mend(&log, st.Size); err != nil {
		return err
	}
	all := file{log.fd, name, log.end}
	if err := eachLine(all, 0, look); err != nil {
		return err
	}
	fd, err := s.disk.create(s.root, draft, unix.O_WRONLY|unix.O_TRUNC)
	if err != nil {
		return err
	}
	defer shut(fd)
	out, offset := bufio.NewWriterSize(writing{s.disk, fd, draft}, 256<<10), int64(0)
	err = eachLine(all, 0, func(line []byte, next int64) error {
		err := write(out, line, offset)
		offset = next
		return err
	})
	if err == nil {
		err = write(out, nil, offset)
	}
	if err = errors.Join(err, out.Flush()); err == nil {
		err = s.disk.sync(fd, draft)
	}
	if err == nil {
		err = s.disk.rename(s.root, draft, name)
	}
	if err != nil {
		return err
	}
	return s.disk.sync(s.root, ".")
}

// writing appends to a file.
type writing struct {
	disk disk
	fd   int
	name string
}

// Write implements io.Writer.
func (w writing) Write(b []byte) (int, error) {
	if err := w.disk.write(w.fd, w.name, b, -1); err != nil {
		return 0, err
	}
	return len(b), nil
}
