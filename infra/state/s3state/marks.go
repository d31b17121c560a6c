package s3state

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A document that somebody has to look at, at a time, is on one list at that time. What says so is its mark: an object whose
// key has the list, the time and the document in it, so that listing keys in their order finds what is due.
//
// The document decides. A mark counts when it is the one that the document asks for; step makes each different from all
// that the same document had before, so that one which does not count any more never will again, and may be erased by
// anybody. The mark of a change is there before the change is made: whoever dies between leaves a mark too many, never
// one too few.
type mark struct {
	list string // "" is no mark
	when int64  // milliseconds since 1970
	step int64
	name string // which document of those that are on this list
}

const (
	queuedList    = "queued" // and below it the tenant and the class, in the order in which jobs are claimed
	runningList   = "running"
	tellingList   = "telling"
	endedList     = "ended"
	schedulesList = "schedules"
	marksFolder   = "marks/"
)

func (m mark) key() string {
	return fmt.Sprintf("%s%s/%013d.%d.%s", marksFolder, m.list, m.when, m.step, m.name)
}

func parseMark(key string) (m mark, ok bool) {
	rest, ok := strings.CutPrefix(key, marksFolder)
	at := strings.LastIndexByte(rest, '/')
	if !ok || at < 0 {
		return m, false
	}
	parts := strings.SplitN(rest[at+1:], ".", 3)
	if len(parts) != 3 {
		return m, false
	}
	when, bad := strconv.ParseInt(parts[0], 10, 64)
	step, worse := strconv.ParseInt(parts[1], 10, 64)
	return mark{rest[:at], when, step, parts[2]}, bad == nil && worse == nil
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return max(t.UnixMilli(), 0)
}

// listed is a document that is on a list.
type listed interface {
	// mark is the one that counts.
	mark() mark
	progress() *steps
}

var (
	_ listed = (*jobDocument)(nil)
	_ listed = (*document)(nil)
)

// steps is what every document has that is on a list.
type steps struct {
	// Step counts its moves from one mark to the next, beginning with a time: one that is made anew repeats none.
	Step int64 `json:"step,omitempty"`
	// By tells apart who made the last change: an attempt whose answer got lost finds its own.
	By string `json:"by,omitempty"`
}

func (s *steps) progress() *steps { return s }

// put makes a mark and has this process look at its list by then.
func (s *Store) put(ctx context.Context, m mark) error {
	if m.list == "" {
		return nil
	}
	if _, err := s.objects.Create(ctx, m.key(), []byte("{}")); err != nil {
		return err
	}
	s.glanceAt(m.list).put(time.UnixMilli(m.when))
	return nil
}

// erase takes a mark away that does not count any more. One that stays is met when it is due, and taken away then.
func (s *Store) erase(ctx context.Context, m mark) {
	if m.list != "" {
		_ = s.objects.Erase(context.WithoutCancel(ctx), m.key())
	}
}

// settle erases a mark that was met and is not the one of its document. One that is ahead of its document belongs to a
// change that is being made.
func (s *Store) settle(ctx context.Context, m mark, there bool, step int64) {
	if !there || m.step <= step {
		s.erase(ctx, m)
	}
}

// due gives at most limit marks of a list whose time has come.
func (s *Store) due(ctx context.Context, list string, now time.Time, limit int) ([]mark, error) {
	glance := s.glanceAt(list)
	seen, quiet := glance.look(now)
	if quiet {
		return nil, nil
	}
	keys, err := s.objects.List(ctx, marksFolder+list+"/", "", limit)
	if err != nil {
		return nil, err
	}
	var out []mark
	for _, key := range keys {
		m, ok := parseMark(key)
		switch {
		case !ok:
			return nil, fmt.Errorf("%q is no mark", key)
		case m.when > millis(now):
			if len(out) == 0 {
				glance.nothing(seen, now, time.UnixMilli(m.when))
			}
			return out, nil
		}
		out = append(out, m)
	}
	if len(out) == 0 {
		glance.nothing(seen, now, time.Time{})
	}
	return out, nil
}

// glance remembers that a list had nothing due, so that looking at it again and again costs nothing. What this process puts
// on the list is seen at once, what others put there within the time of a poll.
type glance struct {
	poll time.Duration

	mu    sync.Mutex
	puts  int
	quiet time.Time // nothing is due before
}

// look reports whether there is nothing to be seen; if there may be, nothing must be told what look gave.
func (g *glance) look(now time.Time) (puts int, quiet bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	// A clock that was put back must not make this long.
	return g.puts, now.Before(g.quiet) && g.quiet.Sub(now) <= g.poll
}

func (g *glance) put(when time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.puts++
	if when.Before(g.quiet) {
		g.quiet = when
	}
}

// nothing says that nothing was due, and what will be soonest, if anything.
func (g *glance) nothing(puts int, now, soonest time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if puts != g.puts {
		return // something was put there meanwhile
	}
	g.quiet = now.Add(g.poll)
	if !soonest.IsZero() && soonest.Before(g.quiet) {
		g.quiet = soonest
	}
}

// glanceAt gives the glance of a list; that of all queues is one.
func (s *Store) glanceAt(list string) *glance {
	list, _, _ = strings.Cut(list, "/")
	return s.glances[list]
}
