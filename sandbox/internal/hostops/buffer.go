package hostops

// Buffer is a byte slice that is charged to the call C as it grows.
type Buffer struct {
	C *Call
	B []byte
}

// Room makes sure that n more bytes fit.
func (b *Buffer) Room(n int) error {
	if len(b.B)+n <= cap(b.B) {
		return nil
	}
	size := max(len(b.B)+n, cap(b.B)+cap(b.B)/2, 1<<10)
	if err := b.C.Hold(size); err != nil {
		return err
	}
	grown := make([]byte, len(b.B), size)
	copy(grown, b.B)
	before := cap(b.B)
	b.B = grown
	b.C.Drop(before) // it may be collected now
	return nil
}

// Write implements io.Writer. Its errors end the run.
func (b *Buffer) Write(p []byte) (int, error) {
	if err := b.Room(len(p)); err != nil {
		return 0, err
	}
	b.B = append(b.B, p...)
	return len(p), nil
}

// Text appends s.
func (b *Buffer) Text(s string) error {
	err := b.Room(len(s))
	if err == nil {
		b.B = append(b.B, s...)
	}
	return err
}

// Quoted appends s, which is valid UTF-8, as a JSON string.
func (b *Buffer) Quoted(s string) error {
	if err := b.Text(`"`); err != nil {
		return err
	}
	if err := b.Escaped(s); err != nil {
		return err
	}
	return b.Text(`"`)
}

// Escaped appends s as the inside of a JSON string.
func (b *Buffer) Escaped(s string) error {
	for len(s) > 0 {
		n := min(len(s), PieceBytes/4)
		if err := b.C.Work(4 * n); err != nil {
			return err
		}
		if err := b.Room(6 * n); err != nil {
			return err
		}
		for i := range n {
			switch c := s[i]; {
			case c == '"' || c == '\\':
				b.B = append(b.B, '\\', c)
			case c < ' ':
				b.B = append(b.B, `\u00`...)
				b.B = append(b.B, hexDigits[c>>4], hexDigits[c&15])
			default:
				b.B = append(b.B, c)
			}
		}
		s = s[n:]
	}
	return nil
}

const hexDigits = "0123456789abcdef"
