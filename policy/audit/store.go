package audit

import (
	"context"
	"errors"
	"time"
)

// ErrExists is returned if a record with that id exists already. Nothing was changed.
var ErrExists = errors.New("a record with this id exists")

// ErrNotFound is returned if there is no record with that id.
var ErrNotFound = errors.New("no record with this id")

// ErrCursor is returned by List for a cursor that List did not issue.
var ErrCursor = errors.New("the cursor is not one that this store issued")

// A Query selects records, newest first. The zero value selects all.
type Query struct {
	Limit  int    // at most this many; 0 means 50, capped at 500
	Cursor string // opaque, from Page.Next
	Status string
	Policy string
	Tenant string // exact; "" means every tenant
	// Function is the name of the saved function that ran; "" means every execution.
	Function string
	Since    time.Time
	Until    time.Time
}

// Selects reports whether a record fits the query; Limit and Cursor do not matter.
func (q Query) Selects(r Record) bool {
	return (q.Status == "" || r.Status == q.Status) &&
		(q.Policy == "" || r.Policy == q.Policy) &&
		(q.Tenant == "" || r.Caller.Tenant == q.Tenant) &&
		(q.Function == "" || r.Function != nil && r.Function.Name == q.Function) &&
		(q.Since.IsZero() || !r.Time.Before(q.Since)) &&
		(q.Until.IsZero() || r.Time.Before(q.Until))
}

// MaxPage bounds the stored lines of the records of a page in bytes, as records may contain code and requests: reading,
// decoding and writing a megabyte of them takes 13 ms of a processor. A page of one record may be larger.
const MaxPage = 3 << 20

// A Page is one page of a list. Next is empty on the last page.
type Page struct {
	Items []Record
	Next  string
}

// An Appender writes records. A nil error means that the record is durable in the store and that its Chain is set.
type Appender interface {
	Append(ctx context.Context, r Record) error
}

// A Store writes and reads records. It is safe for concurrent use.
type Store interface {
	Appender
	Get(ctx context.Context, id string) (Record, error)
	List(ctx context.Context, q Query) (Page, error)
}
