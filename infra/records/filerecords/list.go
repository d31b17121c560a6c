package filerecords

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/airlock-run/airlock/policy/audit"
)

const (
	defaultLimit = 50
	maxLimit     = 500
	// maxScan bounds what one List reads; it then returns a short page and a cursor.
	maxScan = 256 << 20
	// matchCost is what a byte of a record that matches counts of maxScan: one List keeps no more than audit.MaxPage of
	// what it reads.
	matchCost = maxScan / audit.MaxPage
)

// List returns records newest first, by the time they were received. It reads the days' files backwards, without an
// index. A page may hold fewer records than asked for, even none, and still have a Next if few match a filter;
// records that arrive meanwhile shift nothing. It skips lines that are not records: Verify names them.
func (s *Store) List(ctx context.Context, q audit.Query) (audit.Page, error) {
	c, err := parseCursor(q.Cursor)
	if err != nil {
		return audit.Page{}, err
	}
	limit := q.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	s.life.RLock()
	defer s.life.RUnlock()
	if s.root < 0 {
		return audit.Page{}, ErrClosed
	}
	days, err := s.listDays()
	if err != nil {
		return audit.Page{}, err
	}
	w := walk{ctx: ctx, query: q, limit: min(limit, maxLimit), budget: maxScan, room: audit.MaxPage,
		items: []audit.Record{}}
	for _, day := range slices.Backward(days) {
		switch {
		case c.Day != "" && day > c.Day:
			continue
		case outside(q, day):
			continue
		}
		at := cursor{Day: day, Low: -1}
		if day == c.Day {
			at = c
		}
		next, err := s.listDay(&w, at)
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil {
			return audit.Page{}, fmt.Errorf("list records: %w", err)
		}
		if next != nil {
			return audit.Page{Items: w.items, Next: next.String()}, nil
		}
	}
	return audit.Page{Items: w.items}, nil
}

// outside reports that no record of the day can have a time that the query wants. The day in an id and the time of its
// record may differ by a few seconds around midnight, hence a day of grace.
func outside(q audit.Query, day string) bool {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return true
	}
	return !q.Until.IsZero() && t.Add(-24*time.Hour).After(q.Until) ||
		!q.Since.IsZero() && t.Add(48*time.Hour).Before(q.Since)
}

// listDay continues a walk in one day. It returns where to continue, or nil after the last record of the day.
func (t *tree) listDay(w *walk, from cursor) (*cursor, error) {
	fd, size, err := openFile(t.root, logName(from.Day))
	if err != nil {
		return nil, err
	}
	defer shut(fd)
	f := file{fd, logName(from.Day), size}
	low := size
	if from.Low >= 0 {
		low = from.Low
	}
	lines, err := newBackward(f, low)
	if err != nil {
		return nil, err
	}
	held := window{}
	for _, offset := range from.Held {
		line, err := lineAt(f, offset)
		if err != nil {
			return nil, err
		}
		if r, ok := w.match(line); ok {
			held.add(row{r, offset, len(line)})
		}
	}
	pause := func() *cursor { return &cursor{Day: from.Day, Low: lines.pos(), Held: held.offsets()} }
	for {
		if err := w.ctx.Err(); err != nil {
			return nil, err
		}
		for held.ready() {
			if !w.take(&held) {
				return pause(), nil
			}
		}
		if w.budget < 0 {
			return pause(), nil
		}
		line, offset, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		w.budget -= len(line)
		if r, ok := w.match(line); ok {
			w.budget -= (matchCost - 1) * len(line)
			held.add(row{r, offset, len(line)})
		}
	}
	for len(held.rows) > 0 {
		if !w.take(&held) {
			return pause(), nil
		}
	}
	return nil, nil
}

// lineAt reads the line that begins at offset. An offset at which none begins was not given out by this store.
func lineAt(f file, offset int64) ([]byte, error) {
	start := max(offset-1, 0)
	var line []byte
	errDone := errors.New("done")
	first := true
	err := eachLine(f, start, func(b []byte, _ int64) error {
		if offset > 0 && first {
			first = false
			if len(b) == 1 {
				return nil
			}
			return audit.ErrCursor
		}
		line = bytes.Clone(b)
		return errDone
	})
	if errors.Is(err, errDone) {
		return line, nil
	}
	if err == nil {
		err = audit.ErrCursor
	}
	return nil, err
}

// walk is one List on its way.
type walk struct {
	ctx    context.Context
	query  audit.Query
	limit  int
	budget int // of what it reads
	room   int // of what it returns
	items  []audit.Record
}

// take moves the newest record of a window to the page. It reports whether the page had room for it.
func (w *walk) take(from *window) bool {
	next := from.newest()
	if len(w.items) == w.limit || len(w.items) > 0 && next.size > w.room {
		return false
	}
	w.room -= next.size
	w.items = append(w.items, next.record)
	from.drop()
	return true
}

// match decodes a line when the query wants it.
func (w *walk) match(line []byte) (audit.Record, bool) {
	q := w.query
	for _, value := range []string{q.Status, q.Policy, q.Tenant, q.Function} {
		if !mentions(line, value) {
			return audit.Record{}, false
		}
	}
	r, err := audit.Decode(line)
	if err != nil {
		return audit.Record{}, false
	}
	return r, q.Selects(r)
}

// mentions reports whether a value occurs in a line as a JSON string, which is cheaper than decoding the line.
func mentions(line []byte, value string) bool {
	if value == "" {
		return true
	}
	quoted, err := json.Marshal(value)
	if err != nil {
		return false
	}
	if bytes.Contains(line, quoted) { // as older versions wrote it, or without <, > and &
		return true
	}
	plain, err := audit.Encode(value)
	return err == nil && !bytes.Equal(plain, quoted) && bytes.Contains(line, plain)
}
