package filerecords

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/airlock-run/airlock/policy/audit"
)

// Days returns the UTC days (2006-01-02) with records, oldest first.
func (s *Store) Days(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.life.RLock()
	defer s.life.RUnlock()
	if s.root < 0 {
		return nil, ErrClosed
	}
	return s.listDays()
}

// Lines calls fn with the stored lines of a day in the order of writing, from offset on, and with the offset after
// each, from which a later call may continue. Lines are only ever appended. The bytes end with \n and are valid until
// fn returns. A day without records has no lines.
func (s *Store) Lines(ctx context.Context, day string, offset int64, fn func(line []byte, next int64) error) error {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.root < 0 {
		return ErrClosed
	}
	if !isDay(day) || offset < 0 {
		return fmt.Errorf("read records: day %.20q, offset %d", day, offset)
	}
	fd, size, err := openFile(s.root, logName(day))
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read records: %w", err)
	}
	defer shut(fd)
	return eachLine(file{fd, logName(day), size}, offset, func(line []byte, next int64) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return fn(line, next)
	})
}

// Each calls fn with the stored line of every record received at since or later, day by day, and with lines that are
// not records.
func (s *Store) Each(ctx context.Context, since time.Time, fn func(line []byte) error) error {
	days, err := s.Days(ctx)
	if err != nil {
		return err
	}
	for _, day := range days {
		if outside(audit.Query{Since: since}, day) {
			continue
		}
		err := s.Lines(ctx, day, 0, func(line []byte, _ int64) error {
			if !since.IsZero() {
				if r, err := audit.Decode(line); err == nil && r.Time.Before(since) {
					return nil
				}
			}
			return fn(line)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
