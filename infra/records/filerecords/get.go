package filerecords

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/airlock-run/airlock/policy/audit"
)

// Get returns the record with an ID; audit.ErrNotFound means that there is none, audit.ErrAltered that it was
// changed. An ID with its time in it costs one file, any other a look into every day.
func (s *Store) Get(ctx context.Context, id string) (audit.Record, error) {
	if err := ctx.Err(); err != nil {
		return audit.Record{}, err
	}
	line, err := s.Line(id)
	if err != nil {
		return audit.Record{}, err
	}
	r, err := audit.Open(line, s.cfg.Key)
	if err != nil {
		return audit.Record{}, fmt.Errorf("record %s: %w", id, err)
	}
	return r, nil
}

// Line returns the stored bytes of a record without checking them.
func (s *Store) Line(id string) ([]byte, error) {
	if !audit.ValidID(id) {
		return nil, audit.ErrNotFound
	}
	s.life.RLock()
	defer s.life.RUnlock()
	if s.root < 0 {
		return nil, ErrClosed
	}
	var days []string
	if t, ok := audit.IDTime(id); ok {
		days = append(days, audit.Day(id, t))
	} else {
		var err error
		if days, err = s.listDays(); err != nil {
			return nil, err
		}
		slices.Reverse(days)
	}
	for _, day := range days {
		line, err := readFile(s.root, objectsDir+"/"+dayPrefix+day+"/"+objectName(id))
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read record %s: %w", id, err)
		}
		return line, nil
	}
	return nil, audit.ErrNotFound
}

// listDays returns the days with a file of lines, oldest first.
func (t *tree) listDays() ([]string, error) {
	names, err := list(t.root, ".")
	if err != nil {
		return nil, fmt.Errorf("list records: %w", err)
	}
	var days []string
	for _, name := range names {
		if day := logDay(name); day != "" {
			days = append(days, day)
		}
	}
	slices.Sort(days)
	return days, nil
}
