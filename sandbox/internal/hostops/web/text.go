package web

import (
	"encoding/base64"
	"unicode/utf8"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// utf8Encode answers utf8.encode(text): it returns the bytes of a string.
func utf8Encode(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	t, ok := c.In.Text(a[0])
	if !ok {
		return 0, hostops.ErrForged
	}
	b, err := c.UTF8(t)
	if err != nil {
		return 0, err
	}
	return c.NewBytes(b)
}

// base64Encode answers base64.btoa(text). Each character is a byte.
func base64Encode(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	t, ok := c.In.Text(a[0])
	if !ok {
		return 0, hostops.ErrForged
	}
	if b, ok := t.Latin1(); ok {
		return c.NewBase64(base64.StdEncoding, b)
	}
	b := hostops.Buffer{C: c}
	if err := b.Room(t.Len()); err != nil {
		return 0, err
	}
	err := c.Parts(t, 2, func(part quickjs.Text) error {
		for _, r := range part.String() {
			if r > 0xff {
				return hostops.Throwf("InvalidCharacterError", "Invalid character")
			}
			b.B = append(b.B, byte(r))
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return c.NewBase64(base64.StdEncoding, b.B)
}

// base64Decode answers base64.atob(text), the forgiving-base64 decode of the Infra Standard. Bits left over at the
// end are dropped.
func base64Decode(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	bad := hostops.Throwf("InvalidCharacterError", "The string to be decoded is not correctly encoded.")
	t, ok := c.In.Text(a[0])
	if !ok {
		return 0, hostops.ErrForged
	}
	// Input and output come in pieces. Each byte becomes a character, which takes two bytes from 0x80 on.
	out := hostops.Buffer{C: c}
	var d hostops.Sextets
	pads := 0
	err := c.Parts(t, 4, func(part quickjs.Text) error {
		if err := out.Room(2 * (part.Len()/4*3 + 3)); err != nil {
			return err
		}
		units, ok := part.Latin1()
		if !ok {
			units = []byte(part.String())
		}
		for _, unit := range units {
			if v := hostops.Base64Values[unit]; v < 64 && pads == 0 {
				if b, ok := d.Push(v); ok && b < utf8.RuneSelf {
					out.B = append(out.B, b)
				} else if ok {
					out.B = append(out.B, 0xc0|b>>6, b&0x3f|0x80)
				}
			} else if unit == '=' {
				pads++
			} else if unit != ' ' && unit != '\t' && unit != '\n' && unit != '\f' && unit != '\r' {
				return hostops.Throwf("InvalidCharacterError", "Invalid character")
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return 0, err
	case pads == 0 && d.Chars%4 == 1, pads > 2, pads > 0 && (d.Chars+pads)%4 != 0:
		return 0, bad
	}
	return c.NewString(hostops.StringOf(out.B))
}
