package hostops

import (
	"context"
	"io"
	"reflect"
	"sync/atomic"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// Env is what a run offers to the operations that its guest calls.
type Env interface {
	Memory
	// Context ends with the run.
	Context() context.Context
	// Poll checks the limits of the run. An error ends the run.
	Poll(in Guest) error
	// Random is the source of all of the guest's cryptographic randomness.
	Random() io.Reader
	// Taint records that something from outside reaches the guest: another run of the same code may end differently.
	Taint()
}

// Session is the host's side of one run: its Env, the work that was announced and not yet checked, and what operations
// keep between calls. It belongs to the guest's goroutine.
type Session struct {
	env Env
	// unchecked is the work that operations have announced since the limits were last checked.
	unchecked int
	// longest, if set, receives the most work that was ever announced between two checks.
	longest *atomic.Int64
	state   map[reflect.Type]any
	// segments counts the earlier segments of the run.
	segments int
}

// NewSession returns the session of a run. longest may be nil.
func NewSession(env Env, longest *atomic.Int64) *Session { return &Session{env: env, longest: longest} }

// Continue notes that the run had n segments before. What operations kept in those is gone.
func (s *Session) Continue(n int) { s.segments = n }

// Segments returns the number of earlier segments of the run.
func (c *Call) Segments() int { return c.session.segments }

// Checked notes that the limits of the run have just been checked.
func (s *Session) Checked() { s.unchecked = 0 }

// Begin starts an operation for the guest in. The caller ends it with [Call.End].
func (s *Session) Begin(in Guest) *Call { return &Call{Env: s.env, In: in, session: s} }

// Do runs op. It returns what op throws as the value that the library turns into an exception.
func (s *Session) Do(in Guest, op Op, args []quickjs.Value) (quickjs.Value, error) {
	c := s.Begin(in)
	defer c.End()
	if err := c.Work(OpWork); err != nil {
		return 0, err
	}
	v, err := op(c, args)
	if thrown, ok := err.(*Exception); ok { // made by the operation itself, never wrapped
		v, err = ErrorValue(in, thrown)
	}
	if err == nil && s.unchecked >= Quantum {
		err = s.env.Poll(in)
	}
	return v, err
}

// State returns the T of the run, which operations keep between calls. The first call makes a zero T.
func State[T any](c *Call) *T {
	key := reflect.TypeFor[T]()
	if v, ok := c.session.state[key].(*T); ok {
		return v
	}
	if c.session.state == nil {
		c.session.state = make(map[reflect.Type]any)
	}
	v := new(T)
	c.session.state[key] = v
	return v
}
