package s3records

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/airlock-run/airlock/policy/audit"
)

const (
	defaultLimit = 50
	maxLimit     = 500
	// maxReads bounds the records that one List reads; it then returns a short page and a cursor.
	maxReads = 1000
	// maxKeys is the number of keys above which a step back in time is made smaller.
	maxKeys = 2000
	// maxSecond bounds the keys of one second, which are read at once.
	maxSecond = 200_000
)

// List returns records newest first, by their IDs. S3 lists forwards only, so List goes back in time in steps that
// fit the density of records. It reads every record that it considers, at most 1,000: a page may hold fewer than
// asked for, even none, and still have a Next. It does not list spooled records.
func (s *Store) List(ctx context.Context, q audit.Query) (audit.Page, error) {
	if err := s.usable(ctx); err != nil {
		return audit.Page{}, err
	}
	from, err := parseCursor(q.Cursor)
	if err != nil {
		return audit.Page{}, err
	}
	limit := q.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	w := &walk{Store: s, query: q, limit: min(limit, maxLimit), items: []audit.Record{}}
	days, err := s.days(ctx)
	for _, day := range slices.Backward(days) {
		if from.Day != "" && day > from.Day || outside(q, day) {
			continue
		}
		high := ""
		if day == from.Day {
			high = s.dayPrefix(day) + from.Before + suffix
		}
		if err = w.day(ctx, day, high); err != nil {
			break
		}
	}
	if err != nil && !errors.Is(err, errPage) {
		return audit.Page{}, fmt.Errorf("list records: %w", err)
	}
	return audit.Page{Items: w.items, Next: w.next}, nil
}

// A walk is a List in progress.
type walk struct {
	*Store
	query audit.Query
	limit int
	reads int
	items []audit.Record
	bytes int    // of the items
	at    cursor // of the last record looked at
	next  string
}

// day goes back through one day, from before high.
func (w *walk) day(ctx context.Context, day, high string) error {
	start, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return err
	}
	at := start.Add(24 * time.Hour)
	if now := w.cfg.Now(); high == "" && now.Before(at) {
		at = now
	}
	if t, ok := audit.IDTime(idOf(high, w.dayPrefix(day))); ok {
		at = t
	}
	for step := time.Minute; ; {
		low, back := "", at.Add(-step)
		if back.After(start) {
			low = w.keyBefore(day, back)
		}
		keys, whole, err := w.keys(ctx, day, low, high, maxKeys)
		if err != nil {
			return err
		}
		if !whole && step > time.Second {
			step /= 8
			continue
		}
		for !whole { // more than this within a second: read them all
			var more []string
			if more, whole, err = w.keys(ctx, day, keys[len(keys)-1], high, maxKeys); err != nil {
				return err
			}
			if keys = append(keys, more...); len(keys) > maxSecond {
				return fmt.Errorf("more than %d records begin within a second of %s", maxSecond, day)
			}
		}
		slices.Reverse(keys)
		if err := w.take(ctx, day, keys); err != nil {
			return err
		}
		if low == "" {
			return nil
		}
		if len(keys) < w.limit {
			step *= 4
		}
		high, at = low, back
	}
}

// take adds the records under keys that the query selects, and stops with errPage if there is one too many.
func (w *walk) take(ctx context.Context, day string, keys []string) error {
	keys = slices.DeleteFunc(keys, func(key string) bool { return idOf(key, w.dayPrefix(day)) == "" })
	return w.lines(ctx, keys, func(key string, line []byte) error {
		if w.reads >= maxReads {
			w.next = w.at.String()
			return errPage
		}
		w.reads++
		r, err := audit.Decode(line)
		if line == nil || err != nil || !w.query.Selects(r) {
			w.at = cursor{day, idOf(key, w.dayPrefix(day))}
			return nil
		}
		w.bytes += len(line)
		if len(w.items) == w.limit || len(w.items) > 0 && w.bytes > audit.MaxPage {
			w.next = w.at.String()
			return errPage
		}
		w.items = append(w.items, r)
		w.at = cursor{day, idOf(key, w.dayPrefix(day))}
		return nil
	})
}

// A cursor is a position in the walk: what precedes that ID on that day.
type cursor struct {
	Day    string `json:"d"`
	Before string `json:"b"`
}

func (c cursor) String() string {
	doc, _ := json.Marshal(c) // two strings always encode
	return base64.RawURLEncoding.EncodeToString(doc)
}

func parseCursor(text string) (c cursor, err error) {
	if text == "" {
		return c, nil
	}
	doc, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(doc, &c) != nil || !audit.ValidID(c.Before) {
		return c, audit.ErrCursor
	}
	if _, err := time.Parse(time.DateOnly, c.Day); err != nil {
		return c, audit.ErrCursor
	}
	return c, nil
}
