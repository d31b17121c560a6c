package hostops

import (
	"encoding/json"
	"fmt"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// Call is one call of an operation. What the operation copies or builds is charged to the memory limit of the run, and
// its work counts against the run's time.
type Call struct {
	Env
	In      Guest
	session *Session
	held    int64 // bytes that End releases
}

// A unit of work takes about four nanoseconds on a slow machine. An operation announces its work before it begins, in
// pieces of at most MaxPiece units. The limits of the run are checked at least once a Quantum, however many operations
// that took. Work that cannot be divided is refused if it is more than MaxPiece.
const (
	Quantum  = 256 << 10
	MaxPiece = 8 << 20
	// OpWork is the work of any operation.
	OpWork = 256
	// PieceBytes is how many bytes an operation handles between two checks if a byte is a unit of work.
	PieceBytes = Quantum
	// MinPiece is how many bytes the slowest operations handle between two checks.
	MinPiece = 4 << 10
)

const (
	// MaxWord bounds the strings that are copied without being charged, in UTF-16 units.
	MaxWord = 64 << 10
	// MaxBytes bounds the strings and buffers that one operation takes. Guests have less memory than that anyway.
	MaxBytes = 256 << 20
)

// Work announces n units of work. It checks the limits of the run if a Quantum has passed since the last check.
func (c *Call) Work(n int) error {
	s := c.session
	if s.unchecked > 0 && s.unchecked+n > Quantum {
		if err := c.Poll(c.In); err != nil {
			return err
		}
	}
	s.unchecked += n
	if s.longest != nil {
		if most := s.longest.Load(); int64(s.unchecked) > most {
			s.longest.Store(int64(s.unchecked))
		}
	}
	return nil
}

// Pieces calls f with consecutive parts of b and announces each as weight units a byte.
func (c *Call) Pieces(b []byte, weight int, f func([]byte) error) error {
	size := max(PieceBytes/weight, MinPiece)
	for len(b) > 0 {
		n := min(size, len(b))
		if err := c.Work(n * weight); err != nil {
			return err
		}
		if err := f(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// Parts calls f with consecutive parts of a string and announces each as weight units a UTF-16 unit.
func (c *Call) Parts(t quickjs.Text, weight int, f func(quickjs.Text) error) error {
	for t.Len() > 0 {
		var part quickjs.Text
		part, t = t.Cut(PieceBytes / weight)
		if err := c.Work(part.Len() * weight); err != nil {
			return err
		}
		if err := f(part); err != nil {
			return err
		}
	}
	return nil
}

// Hold charges n bytes until the operation ends. It is called before they are allocated.
func (c *Call) Hold(n int) error {
	if err := c.Charge(int64(n)); err != nil {
		return err
	}
	c.held += int64(n)
	return nil
}

// Drop releases n of the bytes that Hold charged.
func (c *Call) Drop(n int) {
	c.held -= int64(n)
	c.Release(int64(n))
}

// End releases what is still held.
func (c *Call) End() {
	if c.held > 0 {
		c.Release(c.held)
	}
}

// Make returns n bytes, which it charges until the operation ends.
func (c *Call) Make(n int) ([]byte, error) {
	if err := c.Hold(n); err != nil {
		return nil, err
	}
	return make([]byte, n), nil
}

// Word copies a string of at most limit UTF-16 units, and at most MaxWord, out of the guest. It is not charged.
func (c *Call) Word(v quickjs.Value, limit int) (string, bool) {
	return c.In.Str(v, min(limit, MaxWord))
}

// Str copies a string of at most limit UTF-16 units out of the guest. ok is false for anything else.
func (c *Call) Str(v quickjs.Value, limit int) (s string, ok bool, err error) {
	t, ok := c.In.Text(v)
	if !ok || t.Len() > limit {
		return "", false, nil
	}
	b, err := c.UTF8(t)
	return StringOf(b), err == nil, err
}

// UTF8 returns the bytes of a string in UTF-8.
func (c *Call) UTF8(t quickjs.Text) ([]byte, error) {
	size := 0
	err := c.Parts(t, 1, func(part quickjs.Text) error { size += part.Size(); return nil })
	if err != nil {
		return nil, err
	}
	if err := c.Hold(size); err != nil {
		return nil, err
	}
	b := make([]byte, 0, size)
	err = c.Parts(t, 2, func(part quickjs.Text) error { b = part.Append(b); return nil })
	return b, err
}

// View returns the bytes of an ArrayBuffer where they lie in guest memory. They must not be changed, nor used after the
// operation.
func (c *Call) View(v quickjs.Value) ([]byte, error) {
	b, ok, err := c.In.View(v)
	if err == nil && !ok {
		err = ErrForged
	}
	return b, err
}

// Views returns the bytes of several ArrayBuffers; see View.
func (c *Call) Views(args ...quickjs.Value) ([][]byte, error) {
	out := make([][]byte, len(args))
	for i, a := range args {
		var err error
		if out[i], err = c.View(a); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// NewBytes makes an ArrayBuffer.
func (c *Call) NewBytes(b []byte) (quickjs.Value, error) { return c.In.Bytes(b) }

// NewString makes a string.
func (c *Call) NewString(s string) (quickjs.Value, error) { return c.In.String(s) }

// NewJSON makes the value that v is in JSON. v must be small: nothing is charged.
func (c *Call) NewJSON(v any) (quickjs.Value, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return 0, fmt.Errorf("answer a host call: %w", err)
	}
	return c.In.ParseJSON(b)
}
