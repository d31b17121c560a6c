package sandbox

import (
	"encoding/json"
	"errors"
	"time"
)

// Waits lets a run park: end while its guest waits for people, events or time, and continue in a later segment from
// what [Parked].Snapshot holds. A run parks when everything that its guest still awaits is durable: an approval, an
// event, a sleep of ten seconds or more, or a call of a durable tool. Requests and timers that fire once finish first.
// Repeating timers and timers that nobody waits for go on for Grace, and then in the next segment.
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
