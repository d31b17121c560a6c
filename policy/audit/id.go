package audit

import (
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// idPrefix precedes the ULID in the id of an execution.
const idPrefix = "exec_"

// maxIDBytes bounds an id, because it becomes a file name and an object key.
const maxIDBytes = 128

// ValidID reports whether id can name a record: 1 to 128 letters, digits, "-" and "_". Such an id cannot leave its
// folder.
func ValidID(id string) bool {
	if id == "" || len(id) > maxIDBytes {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// IDTime returns the time in an id of the form exec_ + ULID, in UTC, and whether the id has that form.
func IDTime(id string) (time.Time, bool) {
	if len(id) != len(idPrefix)+ulid.EncodedSize || id[:len(idPrefix)] != idPrefix || hashed(id[len(idPrefix):]) {
		return time.Time{}, false
	}
	u, err := ulid.ParseStrict(id[len(idPrefix):])
	if err != nil {
		return time.Time{}, false
	}
	return ulid.Time(u.Time()).UTC(), true
}

// hashed reports whether the text of an id is the hash that earlier releases named scheduled runs by: 26
// lower-case hexadecimal digits. It parses as a ULID and has no time in it. ULIDs are written in upper case.
func hashed(text string) bool {
	return strings.Trim(text, "0123456789abcdef") == "" && strings.ContainsAny(text, "abcdef")
}

// Day returns the UTC day (2006-01-02) that a record is filed under. It is the day in the id, so that an id always has
// the same place and a second record of that id is detected. Only an id without a time is filed by received.
func Day(id string, received time.Time) string {
	if t, ok := IDTime(id); ok {
		received = t
	}
	return received.UTC().Format(time.DateOnly)
}

// A Move is a record that was filed under another day.
type Move struct {
	ID   string `json:"id"`
	From string `json:"from"` // the day that it was filed under
	To   string `json:"to"`
}

// idMargin is how far the time in an id may be from the time of its record. Lists look for a record of some time one
// day further in both directions.
const idMargin = 24 * time.Hour

// misfiled returns what is wrong with the place of a record that is filed under a day; "" means nothing.
func misfiled(s Sealed, day string) string {
	if s.Day != day {
		return "it is filed under " + day + " and belongs to " + s.Day + "; airlock audit repair --days moves it"
	}
	if at, ok := IDTime(s.ID); ok && at.Sub(s.Time).Abs() > idMargin {
		return "its id and its day are of " + day + ", and its time is " + s.Time.UTC().Format(time.RFC3339)
	}
	return ""
}
