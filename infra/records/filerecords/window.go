package filerecords

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/airlock-run/airlock/policy/audit"
)

// maxHeld bounds the window, and with it the length of a cursor.
const maxHeld = 64

// A window sorts records by their times. The file has them in the order in which they ended, so a record may be
// returned once an earlier line is known to have ended before it began: no other can be newer.
type window struct {
	rows  []row     // oldest first
	ended time.Time // when the record read last ended
}

type row struct {
	record audit.Record
	offset int64 // of its line
	size   int
}

func (w *window) add(r row) {
	w.ended = ended(r.record)
	at, _ := slices.BinarySearchFunc(w.rows, r, func(a, b row) int {
		return cmp.Or(a.record.Time.Compare(b.record.Time), strings.Compare(a.record.ID, b.record.ID))
	})
	w.rows = slices.Insert(w.rows, at, r)
}

func (w *window) ready() bool {
	n := len(w.rows)
	return n > maxHeld || n > 1 && !w.rows[n-1].record.Time.Before(w.ended)
}

// newest returns the newest record, which drop removes.
func (w *window) newest() row { return w.rows[len(w.rows)-1] }

func (w *window) drop() { w.rows = slices.Delete(w.rows, len(w.rows)-1, len(w.rows)) }

func (w *window) offsets() []int64 {
	var all []int64
	for _, r := range w.rows {
		all = append(all, r.offset)
	}
	return all
}

// ended returns when a record was about to be stored, as well as it is known.
func ended(r audit.Record) time.Time {
	ms := r.DurationMs
	for _, step := range r.Custody {
		ms = max(ms, step.AtMs)
	}
	return r.Time.Add(time.Duration(ms * float64(time.Millisecond)))
}

// A cursor is a position in the walk: the lines of Day before Low are still to come, and of those after it only the
// ones that begin at Held.
type cursor struct {
	Day  string  `json:"d"`
	Low  int64   `json:"l"`
	Held []int64 `json:"h,omitempty"`
}

func (c cursor) String() string {
	// A struct of strings and integers always encodes.
	doc, _ := json.Marshal(c)
	return base64.RawURLEncoding.EncodeToString(doc)
}

func parseCursor(s string) (cursor, error) {
	if s == "" {
		return cursor{}, nil
	}
	var c cursor
	doc, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || json.Unmarshal(doc, &c) != nil || !isDay(c.Day) || c.Low < 0 || len(c.Held) > maxHeld+1 {
		return cursor{}, audit.ErrCursor
	}
	for _, offset := range c.Held {
		if offset < 0 {
			return cursor{}, audit.ErrCursor
		}
	}
	return c, nil
}
