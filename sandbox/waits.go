package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/airlock-run/airlock/policy/schema"
	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
	"github.com/airlock-run/airlock/sandbox/internal/snapshot"
	"github.com/airlock-run/airlock/sandbox/internal/tool"
)

// Waits lets a run park: end while its guest waits for people, events or time, and continue in a later segment from
// what [Parked].Snapshot holds. A run parks when everything that its guest still awaits is durable: an approval, an
// event, a sleep of ten seconds or more, or a call of a durable tool. Requests and timers that fire once finish first.
// Repeating and unreferenced timers go on for Grace, and then in the next segment.
type Waits struct {
	// MaxPending bounds the durable waits of a run at one time. 0 grants no waits: airlock.sleep, airlock.waitForEvent,
	// airlock.approve and tools that need them throw an error.
	MaxPending int
	// MaxImageBytes bounds a snapshot before it is compressed. A run whose snapshot is larger ends with LimitWaits.
	// Default 64 MiB.
	MaxImageBytes int64
	// Grace is how long a run with such timers waits before it parks. Default 100 ms. Other runs park at once.
	Grace time.Duration
	// Hint, if set, says what would grant waits. The message of a refusal has it.
	Hint string
}

// Parked is a run that waits.
type Parked struct {
	// Waiting are its durable waits in the order of their Seq. The run continues when one of them is answered.
	Waiting []Waiting
	// Snapshot is what Engine.Resume continues from. It holds the guest's memory and is neither encrypted nor
	// authenticated: store it so that nobody reads or changes it.
	Snapshot []byte
}

// Waiting is one thing that a run waits for.
type Waiting struct {
	// Seq numbers the waits of a run from 1. No other wait of the run has the same number.
	Seq int
	// Kind is "approval", "event", "sleep" or "tool".
	Kind string
	// Tool is the name of the tool that is to be called, and Args are its parameters. An approval that the code asked
	// for with airlock.approve has none.
	Tool string
	Args json.RawMessage
	// Name is the name of the event.
	Name string
	// DueAt is when a sleep ends. ExpiresAt is when nobody waits for an event any more; zero is never.
	DueAt, ExpiresAt time.Time
	// Title and Detail are what airlock.approve shows, and Schema is the JSON Schema of the answer; "" and nil for none.
	Title, Detail string
	Schema        json.RawMessage
}

// Answer ends one of the waits of a parked run.
type Answer struct {
	// Seq is the number of the wait.
	Seq int
	// Value is what the guest's promise resolves to; nil is undefined.
	Value json.RawMessage
	// Error, if not "", rejects the promise with an error of this message and of the name ErrorName (default Error).
	Error, ErrorName string
	// Call, for an approval of a tool's call, makes the call. The guest gets what the tool answers. Args, if not nil,
	// replace the parameters that the guest gave.
	Call bool
	Args json.RawMessage
}

// The errors of Resume that name what is wrong with a snapshot or an answer. Nothing has run then.
var (
	// ErrEngineChanged reports that another build of the engine or of the standard library made the snapshot.
	ErrEngineChanged = errors.New("the snapshot is from another build of the engine")
	// ErrSnapshot reports that the snapshot is damaged, too large, or of another script.
	ErrSnapshot = errors.New("the snapshot is not valid")
	// ErrNotPending reports an answer to something that the run does not wait for, or a second answer.
	ErrNotPending = errors.New("the run does not wait for this")
	// ErrAnswer reports an answer that does not fit what the run waits for.
	ErrAnswer = errors.New("the answer does not fit")
)

// The kinds of durable waits.
const (
	waitApproval = "approval"
	waitEvent    = "event"
	waitSleep    = "sleep"
	waitTool     = "tool"
)

const (
	defaultImageBytes = 64 << 20
	defaultGrace      = 100 * time.Millisecond
	// maxSleep bounds sleeps and timeouts.
	maxSleep = 3650 * 24 * time.Hour

	maxWaitName   = 256
	maxWaitTitle  = 1 << 10
	maxWaitDetail = 64 << 10
	maxWaitSchema = 64 << 10
	maxWish       = 512 << 10
	// maxWaits bounds the JSON of all durable waits of a run at one time: a list of paused runs shows it.
	maxWaits = 512 << 10
	// waitRoom is the size of a wait without its texts.
	waitRoom = 512
)

