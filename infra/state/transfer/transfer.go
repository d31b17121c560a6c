package transfer

import (
	"context"
	"encoding/json"
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

// The most bytes of a name or a key, and of what somebody sent or computed. No gateway stores any that comes near.
const (
	largestName  = 1 << 20
	largestValue = 64 << 20
)

// check returns an error unless an item is one that a gateway could have stored. The source may be somebody else's.
func (i Item) check() error {
	names, values, kind := []string{}, [][]byte{}, i.Kind()
	switch {
	case i.Function != nil:
		names = append(names, i.Function.Saved.Tenant, i.Function.Saved.Name)
	case i.Job != nil:
		j := i.Job
		if !execution.ValidID(j.ID) && !execution.ValidSessionID(j.ID) {
			return fmt.Errorf("%.40q is not the ID of a job", j.ID)
		}
		names, values = append(names, j.Tenant, j.Subject, j.Owner), append(values, j.Result, j.Snapshot)
		if j.Wait == nil {
			break
		}
		for _, p := range j.Wait.Pending {
			given := [][]byte{p.Args, p.Schema}
			if p.Answer != nil {
				given = append(given, p.Answer.Args, p.Answer.Value)
			}
			for _, value := range given {
				if len(value) > 0 && !json.Valid(value) {
					return fmt.Errorf("a value that the job %s waits for, or gets, is not JSON", j.ID)
				}
			}
		}
	case i.Key != nil:
		k := i.Key
		names = append(names, k.Key.Name, k.Key.Tenant, k.Key.Subject, k.Key.Quota, k.Mark)
		values = append(values, k.Answer)
	case i.Event != nil:
		names, values = append(names, i.Event.Tenant, i.Event.Function, i.Event.ID), append(values, i.Event.Event)
	case i.Gone != nil:
		names = append(names, i.Gone.Tenant, i.Gone.URL)
	case i.Document != nil:
		names, values = append(names, i.Document.Name), append(values, i.Document.Body)
	}
	for _, name := range names {
		if len(name) > largestName {
			return fmt.Errorf("a name among its %s has %d bytes", kind, len(name))
		}
	}
	for _, value := range values {
		if len(value) > largestValue {
			return fmt.Errorf("a value among its %s has %d bytes", kind, len(value))
		}
	}
	return nil
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
		if err := item.check(); err != nil {
			return fmt.Errorf("the source is damaged: %w", err)
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
