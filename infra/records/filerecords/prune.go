package filerecords

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/airlock-run/airlock/policy/audit"
)

// Retention limits what is kept. A zero field sets no limit.
type Retention struct {
	// MaxAge is how long a record is kept at least; it is removed with the last record of its day.
	MaxAge time.Duration
	// MaxBytes bounds both layouts together. Whole days are removed, oldest first.
	MaxBytes int64
}

// Pruned lists what retention removed.
type Pruned struct {
	Days    []string `json:"days"`
	Records int64    `json:"records"`
	Bytes   int64    `json:"bytes"`
}

// Prune removes whole days, oldest first, and records in the ledger which part of which chain they held, so that
// Verify does not report them. Today and yesterday always stay, because they may still be written to. After an
// interruption it can be called again; several callers at once process each day once.
func (s *Store) Prune(ctx context.Context, keep Retention) (Pruned, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var done Pruned
	switch {
	case s.closed:
		return done, ErrClosed
	case s.reader:
		return done, errReader
	}
	if err := s.recover(); err != nil {
		return done, fmt.Errorf("prune records: %w", err)
	}
	days, err := s.allDays()
	if err != nil {
		return done, fmt.Errorf("prune records: %w", err)
	}
	sizes, total := map[string]int64{}, int64(0)
	for _, day := range days {
		var st unix.Stat_t
		if err := unix.Fstatat(s.root, logName(day), &st, 0); err != nil && !errors.Is(err, unix.ENOENT) {
			return done, fmt.Errorf("prune records: %w", err)
		}
		sizes[day] = 2 * st.Size // the objects hold the same bytes
		total += sizes[day]
	}
	now := s.cfg.Now().UTC()
	yesterday := now.AddDate(0, 0, -1).Format(time.DateOnly)
	for _, day := range days {
		start, err := time.Parse(time.DateOnly, day)
		if err != nil || day >= yesterday {
			break
		}
		old := keep.MaxAge > 0 && !start.AddDate(0, 0, 1).Add(keep.MaxAge).After(now)
		if !old && (keep.MaxBytes <= 0 || total <= keep.MaxBytes) {
			break
		}
		if err := ctx.Err(); err != nil {
			return done, err
		}
		n, err := pruneDay(s, day)
		if err != nil {
			return done, fmt.Errorf("prune records of %s: %w", day, err)
		}
		total -= sizes[day]
		done.Days, done.Records, done.Bytes = append(done.Days, day), done.Records+n, done.Bytes+sizes[day]
	}
	return done, nil
}

// pruneDay writes the ledger first and removes the lines last: after an interruption the day is still listed, and the
// next Prune continues.
func pruneDay(s *Store, day string) (records int64, err error) {
	s.forget(day)
	name := logName(day)
	log, err := s.openAppend(s.root, name)
	if err != nil {
		return 0, err
	}
	defer log.shut()
	if err := s.disk.lock(log.fd, name, unix.LOCK_EX); err != nil {
		return 0, err
	}
	defer unlock(log.fd)
	st, err := stat(log.fd, name)
	if err != nil || st.Nlink == 0 {
		return 0, err
	}
	runs := map[string][]entry{}
	err = eachLine(file{log.fd, name, st.Size}, 0, func(line []byte, _ int64) error {
		r, err := audit.Unseal(line, s.cfg.Key)
		if err != nil {
			return fmt.Errorf("%w: it stays until somebody has looked at it (airlock audit verify)", err)
		}
		records++
		w := r.Chain.Writer
		if n := len(runs[w]); n > 0 && runs[w][n-1].Seq == r.Chain.Seq-1 {
			runs[w][n-1].Seq, runs[w][n-1].Hash = r.Chain.Seq, r.Chain.Hash
			return nil
		}
		runs[w] = append(runs[w], entry{Kind: kindPruned, Writer: w, From: r.Chain.Seq, Seq: r.Chain.Seq, Hash: r.Chain.Hash,
			Day: day})
		return nil
	})
	if err != nil {
		return 0, err
	}
	var entries []entry
	for _, w := range slices.Sorted(maps.Keys(runs)) {
		entries = append(entries, runs[w]...)
	}
	if len(entries) > 0 {
		if err := s.enter(entries...); err != nil {
			return 0, err
		}
	}
	err = removeFolder(s, dayPrefix+day)
	for errors.Is(err, unix.ENOTEMPTY) { // another writer may have stored a late record meanwhile
		err = removeFolder(s, dayPrefix+day)
	}
	if err != nil {
		return 0, err
	}
	return records, s.disk.unlink(s.root, name)
}

// removeFolder removes a folder of objects and what is in it. It need not exist.
func removeFolder(s *Store, folder string) error {
	names, err := list(s.objs, folder)
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	for _, name := range names {
		if err := s.disk.unlink(s.objs, folder+"/"+name); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	if err := s.disk.rmdir(s.objs, folder); err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	return nil
}