func (w Waits) withDefaults() Waits {
	if w.MaxImageBytes <= 0 {
		w.MaxImageBytes = defaultImageBytes
	}
	if w.Grace <= 0 {
		w.Grace = defaultGrace
	}
	return w
}

// refused returns the error of a guest that may not wait.
func (w Waits) refused(what string) error {
	if w.Hint != "" {
		return hostops.Throwf("TypeError", "%s needs durable waits, which this execution does not have: %s", what, w.Hint)
	}
	return hostops.Throwf("TypeError", "%s needs durable waits, which this execution does not have", what)
}

// waits are the durable waits of a run.
type waits struct {
	granted Waits
	// durable are the requests that become durable waits, by name.
	durable map[string]bool
	// approved are the tools that are called once a call is approved.
	approved map[string]hostops.Request
	tools    toolset
	next     int
	pending  []snapshot.Wait // by Seq
	// quiet is the time, by the clock of timers, since which the run waits only for these; it is negative while the run
	// does more.
	quiet time.Duration
}

// errParked ends the segment of a run that parks.
var errParked = errors.New("the run waits")

// A pendingError is returned for a request that has become a durable wait.
type pendingError struct{ wait snapshot.Wait }

func (*pendingError) Error() string { return "the request waits" }

// grantWaits makes the operations of airlock.sleep, airlock.waitForEvent and airlock.approve.
func (g segment) grantWaits() {
	w := &g.waits
	w.granted = g.grants.Waits.withDefaults()
	w.durable, w.approved = map[string]bool{}, map[string]hostops.Request{}
	if w.granted.MaxPending <= 0 {
		return
	}
	now := g.engine.now
	for name, begin := range map[string]func(wish, time.Time) snapshot.Wait{
		"wait.sleep": func(q wish, due time.Time) snapshot.Wait {
			return snapshot.Wait{Kind: waitSleep, DueAt: due.UnixMilli(), Until: q.after()}
		},
		"wait.event": func(q wish, due time.Time) snapshot.Wait {
			x := snapshot.Wait{Kind: waitEvent, Name: q.Name}
			if q.Ms != nil {
				x.ExpiresAt = due.UnixMilli()
			}
			return x
		},
		"wait.approve": func(q wish, _ time.Time) snapshot.Wait {
			return snapshot.Wait{Kind: waitApproval, Title: q.Title, Detail: q.Detail, Schema: q.Schema}
		},
	} {
		w.durable[name] = true
		g.requests.followUps[name] = func(_ context.Context, payload string) (hostops.Answer, error) {
			var q wish
			if len(payload) > maxWish || json.Unmarshal([]byte(payload), &q) != nil {
				return hostops.Answer{}, hostops.Throwf("RangeError", "what to wait for is more than %d bytes of JSON", maxWish)
			}
			if err := q.check(); err != nil {
				return hostops.Answer{}, err
			}
			return hostops.Answer{}, &pendingError{begin(q, now().Add(q.after()))}
		}
	}
}

// wish is the payload of the request for a durable wait.
type wish struct {
	Ms                  *float64
	Name, Title, Detail string
	Schema              json.RawMessage
}

func (q *wish) after() time.Duration {
	if q.Ms == nil || !(*q.Ms > 0) {
		return 0
	}
	return time.Duration(min(*q.Ms, float64(maxSleep/time.Millisecond))) * time.Millisecond
}

func (q *wish) check() error {
	for _, f := range []struct {
		what string
		n    int
		most int
	}{{"the name of the event", len(q.Name), maxWaitName}, {"title", len(q.Title), maxWaitTitle},
		{"detail", len(q.Detail), maxWaitDetail}, {"schema", len(q.Schema), maxWaitSchema}} {
		if f.n > f.most {
			return hostops.Throwf("RangeError", "%s has %d bytes; at most %d are accepted", f.what, f.n, f.most)
		}
	}
	if _, err := schema.New(q.Schema); err != nil {
		return hostops.Throwf("TypeError", "schema: %v", err)
	}
	return nil
}

