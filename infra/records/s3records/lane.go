package s3records

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/oklog/ulid/v2"

	"github.com/airlock-run/airlock/infra/s3objects"
	"github.com/airlock-run/airlock/policy/audit"
)

// maxLanes is the number of records that a store writes at once.
const maxLanes = s3objects.MaxConns

// A lane is a writer with a chain of its own. It writes one record at a time, so that its next record is chained to one
// that exists. A store has as many lanes as it has written records at once.
type lane struct {
	*Store
	last  audit.Head
	doubt *doubt
}

// doubt is a record that was sent and whose answer never came.
type doubt struct {
	record audit.Record
	sealed audit.Sealed
}

// take returns the lane for a record: the one that has it in doubt, otherwise one that has another in doubt, so that
// no chain waits for long, otherwise the one that was used last.
func (s *Store) take(id string) (*lane, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, ErrClosed
	case s.reader:
		return nil, errReader
	}
	n := slices.IndexFunc(s.free, func(l *lane) bool { return l.doubt != nil && l.doubt.record.ID == id })
	if n < 0 {
		n = slices.IndexFunc(s.free, func(l *lane) bool { return l.doubt != nil })
	}
	if n < 0 {
		n = len(s.free) - 1
	}
	if n < 0 {
		l := &lane{Store: s}
		return l, l.begin()
	}
	l := s.free[n]
	s.free = slices.Delete(s.free, n, n+1)
	return l, nil
}

func (s *Store) release(l *lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, l)
}

// begin starts a chain.
func (l *lane) begin() error {
	entropy := l.cfg.Entropy
	if entropy == nil {
		entropy = ulid.DefaultEntropy()
	}
	id, err := ulid.New(ulid.Timestamp(l.cfg.Now()), entropy)
	if err != nil {
		return fmt.Errorf("make a writer id: %w", err)
	}
	l.last = audit.Head{Writer: id.String()}
	return nil
}

func (l *lane) append(ctx context.Context, r audit.Record) error {
	if l.doubt != nil {
		if again, err := l.settle(ctx, r); err != nil || again {
			return err
		}
	}
	sealed, err := audit.Seal(r, l.last, l.cfg.Key)
	if err != nil {
		return err
	}
	if l.spool.busy() {
		if err := l.spool.add(sealed); err != nil {
			return err
		}
		l.last = sealed.Head()
		return nil
	}
	err = l.put(ctx, l.key(sealed), sealed.Line, false)
	switch {
	case err == nil:
		l.last = sealed.Head()
		l.head.note(sealed)
		return nil
	case errors.Is(err, audit.ErrExists) || definite(err):
		return err
	case l.spool == nil:
		l.doubt = &doubt{r, sealed}
		return err
	}
	if full := l.spool.add(sealed); full != nil {
		l.doubt = &doubt{r, sealed}
		return errors.Join(err, full)
	}
	l.cfg.Log.Warn("S3 cannot be reached; records go to the spool", "bucket", l.cfg.Bucket, "error", err)
	l.last = sealed.Head()
	return nil
}

// settle resolves a record in doubt by sending it again. It reports whether r is that record.
func (l *lane) settle(ctx context.Context, r audit.Record) (again bool, err error) {
	d := l.doubt
	err = l.put(ctx, l.key(d.sealed), d.sealed.Line, true)
	switch {
	case errors.Is(err, errUnread):
		// Stored or not, it is the last of its chain: the next record starts another.
		l.doubt = nil
		return false, l.begin()
	case errors.Is(err, audit.ErrExists) || definite(err):
		l.doubt = nil // it was never stored
		return false, nil
	case err != nil:
		return false, fmt.Errorf("an earlier record is not confirmed yet: %w", err)
	}
	l.doubt, l.last = nil, d.sealed.Head()
	l.head.note(d.sealed)
	return reflect.DeepEqual(d.record, r), nil
}
