package execution

import (
	"encoding/json"
	"strings"
	"time"
)

// sessionPrefix begins the ID of every session. No execution has it.
const sessionPrefix = "sess_"

// idPrefix begins the ID of every execution.
const idPrefix = "exec_"

// FirstSession sorts after the ID of every execution and before that of every session.
const FirstSession = sessionPrefix

// SessionID returns the ID of a session that is made from the ID of an execution.
func SessionID(id string) string { return sessionPrefix + strings.TrimPrefix(id, idPrefix) }

// ValidSessionID reports whether s has the form of a session's ID.
func ValidSessionID(s string) bool {
	rest, ok := strings.CutPrefix(s, sessionPrefix)
	return ok && ValidID(idPrefix+rest)
}

// A SessionRef names a step of a session.
type SessionRef struct {
	ID string `json:"id"`
	// Step counts from 1.
	Step int `json:"step"`
}

// A SessionStep makes an [Invocation] a step of a session.
type SessionStep struct {
	SessionRef
	// Snapshot is the state after the step before, as [Pause.Snapshot] had it. It is empty for the first step.
	Snapshot []byte `json:"snapshot,omitempty"`
	// Restarted says that a later step begins with an empty state, too, because the session was restarted.
	Restarted bool `json:"restarted,omitempty"`
	// ForkOf is the session whose state the first step of a fork begins with.
	ForkOf string `json:"forkOf,omitempty"`
	// EngineBuild is the build of the engine that made the snapshot, if it is known.
	EngineBuild string `json:"engineBuild,omitempty"`
	// Granted is the most that steps may be granted: what the policy allowed when the session began.
	Granted json.RawMessage `json:"granted,omitempty"`
}

// check returns an error unless the step is well formed.
func (s *SessionStep) check(r *Resume) *Error {
	switch {
	case s == nil:
		return nil
	case r != nil:
		return invalid("session", "cannot be given together with resume: a step does not pause")
	case !ValidSessionID(s.ID):
		return invalid("session.id", `must be "sess_" and 10 to 64 letters or digits`)
	case s.Step < 1:
		return invalid("session.step", "must be a positive whole number")
	case s.Step == 1 && len(s.Snapshot) > 0:
		return invalid("session.snapshot", "must be left out of the first step")
	case s.Restarted && (s.Step == 1 || len(s.Snapshot) > 0):
		return invalid("session.restarted", "belongs to a later step without a snapshot")
	case s.ForkOf != "" && (!ValidSessionID(s.ForkOf) || len(s.Snapshot) == 0):
		return invalid("session.forkOf", "must be the ID of a session, and belongs to a step with a snapshot")
	case s.Step > 1 && len(s.Snapshot) == 0 && !s.Restarted:
		return invalid("session.snapshot", "is required for every step but the first")
	}
	return nil
}

// Runs reports whether a step of a session may still run.
func (s *Session) Runs(now time.Time) bool { return s.Running != "" && now.Before(s.Until) }

// A Session is the part of a [Wait] that makes a stored job a session. Between two steps it is paused and waits for
// nothing. Wait.Segment is the number of its completed steps.
type Session struct {
	// Running is the ID of the execution that is the next step, and Until is when it has certainly ended.
	Running string    `json:"running,omitempty"`
	Until   time.Time `json:"until,omitzero"`
	// Kept is the number of steps before the last one whose snapshots are stored, too.
	Kept int `json:"kept,omitempty"`
	// Restarted says that the next step begins with an empty state, although steps have completed.
	Restarted bool `json:"restarted,omitempty"`
	// ForkOf is the session that this one is a fork of, until a step of its own has completed.
	ForkOf string `json:"forkOf,omitempty"`
	// Granted is what the policy allowed when the session began. Sessions of earlier releases have none.
	Granted json.RawMessage `json:"granted,omitempty"`
}