// grantDurable makes the calls of a tool wait, if it is such a tool. It reports whether it is.
func (w *waits) grantDurable(q *requests, t Tool, made *tool.Tool, call hostops.Request) bool {
	name := "tool:" + t.Name
	switch {
	case !t.Approval && !t.Durable:
		return false
	case w.granted.MaxPending <= 0:
		refused := w.granted.refused("tool " + t.Name)
		q.counted[name] = func(context.Context, string) (hostops.Answer, error) { return hostops.Answer{}, refused }
		return true
	}
	kind := waitTool
	if t.Approval {
		kind, w.approved[name] = waitApproval, call
	}
	w.durable[name] = true
	q.counted[name] = func(ctx context.Context, payload string) (hostops.Answer, error) {
		if err := made.Accept(ctx, payload); err != nil {
			return hostops.Answer{}, err
		}
		return hostops.Answer{}, &pendingError{snapshot.Wait{Kind: kind, Tool: t.Name, Args: []byte(payload)}}
	}
	return true
}

// number returns the number of the durable wait that a request may become, or 0.
func (w *waits) number(request string) int {
	if !w.durable[request] {
		return 0
	}
	w.next++
	return w.next
}

// answered hands an answer to the guest, or keeps the durable wait that the request has become.
func (r eventLoop) answered(c completion) error {
	var begun *pendingError
	if !errors.As(c.err, &begun) {
		return r.guest.settle(c)
	}
	if most := r.waits.granted.MaxPending; len(r.waits.pending) >= most {
		c.err = hostops.Throwf("RangeError", "more than %d durable waits at one time", most)
		return r.guest.settle(c)
	}
	if size := r.waits.jsonSize() + jsonSize(begun.wait); size > maxWaits {
		c.err = hostops.Throwf("RangeError", "the durable waits of a run have at most %d bytes of JSON at one time; these "+
			"have %d", maxWaits, size)
		return r.guest.settle(c)
	}
	x := begun.wait
	if c.seq == 0 { // the call must not wait
		r.waits.next++
		c.seq = r.waits.next
	}
	x.Seq, x.ID, x.Until = c.seq, c.id, x.Until+r.outside.timerClock()
	text, err := json.Marshal(x)
	if err != nil {
		return fmt.Errorf("record a wait: %w", err)
	}
	r.requests.finished(c.id)
	r.memory.ReleaseAside(c.held)
	r.outside.tape.Waits(c.id, text)
	return r.keep(x)
}

// keep adds a durable wait.
func (r eventLoop) keep(x snapshot.Wait) error {
	w := &r.waits
	at, _ := slices.BinarySearchFunc(w.pending, x, func(a, b snapshot.Wait) int { return cmp.Compare(a.Seq, b.Seq) })
	w.pending = slices.Insert(w.pending, at, x)
	return r.memory.Charge(roomOf(x))
}

// roomOf returns how much of the run's memory a wait takes.
func roomOf(x snapshot.Wait) int64 {
	return waitRoom + int64(len(x.Args)+len(x.Name)+len(x.Title)+len(x.Detail)+len(x.Schema))
}

// jsonSize returns about how many bytes of JSON the durable waits are.
func (w *waits) jsonSize() int {
	n := 0
	for _, x := range w.pending {
		n += jsonSize(x)
	}
	return n
}

func jsonSize(x snapshot.Wait) int {
	n := len(x.Args) + len(x.Schema)
	for _, text := range []string{x.Tool, x.Name, x.Title, x.Detail} {
		for i := range len(text) {
			switch b := text[i]; {
			case b < ' ', b == '<', b == '>', b == '&':
				n += len(`\u0000`)
			case b == '"', b == '\\':
				n += 2
			default:
				n++
			}
		}
	}
	return n
}

