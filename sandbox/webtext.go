package sandbox

import (
	"encoding/base64"
	"unicode/utf8"
	"unsafe"

	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// utf8Encode(text) gives the bytes of a string.
func utf8Encode(c *call, a []quickjs.Value) (quickjs.Value, error) {
	t, ok := c.in.Text(a[0])
	if !ok {
		return 0, errForged
	}
	b, err := c.utf8(t)
	if err != nil {
		return 0, err
	}
	return c.bytes(b)
}

// base64Encode(text) is btoa: each character is a byte.
func base64Encode(c *call, a []quickjs.Value) (quickjs.Value, error) {
	t, ok := c.in.Text(a[0])
	if !ok {
		return 0, errForged
	}
	if b, ok := t.Latin1(); ok {
		return c.encoded(base64.StdEncoding, b)
	}
	b := growing{c: c}
	if err := b.room(t.Len()); err != nil {
		return 0, err
	}
	err := c.parts(t, 2, func(part quickjs.Text) error {
		for _, r := range part.String() {
			if r > 0xff {
				return refused("InvalidCharacterError", "The string to be encoded contains characters outside of the Latin1 range.")
			}
			b.b = append(b.b, byte(r))
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return c.encoded(base64.StdEncoding, b.b)
}

// encoded answers with b in base64.
func (c *call) encoded(e *base64.Encoding, b []byte) (quickjs.Value, error) {
	out := growing{c: c}
	if err := out.room(e.EncodedLen(len(b))); err != nil {
		return 0, err
	}
	const whole = pieceBytes / 3 * 3 // pieces that are not the last need no padding
	for len(b) > 0 {
		n := min(len(b), whole)
		if err := c.work(n); err != nil {
			return 0, err
		}
		out.b = e.AppendEncode(out.b, b[:n])
		b = b[n:]
	}
	return c.string(stringOf(out.b))
}

// base64Decode(text) is atob, the forgiving-base64 decode of the Infra standard. Bits left over at the end are dropped.
func base64Decode(c *call, a []quickjs.Value) (quickjs.Value, error) {
	bad := refused("InvalidCharacterError", "The string to be decoded is not correctly encoded.")
	t, ok := c.in.Text(a[0])
	if !ok {
		return 0, errForged
	}
	// The text comes in pieces, and so does what is made of it: each byte becomes a character, of two bytes from 0x80 on.
	out := growing{c: c}
	var d sextets
	err := c.parts(t, 4, func(part quickjs.Text) error {
		if err := out.room(2 * (part.Len()/4*3 + 3)); err != nil {
			return err
		}
		units, ok := part.Latin1()
		if !ok {
			units = []byte(part.String())
		}
		for _, unit := range units {
			if v := base64Values[unit]; v < 64 && d.pads == 0 {
				if b, ok := d.push(v); ok && b < utf8.RuneSelf {
					out.b = append(out.b, b)
				} else if ok {
					out.b = append(out.b, 0xc0|b>>6, b&0x3f|0x80)
				}
			} else if unit == '=' {
				d.pads++
			} else if unit != ' ' && unit != '\t' && unit != '\n' && unit != '\f' && unit != '\r' {
				return bad
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return 0, err
	case d.pads == 0 && d.n%4 == 1, d.pads > 2, d.pads > 0 && (d.n+d.pads)%4 != 0:
		return 0, bad
	}
	return c.string(stringOf(out.b))
}

// sextets puts bytes together from the values of base64 characters.
type sextets struct {
	bits    uint32
	n, pads int // characters
}

// push adds the next six bits, and returns the byte that they complete, if they do.
func (d *sextets) push(v byte) (b byte, ok bool) {
	d.bits = d.bits<<6 | uint32(v)
	d.n++
	switch d.n % 4 {
	case 2:
		return byte(d.bits >> 4), true
	case 3:
		return byte(d.bits >> 2), true
	case 0:
		return byte(d.bits), true
	}
	return 0, false
}

// base64Values has the value of each character of base64; 64 is none.
var base64Values = func() (values [256]byte) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	for i := range values {
		values[i] = 64
	}
	for i := range len(alphabet) {
		values[alphabet[i]] = byte(i)
	}
	return values
}()

// stringOf returns b as a string without copying it. Nobody changes b any more.
func stringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
