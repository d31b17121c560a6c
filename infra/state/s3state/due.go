package s3state

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A dueEntry says that a document is due at a time. It is an object whose key holds the list, the time and the
// document, so that listing the keys in order finds what is due.
//
// The document is authoritative: an entry is valid only if the document names it. Each entry of a document has
// another step, so a stale entry never becomes valid again and any process may delete it. The entry of a change is
// written before the change: a process that dies in between leaves an entry too many, never one too few.
type dueEntry struct {
	list string // "" means no entry
	when int64  // milliseconds since 1970
	step int64
	name string // identifies the document within the list
}

const (
	queuedList    = "queued" // followed by the tenant and the class, in the order of claims
	runningList   = "running"
	tellingList   = "telling"
	endedList     = "ended"
	schedulesList = "schedules"
	dueFolder     = "marks/"
)

func (e dueEntry) key() string {
	return fmt.Sprintf("%s%s/%013d.%d.%s", dueFolder, e.list, e.when, e.step, e.name)
}

func parseDueEntry(key string) (e dueEntry, ok bool) {
	rest, ok := strings.CutPrefix(key, dueFolder)
	at := strings.LastIndexByte(rest, '/')
	if !ok || at < 0 {
		return e, false
	}
	parts := strings.SplitN(rest[at+1:], ".", 3)
	if len(parts) != 3 {
		return e, false
	}
	when, bad := strconv.ParseInt(parts[0], 10, 64)
	step, worse := strconv.ParseInt(parts[1], 10, 64)
	return dueEntry{rest[:at], when, step, parts[2]}, bad == nil && worse == nil
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return max(t.UnixMilli(), 0)
}

// listed is a document with a due-entry.
type listed interface {
	// dueEntry returns the valid entry.
	dueEntry() dueEntry
	progress() *steps
}

var (
	_ listed = (*jobDocument)(nil)
	_ listed = (*document)(nil)
)

// steps is the part of a document that versions its due-entries.
type steps struct {
	// Step counts the entries. It starts from a time, so that a document that is created again repeats no step.
	Step int64 `json:"step,omitempty"`
	// By identifies the last change, so that an attempt whose answer was lost recognises its own.
	By string `json:"by,omitempty"`
}

func (s *steps) progress() *steps { return s }

// put writes a due-entry and makes this process check its list by then.
func (s *Store) put(ctx context.Context, e dueEntry) error {
	if e.list == "" {
		return nil
	}
	if _, err := s.objects.Create(ctx, e.key(), []byte("{}")); err != nil {
		return err
	}
	s.idleCacheOf(e.list).put(time.UnixMilli(e.when))
	return nil
}

// erase deletes a stale due-entry. If that fails, the entry is deleted when it is due.
func (s *Store) erase(ctx context.Context, e dueEntry) {
	if e.list != "" {
		_ = s.objects.Erase(context.WithoutCancel(ctx), e.key())
	}
}

// settle deletes a stale due-entry. An entry that is ahead of its document belongs to a change that is still being
// made.
func (s *Store) settle(ctx context.Context, e dueEntry, there bool, step int64) {
	if !there || e.step <= step {
		s.erase(ctx, e)
	}
}

// due returns at most limit entries of a list that are due.
func (s *Store) due(ctx context.Context, list string, now time.Time, limit int) ([]dueEntry, error) {
	idle := s.idleCacheOf(list)
	seen, quiet := idle.check(now)
	if quiet {
		return nil, nil
	}
	keys, err := s.objects.List(ctx, dueFolder+list+"/", "", limit)
	if err != nil {
		return nil, err
	}
	var out []dueEntry
	for _, key := range keys {
		e, ok := parseDueEntry(key)
		switch {
		case !ok:
			return nil, fmt.Errorf("%q is not a due-entry", key)
		case e.when > millis(now):
			if len(out) == 0 {
				idle.setIdle(seen, now, time.UnixMilli(e.when))
			}
			return out, nil
		}
		out = append(out, e)
	}
	if len(out) == 0 {
		idle.setIdle(seen, now, time.Time{})
	}
	return out, nil
}

// An idleCache remembers that nothing on a list is due, so that polling costs no request. Entries of this process are
// seen at once, those of other processes within Config.Poll.
type idleCache struct {
	poll time.Duration

	mu    sync.Mutex
	puts  int
	quiet time.Time // nothing is due before this time
}

// check reports whether the list is known to be idle. If it is not, the caller passes puts to setIdle.
func (c *idleCache) check(now time.Time) (puts int, quiet bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// A clock that is set back must not prolong this.
	return c.puts, now.Before(c.quiet) && c.quiet.Sub(now) <= c.poll
}

func (c *idleCache) put(when time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.puts++
	if when.Before(c.quiet) {
		c.quiet = when
	}
}

// setIdle records that nothing is due before soonest, or at all if soonest is zero.
func (c *idleCache) setIdle(puts int, now, soonest time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if puts != c.puts {
		return // an entry was added meanwhile
	}
	c.quiet = now.Add(c.poll)
	if !soonest.IsZero() && soonest.Before(c.quiet) {
		c.quiet = soonest
	}
}

// idleCacheOf returns the idleCache of a list. All queues share one.
func (s *Store) idleCacheOf(list string) *idleCache {
	list, _, _ = strings.Cut(list, "/")
	return s.idle[list]
}
