package transfer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/airlock-run/airlock/functions/execution"
)

// MovedOwner owns the running jobs and open keys of a copy. It is no process, so the gateway that finds them treats
// them as those of a gateway that has died.
const MovedOwner = "moved"

// An Item is one thing that a state holds. Exactly one field is set.
type Item struct {
	Function *Function
	Job      *execution.Job
	Key      *Key
	Event    *Event
	Gone     *Gone
	Document *Document
}

// Kind returns what the item is, in the plural.
func (i Item) Kind() string {
	switch {
	case i.Function != nil:
		return "functions"
	case i.Job != nil:
		return "jobs"
	case i.Key != nil:
		return "keys"
	case i.Event != nil:
		return "events"
	case i.Gone != nil:
		return "receivers"
	}
	return "anchors"
}

// A Function is a saved function with the contents of its versions.
type Function struct {
	Saved    execution.SavedFunction
	Contents map[int]execution.FunctionContent
}

// A Key is a key that is taken, and its answer; nil if there is none yet.
type Key struct {
	Key    execution.Key
	Mark   string
	Until  time.Time
	Answer []byte
}

// An Event is the event of a webhook delivery.
type Event struct {
	Tenant, Function, ID string
	At                   time.Time
	Event                []byte
}

// A Gone is a receiver of callbacks that is gone.
type Gone struct {
	Tenant, URL string
	Until       time.Time
}

// A Document is an anchor.
type Document struct {
	Name string
	Body []byte
}

// A Store can be copied from and to.
type Store interface {
	// Export passes everything to fn, and stops at its first error.
	Export(ctx context.Context, fn func(Item) error) error
	// Import stores an item, or replaces it.
	Import(ctx context.Context, item Item) error
	// Holds reports whether the state holds anything.
	Holds(ctx context.Context) (bool, error)
	// InUse reports whether another process uses the state, if that can be known.
	InUse(ctx context.Context) (bool, error)
}

// Nameless is the kind of keys and receivers that an older version stored in a bucket under a hash only. They are not
// copied: nothing tells which they were.
const Nameless = "nameless"

// The errors of a copy that would lose something.
var (
	ErrInUse    = errors.New("a gateway uses it; stop all gateways before a copy")
	ErrNotEmpty = errors.New("it is not empty; --resume continues a copy and replaces items that both have")
)

// Copy copies a state and returns the number of copied items of each kind. It writes nothing into a state that holds
// something, unless resume is set. A copy that was interrupted is repeated with resume. progress is called after every
// item with their number so far.
func Copy(ctx context.Context, from, to Store, resume bool, progress func(n int)) (map[string]int, error) {
	for name, s := range map[string]Store{"the source": from, "the target": to} {
		used, err := s.InUse(ctx)
		if err == nil && used {
			err = ErrInUse
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	holds, err := to.Holds(ctx)
	if err == nil && holds && !resume {
		err = ErrNotEmpty
	}
	if err != nil {
		return nil, fmt.Errorf("the target: %w", err)
	}
	copied, n := map[string]int{}, 0
	now := time.Now()
	err = from.Export(ctx, func(item Item) error {
		if k, g := item.Key, item.Gone; k != nil && !k.Until.After(now) || g != nil && !g.Until.After(now) {
			return nil // it has expired
		}
		if k, g := item.Key, item.Gone; k != nil && k.Key.Name == "" || g != nil && g.URL == "" {
			copied[Nameless]++
			return nil
		}
		if j := item.Job; j != nil && j.Status == execution.Running {
			j.Owner = MovedOwner + "." + j.ID
		}
		if err := to.Import(ctx, item); err != nil {
			return fmt.Errorf("write into the target: %w", err)
		}
		n++
		copied[item.Kind()]++
		progress(n)
		return ctx.Err()
	})
	return copied, err
}
