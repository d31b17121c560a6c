package audit

import (
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
	if len(id) != len(idPrefix)+ulid.EncodedSize || id[:len(idPrefix)] != idPrefix {
		return time.Time{}, false
	}
	u, err := ulid.ParseStrict(id[len(idPrefix):])
	if err != nil {
		return time.Time{}, false
	}
	return ulid.Time(u.Time()).UTC(), true
}

// Day returns the UTC day (2006-01-02) that a record is filed under. It is the day in the id, so that an id always has
// the same place and a second record of that id is detected. Only an id without a time is filed by received.
func Day(id string, received time.Time) string {
	if t, ok := IDTime(id); ok {
		received = t
	}
	return received.UTC().Format(time.DateOnly)
}
