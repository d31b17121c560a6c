package node

import (
	"encoding/base64"
	"encoding/hex"
	"unicode/utf8"

	"github.com/airlock-run/airlock/sandbox/internal/hostops"
	"github.com/airlock-run/airlock/sandbox/internal/quickjs"
)

// bufferEncode answers buffer.encode(encoding, bytes): it returns text.
func bufferEncode(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	encoding, _ := c.Word(a[0], 16)
	b, err := c.View(a[1])
	if err != nil {
		return 0, err
	}
	switch encoding {
	case "hex":
		out := hostops.Buffer{C: c}
		if err := out.Room(hex.EncodedLen(len(b))); err != nil {
			return 0, err
		}
		err := c.Pieces(b, 1, func(piece []byte) error {
			out.B = hex.AppendEncode(out.B, piece)
			return nil
		})
		if err != nil {
			return 0, err
		}
		return c.NewString(hostops.StringOf(out.B))
	case "base64":
		return c.NewBase64(base64.StdEncoding, b)
	case "base64url":
		return c.NewBase64(base64.RawURLEncoding, b)
	case "latin1", "ascii":
		return newLatin1(c, b, encoding == "ascii")
	}
	return 0, hostops.ErrForged
}

// newLatin1 returns a string with a character for each byte, of which ASCII has the lower seven bits.
func newLatin1(c *hostops.Call, b []byte, ascii bool) (quickjs.Value, error) {
	out := hostops.Buffer{C: c}
	if err := out.Room(2 * len(b)); err != nil {
		return 0, err
	}
	err := c.Pieces(b, 1, func(piece []byte) error {
		for _, unit := range piece {
			if ascii {
				unit &= 0x7f
			}
			out.B = utf8.AppendRune(out.B, rune(unit))
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return c.NewString(hostops.StringOf(out.B))
}

// bufferDecode answers buffer.decode(encoding, text): it returns bytes. As in Node, hex ends at the first pair that
// is not hexadecimal, base64 skips characters of neither alphabet and ends at the first "=", and latin1 takes the low
// byte of each UTF-16 unit.
func bufferDecode(c *hostops.Call, a []quickjs.Value) (quickjs.Value, error) {
	encoding, _ := c.Word(a[0], 16)
	t, ok := c.In.Text(a[1])
	if !ok || encoding != "hex" && encoding != "base64" && encoding != "base64url" && encoding != "latin1" {
		return 0, hostops.ErrForged
	}
	out := hostops.Buffer{C: c}
	if encoding == "latin1" {
		if err := out.Room(t.Len()); err != nil {
			return 0, err
		}
		err := c.Parts(t, 1, func(part quickjs.Text) error {
			out.B = part.AppendLow(out.B)
			return nil
		})
		if err != nil {
			return 0, err
		}
		return c.NewBytes(out.B)
	}
	if err := out.Room(t.Len()/4*3 + 3); err != nil {
		return 0, err
	}
	var d hostops.Sextets
	half, ended := -1, false
	err := c.Parts(t, 2, func(part quickjs.Text) error {
		units, ok := part.Latin1()
		if !ok {
			units = []byte(part.String()) // what is not ASCII is of neither alphabet, in UTF-8 too
		}
		for _, unit := range units {
			switch {
			case ended:
				return nil
			case encoding == "hex":
				digit := hostops.HexDigit(unit)
				if ended = digit < 0; ended {
				} else if half < 0 {
					half = digit
				} else {
					out.B, half = append(out.B, byte(half<<4|digit)), -1
				}
			case unit == '=':
				ended = true
			default:
				if unit == '-' {
					unit = '+'
				} else if unit == '_' {
					unit = '/'
				}
				if v := hostops.Base64Values[unit]; v < 64 {
					if b, ok := d.Push(v); ok {
						out.B = append(out.B, b)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return c.NewBytes(out.B)
}
