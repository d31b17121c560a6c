package sandbox

import (
	"encoding/json"
	"fmt"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// A call is a synchronous operation at work. Operations reach their arguments, the poll, and the run's memory through it
// alone: what they copy or build is charged to the run's memory limit, and what they compute is counted, so that the run's
// limits hold while the host works for the guest.
type call struct {
	*run
	in   *quickjs.Instance
	held int64 // bytes charged until the operation has answered
}

// Work is counted in units of about four nanoseconds on a slow machine. An operation announces its work before it begins,
// in pieces of at most maxPiece units, and the run's limits are checked at least once a quantum, however many operations
// that took. What cannot be divided is refused when it is more than maxPiece.
const (
	quantum  = 256 << 10
	maxPiece = 8 << 20
	// opWork is what any operation costs.
	opWork = 256
	// pieceBytes is how many bytes an operation of a unit a byte works on between two polls; minPiece, one of the slowest.
	pieceBytes = quantum
	minPiece   = 4 << 10
)

// work announces n units of work. It checks the limits first when that much has been done since the last check.
func (c *call) work(n int) error { return c.announce(c.in, n) }

func (r *run) announce(in *quickjs.Instance, n int) error {
	if r.unpolled > 0 && r.unpolled+n > quantum {
		if err := r.Poll(in); err != nil {
			return err
		}
	}
	r.unpolled += n
	if most := r.engine.longest.Load(); int64(r.unpolled) > most {
		r.engine.longest.Store(int64(r.unpolled)) // for tests, which run one at a time
	}
	return nil
}

// pieces calls f with parts of b, each announced as weight units a byte.
func (c *call) pieces(b []byte, weight int, f func([]byte) error) error {
	size := max(pieceBytes/weight, minPiece)
	for len(b) > 0 {
		n := min(size, len(b))
		if err := c.work(n * weight); err != nil {
			return err
		}
		if err := f(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// hold charges n bytes until the operation has answered. It is called before they are allocated.
func (c *call) hold(n int) error {
	if err := c.charge(int64(n)); err != nil {
		return err
	}
	c.held += int64(n)
	return nil
}

// end returns what is still charged.
func (c *call) end() {
	if c.held > 0 {
		c.release(c.held)
	}
}

// drop returns n bytes that hold charged, of what the operation has no more use for.
func (c *call) drop(n int) {
	c.held -= int64(n)
	c.release(int64(n))
}

// make returns n bytes, charged.
func (c *call) make(n int) ([]byte, error) {
	if err := c.hold(n); err != nil {
		return nil, err
	}
	return make([]byte, n), nil
}

// word copies a short string out of the guest: one of at most limit UTF-16 units.
func (c *call) word(v quickjs.Value, limit int) (string, bool) {
	return c.in.Str(v, min(limit, maxWord))
}

// maxWord bounds the strings that are copied without being charged, in UTF-16 units.
const maxWord = 64 << 10

// str copies a string of any length out of the guest. ok is false for anything but a string of at most limit UTF-16 units.
func (c *call) str(v quickjs.Value, limit int) (s string, ok bool, err error) {
	t, ok := c.in.Text(v)
	if !ok || t.Len() > limit {
		return "", false, nil
	}
	b, err := c.utf8(t)
	return stringOf(b), err == nil, err
}

// utf8 returns a string's bytes in UTF-8, charged.
func (c *call) utf8(t quickjs.Text) ([]byte, error) {
	size := 0
	err := c.parts(t, 1, func(part quickjs.Text) error { size += part.Size(); return nil })
	if err != nil {
		return nil, err
	}
	if err := c.hold(size); err != nil {
		return nil, err
	}
	b := make([]byte, 0, size)
	err = c.parts(t, 2, func(part quickjs.Text) error { b = part.Append(b); return nil })
	return b, err
}

// parts is pieces for a string, with weight units for each of its own.
func (c *call) parts(t quickjs.Text, weight int, f func(quickjs.Text) error) error {
	for t.Len() > 0 {
		var part quickjs.Text
		part, t = t.Cut(pieceBytes / weight)
		if err := c.work(part.Len() * weight); err != nil {
			return err
		}
		if err := f(part); err != nil {
			return err
		}
	}
	return nil
}

// view returns the bytes of an ArrayBuffer where they lie in guest memory: they are not to be changed, and not to be kept
// beyond the operation.
func (c *call) view(v quickjs.Value) ([]byte, error) {
	b, ok, err := c.in.View(v)
	if err == nil && !ok {
		err = errForged
	}
	return b, err
}

// views is view for several.
func (c *call) views(args ...quickjs.Value) ([][]byte, error) {
	out := make([][]byte, len(args))
	for i, a := range args {
		var err error
		if out[i], err = c.view(a); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// bytes answers with an ArrayBuffer.
func (c *call) bytes(b []byte) (quickjs.Value, error) { return c.in.Bytes(b) }

// string answers with a string.
func (c *call) string(s string) (quickjs.Value, error) { return c.in.String(s) }

// json answers with a value that is small: its size is bounded where it is made.
func (c *call) json(v any) (quickjs.Value, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return 0, fmt.Errorf("answer a host call: %w", err)
	}
	return c.in.ParseJSON(b)
}

// growing is a byte slice that is charged as it grows.
type growing struct {
	c *call
	b []byte
}

// room makes sure that n more bytes fit.
func (g *growing) room(n int) error {
	if len(g.b)+n <= cap(g.b) {
		return nil
	}
	size := max(len(g.b)+n, cap(g.b)+cap(g.b)/2, 1<<10)
	if err := g.c.hold(size); err != nil {
		return err
	}
	b := make([]byte, len(g.b), size)
	copy(b, g.b)
	before := cap(g.b)
	g.b = b
	g.c.drop(before) // it may be collected now
	return nil
}

// Write implements io.Writer. Its errors end the run.
func (g *growing) Write(p []byte) (int, error) {
	if err := g.room(len(p)); err != nil {
		return 0, err
	}
	g.b = append(g.b, p...)
	return len(p), nil
}

func (g *growing) text(s string) error {
	err := g.room(len(s))
	if err == nil {
		g.b = append(g.b, s...)
	}
	return err
}

// quoted appends s, which is valid UTF-8, as a JSON string.
func (g *growing) quoted(s string) error {
	if err := g.text(`"`); err != nil {
		return err
	}
	if err := g.escaped(s); err != nil {
		return err
	}
	return g.text(`"`)
}

// escaped is quoted without the quotes.
func (g *growing) escaped(s string) error {
	for len(s) > 0 {
		n := min(len(s), pieceBytes/4)
		if err := g.c.work(4 * n); err != nil {
			return err
		}
		if err := g.room(6 * n); err != nil {
			return err
		}
		for i := range n {
			switch c := s[i]; {
			case c == '"' || c == '\\':
				g.b = append(g.b, '\\', c)
			case c < ' ':
				g.b = append(g.b, `\u00`...)
				g.b = append(g.b, hexDigits[c>>4], hexDigits[c&15])
			default:
				g.b = append(g.b, c)
			}
		}
		s = s[n:]
	}
	return nil
}

const hexDigits = "0123456789abcdef"