// parks reports whether the run now waits for nothing but durable waits, and has done so for the grace.
func (r eventLoop) parks() bool {
	w := &r.waits
	if r.grants.parkNow != nil && r.requests.outstanding == 0 && !r.idle() && r.grants.parkNow() {
		return true
	}
	switch {
	case len(w.pending) == 0 || r.requests.outstanding > 0 || r.timers.Once():
		w.quiet = -1
		return false
	case r.outside.tape.Playing():
		return r.outside.tape.Over() && r.grants.Replay.Limit == ""
	case r.timers.Empty():
		return true
	}
	now := r.outside.timerClock()
	if w.quiet < 0 {
		w.quiet = now
	}
	return now-w.quiet >= w.granted.Grace
}

// graceEnds returns when the run parks if nothing happens, by the clock of timers; false if it does not.
func (w *waits) graceEnds() (time.Duration, bool) { return w.quiet + w.granted.Grace, w.quiet >= 0 }

// waiting returns the durable waits as callers see them.
func (w *waits) waiting() []Waiting {
	out := make([]Waiting, 0, len(w.pending))
	at := func(ms int64) time.Time {
		if ms == 0 {
			return time.Time{}
		}
		return time.UnixMilli(ms).UTC()
	}
	for _, x := range w.pending {
		if forInput(&x) {
			x.Name, x.Args = "", nil // these belong to the call that follows the answer
		}
		out = append(out, Waiting{Seq: x.Seq, Kind: x.Kind, Tool: x.Tool, Args: x.Args, Name: x.Name, DueAt: at(x.DueAt),
			ExpiresAt: at(x.ExpiresAt), Title: x.Title, Detail: x.Detail, Schema: x.Schema})
	}
	return out
}

// find returns the durable wait of a number, or nil.
func (w *waits) find(seq int) *snapshot.Wait {
	i := slices.IndexFunc(w.pending, func(x snapshot.Wait) bool { return x.Seq == seq })
	if i < 0 {
		return nil
	}
	return &w.pending[i]
}

// waitOp answers wait.check(function, duration): it refuses guests that may not wait, and returns how long a duration
// is in milliseconds, or null without one.
func waitOp(r *run, c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	name, _ := c.Word(a[0], maxOpName)
	if r.waits.granted.MaxPending <= 0 {
		return 0, r.waits.granted.refused("airlock." + name)
	}
	if a[1] == quickjs.Null {
		return quickjs.Null, nil
	}
	text, ok := c.Word(a[1], maxWaitName)
	d, valid := parseDuration(text)
	if !ok || !valid {
		return 0, hostops.Throwf("TypeError", "airlock.%s: %q is not a duration; it is milliseconds, or such as "+
			`"90 s", "3 days" or "1 week"`, name, hostops.CutChars(text, maxPath))
	}
	return c.NewJSON(d.Milliseconds())
}

// parseDuration returns a duration: a number of milliseconds, or numbers with units.
func parseDuration(text string) (time.Duration, bool) {
	rest := strings.ToLower(strings.TrimSpace(text))
	sum := 0.0
	for first := true; rest != "" || first; first = false {
		digits := strings.IndexFunc(rest, func(c rune) bool { return (c < '0' || c > '9') && c != '.' })
		if digits < 0 {
			digits = len(rest)
		}
		n, err := strconv.ParseFloat(rest[:digits], 64)
		if err != nil {
			return 0, false
		}
		rest = strings.TrimLeft(rest[digits:], " ")
		letters := strings.IndexFunc(rest, func(c rune) bool { return c < 'a' || c > 'z' })
		if letters < 0 {
			letters = len(rest)
		}
		unit := unitOf(rest[:letters])
		if letters == 0 && rest == "" && first {
			unit = time.Millisecond
		}
		if unit == 0 {
			return 0, false
		}
		sum += n * float64(unit)
		rest = strings.TrimLeft(rest[letters:], " ")
	}
	if sum > float64(maxSleep) {
		return 0, false
	}
	return time.Duration(sum), true
}

func unitOf(name string) time.Duration {
	switch name {
	case "ms", "millisecond", "milliseconds":
		return time.Millisecond
	case "s", "sec", "second", "seconds":
		return time.Second
	case "m", "min", "minute", "minutes":
		return time.Minute
	case "h", "hour", "hours":
		return time.Hour
	case "d", "day", "days":
		return 24 * time.Hour
	case "w", "week", "weeks":
		return 7 * 24 * time.Hour
	}
	return 0
}
