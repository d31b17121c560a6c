package audit

import (
	"context"
	"errors"
	"time"
)

// ErrExists is what a store answers when a record with that id is already there. Nothing was changed.
var ErrExists = errors.New("a record with this id exists")

// ErrNotFound is what a store answers when there is no record with that id.
var ErrNotFound = errors.New("no record with this id")

// ErrCursor is what List answers to a cursor that it did not give out.
var ErrCursor = errors.New("the cursor is not one that this store gave out")

// Query selects records, newest first. The zero value selects all.
type Query struct {
	Limit  int    // at most this many; 0 means 50, capped at 500
	Cursor string // opaque, from Page.Next
	Status string
	Policy string
	Tenant string // exact; "" means every tenant
	Since  time.Time
	Until  time.Time
}

// Page is one page of a list. Next is empty on the last one.
type Page struct {
	Items []Record
	Next  string
}

// Appender writes records. A nil error means the record is safe with the store; it has been given its Chain.
type Appender interface {
	Append(ctx context.Context, r Record) error
}

// Store writes and reads records. It is safe for concurrent use.
type Store interface {
	Appender
	Get(ctx context.Context, id string) (Record, error)
	List(ctx context.Context, q Query) (Page, error)
}
