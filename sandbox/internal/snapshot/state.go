package snapshot

import (
	"math"
	"time"
)

// State is a run that waits, or a session between two steps.
type State struct {
	// Script is the hash of the script whose run waits. A session between two steps has none.
	Script [32]byte
	// Segment counts the segments of the run, or the steps of the session, from 1.
	Segment int
	// Step is the number of the step of a session that the run is, or 0.
	Step int
	// Ahead reports that packages were evaluated before the code.
	Ahead bool
	Stage Stage
	Clock Clock
	Used  Used
	Guest Guest

	Output []byte
	Logs   []Log
	Timers []Timer
	// Lost are the requests that the run had not waited for.
	Lost []int32
	// NextWait is the number of the next wait.
	NextWait int
	Waits    []Wait
	// Setup is the hash of what the library was told of the grants.
	Setup [32]byte
	Files []File
	// Facts are the members of the result that say how the run began, as JSON.
	Facts []byte
}

// Stage is how far the run has come.
type Stage struct {
	Settled, HasValue bool
	LogsDropped       int
	// Steps reports that the code reports its statements.
	Steps bool
}

// Clock is the run's time and randomness.
type Clock struct {
	Seed    int64
	Seeded  bool
	Virtual time.Duration
	Began   time.Duration // since the Unix epoch
	Stream  []byte        // of random bytes; nil if nothing has been drawn
}

// Used is what the run has used of its limits.
type Used struct {
	Wall, CPU  time.Duration
	Calls      int
	FetchBytes int64
	Held       int64 // bytes of memory that the host holds for the guest, without files
	Peak       int64
}

// Guest is the state of the guest.
type Guest struct {
	Size      uint32
	CollectAt uint64
	Overflow  uint64
	Ticks     int64
	// Rejected are promises with an unhandled rejection.
	Rejected []uint64
	Changes  []byte
}

// Log is a console call.
type Log struct {
	Level, Message string
	AtMs           float64
	Line           string
}

// Timer is a timer that is due in In of the run's time.
type Timer struct {
	ID            int32
	In, Period    time.Duration
	Repeat, Loose bool
}

// Wait is a durable wait.
type Wait struct {
	Seq       int
	ID        int32 // of the guest's request
	Kind      string
	Tool      string
	Args      []byte
	Name      string
	Title     string
	Detail    string
	Schema    []byte
	DueAt     int64         // in milliseconds since the Unix epoch; 0 for none
	ExpiresAt int64         // the same
	Until     time.Duration // when it is due by the clock of a seeded run
}

// File is a file or a folder.
type File struct {
	Path            string
	Folder, Changed bool
	// Own reports that the run has made the content.
	Own      bool
	Mode     int32
	Inode    int32
	Modified time.Duration
	Data     []byte
}

// valid reports whether the numbers of s are such as a run has.
func (s *State) valid() bool {
	for _, n := range []int64{
		int64(s.Segment) - 1, int64(s.Step), int64(s.Stage.LogsDropped),
		int64(s.Clock.Virtual), int64(s.Used.Wall), int64(s.Used.CPU),
		int64(s.Used.Calls), s.Used.FetchBytes, s.Used.Held, s.Used.Peak, s.Guest.Ticks, int64(s.NextWait),
	} {
		if n < 0 || n > most {
			return false
		}
	}
	last := 0
	for _, w := range s.Waits {
		if w.Seq <= last || w.Seq > s.NextWait || w.Until < 0 || w.Until > most {
			return false
		}
		last = w.Seq
	}
	for _, t := range s.Timers {
		if max(t.In, -t.In) > most || t.In == math.MinInt64 || t.Period < 0 || t.Period > most {
			return false
		}
	}
	return true
}

// most bounds every number of a run, so that sums of them do not overflow.
const most = 1 << 60

// fields passes every field of a State to c, in the order of the format.
func (s *State) fields(c *coder) {
	c.fixed(s.Script[:])
	number(c, &s.Segment)
	number(c, &s.Step)
	c.bool(&s.Ahead)

	c.bool(&s.Stage.Settled)
	c.bool(&s.Stage.HasValue)
	number(c, &s.Stage.LogsDropped)
	c.bool(&s.Stage.Steps)

	number(c, &s.Clock.Seed)
	c.bool(&s.Clock.Seeded)
	number(c, &s.Clock.Virtual)
	number(c, &s.Clock.Began)
	c.optional(&s.Clock.Stream)

	number(c, &s.Used.Wall)
	number(c, &s.Used.CPU)
	number(c, &s.Used.Calls)
	number(c, &s.Used.FetchBytes)
	number(c, &s.Used.Held)
	number(c, &s.Used.Peak)

	count(c, &s.Guest.Size)
	count(c, &s.Guest.CollectAt)
	count(c, &s.Guest.Overflow)
	number(c, &s.Guest.Ticks)
	list(c, &s.Guest.Rejected, count)
	c.bytes(&s.Guest.Changes)

	c.bytes(&s.Output)
	list(c, &s.Logs, func(c *coder, l *Log) {
		c.string(&l.Level)
		c.string(&l.Message)
		c.float(&l.AtMs)
		c.string(&l.Line)
	})
	list(c, &s.Timers, func(c *coder, t *Timer) {
		number(c, &t.ID)
		number(c, &t.In)
		number(c, &t.Period)
		c.bool(&t.Repeat)
		c.bool(&t.Loose)
	})
	list(c, &s.Lost, number)
	number(c, &s.NextWait)
	list(c, &s.Waits, (*coder).wait)
	c.fixed(s.Setup[:])
	list(c, &s.Files, func(c *coder, f *File) {
		c.string(&f.Path)
		c.bool(&f.Folder)
		c.bool(&f.Changed)
		c.bool(&f.Own)
		number(c, &f.Mode)
		number(c, &f.Inode)
		number(c, &f.Modified)
		c.bytes(&f.Data)
	})
	c.bytes(&s.Facts)
}

func (c *coder) wait(w *Wait) {
	number(c, &w.Seq)
	number(c, &w.ID)
	c.string(&w.Kind)
	c.string(&w.Tool)
	c.optional(&w.Args)
	c.string(&w.Name)
	c.string(&w.Title)
	c.string(&w.Detail)
	c.optional(&w.Schema)
	number(c, &w.DueAt)
	number(c, &w.ExpiresAt)
	number(c, &w.Until)
}
